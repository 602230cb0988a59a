"""The papers' pictures of one workload on one machine: MICRO'20 figures 3, 7-11, OPERA 2, 4, 5, 7-9.

Only what a paper prints in words is published; ``printed`` names the rows of the reference tables. ``wanted``
identifies workloads by words of their names: the first one is the paper's own, later ones stand in for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tessera.layouts.names import ALL_1GB, ALL_4KB
from tessera.show.figures import case_scores as scores
from tessera.show.figures.case_scores import Score, Words

SANDYBRIDGE, BROADWELL = "sandybridge-sim", "broadwell-sim"
_MCF = ("mcf", "network-simplex")
_OMNETPP = ("omnetpp", "event-network-small")
_XALANCBMK = ("xalancbmk", "xml-transform")


@dataclass(frozen=True)
class Case:
    """What the paper's figure shows, and how the pair beside it is chosen."""

    title: str
    paper: str  #: the paper's workload and machine
    wanted: tuple[str, ...]
    platform: str
    models: tuple[str, ...]
    rule: str  #: in words: which pair is drawn beside the paper's
    score: Score  #: the pair with the largest score is that one
    found: Words  #: the obtained numbers
    column: str = "walk_cycles"
    axis: str = "walk cycles C"
    printed: tuple[str, ...] = ()  #: locations in printed_errors (MICRO'20)
    values: tuple[tuple[str, str], ...] = ()  #: (quantity of opera_values, words with ``{}``)
    zoom: float | None = None  #: draw only layouts that run at most so many times as long as the 1GB one
    aliases: tuple[tuple[str, str], ...] = ()  #: a model's name in that paper


MICRO20 = {
    "fig3": Case(
        "A linear model against Mosmodel", "spec06/mcf on SandyBridge", _MCF, SANDYBRIDGE,
        ("yaniv", "poly1", "mosmodel"), "largest error of poly1",
        scores.error("poly1"), scores.errors_in_words("yaniv", "poly1", "mosmodel"), printed=("Figure 3",),
    ),
    "fig7": Case(
        "What the Basu model predicts", "gapbs/sssp-twitter on SandyBridge", ("sssp-twitter", "sssp"),
        SANDYBRIDGE, ("basu",), "largest error of Basu", scores.error("basu"), scores.basu_in_words,
        column="stlb_misses", axis="TLB misses M", printed=("Figure 7",),
    ),
    "fig8": Case(
        "Workloads that a straight line describes well and badly",
        "spec06/omnetpp, machine not named", _OMNETPP, SANDYBRIDGE,
        ("poly1",), "largest error of poly1", scores.error("poly1"),
        scores.together(
            scores.number_in_words(scores.r_squared, "R\u00b2 of the line"), scores.errors_in_words("poly1")
        ),
    ),
    "fig9": Case(
        "The slope of runtime against walk cycles", "spec17/xalancbmk on Broadwell", _XALANCBMK, BROADWELL,
        ("poly1",), "largest slope", scores.slope, scores.number_in_words(scores.slope, "slope"),
    ),
    "fig10": Case(
        "A workload that a straight line describes badly", "gups/16GB on SandyBridge", ("gups-16gb", "gups"),
        SANDYBRIDGE, ("poly1", "poly2", "poly3"), "largest error of poly1", scores.error("poly1"),
        scores.errors_in_words("poly1", "poly2", "poly3"), printed=("VII-B text", "Figure 10"),
    ),
    "fig11": Case(
        "Predicting 1GB pages", "gapbs/pr-twitter on SandyBridge", ("pr-twitter", "pr", "pagerank"),
        SANDYBRIDGE, ("yaniv", "mosmodel", "mosmodel-authors"), "largest error of Yaniv at 1GB",
        scores.error("yaniv", ALL_1GB),
        scores.errors_in_words("yaniv", "mosmodel", "mosmodel-authors", protocol=ALL_1GB),
        printed=("Figure 11",),
    ),
}  # fmt: skip

_PHAM = (("alam", "Pham in OPERA, Alam in MICRO'20"),)
_OPERA_GUPS = ("gups-4gb", "gups-8gb", "gups")
OPERA = {
    "opera-fig2": Case(
        "Linear prediction of the 1GB run", "GUPS/4GB, machine not named", _OPERA_GUPS, SANDYBRIDGE,
        ("yaniv", "poly3"), "longest 1GB run for its linear prediction",
        scores.signed_error("yaniv", ALL_1GB, -1),
        scores.ratio_in_words("yaniv", ALL_1GB, "the 1GB run takes"),
        values=(("linear_deviation", "the 1GB run takes {} times its linear prediction"),), zoom=2.0,
    ),
    "opera-fig4": Case(
        "R = C + \u03b2 predicts too much", "graph500/4GB on SandyBridge", ("graph500-4gb", "graph500"),
        SANDYBRIDGE, ("alam",), "4KB run predicted most too high",
        scores.signed_error("alam", ALL_4KB, 1),
        scores.signed_in_words("alam", ALL_4KB, "prediction of the 4KB run"),
        values=(("pham_overestimate_graph500", "prediction of the 4KB run {}% above the runtime"),),
        aliases=_PHAM,
    ),
    "opera-fig5": Case(
        "R = C + \u03b2 predicts too little", "spec17/xalancbmk on Broadwell", _XALANCBMK, BROADWELL,
        ("alam",), "4KB run predicted most too low", scores.signed_error("alam", ALL_4KB, -1),
        scores.signed_in_words("alam", ALL_4KB, "prediction of the 4KB run"),
        values=(("pham_underestimate_xalancbmk", "the 4KB run takes {}% longer than predicted"),),
        aliases=_PHAM,
    ),
    "opera-fig7": Case(
        "A workload that a line describes", "spec06/omnetpp, machine not named", _OMNETPP, SANDYBRIDGE,
        ("poly1",), "largest error of poly1", scores.error("poly1"), scores.errors_in_words("poly1"),
    ),
    "opera-fig8": Case(
        "Three polynomials", "spec06/mcf, machine not named", _MCF, SANDYBRIDGE,
        ("poly1", "poly2", "poly3"), "largest error of poly1", scores.error("poly1"),
        scores.errors_in_words("poly1", "poly2", "poly3"),
        values=(("poly3_max_error_mcf", "largest error of poly3 below {}%"),),
    ),
    "opera-fig9": Case(
        "A slope above 1", "spec17/xalancbmk on Broadwell", _XALANCBMK, BROADWELL,
        ("poly1",), "largest slope", scores.slope, scores.number_in_words(scores.slope, "slope"),
        values=(("slope", "slope {}"),),
    ),
}  # fmt: skip

CASES: dict[str, Case] = MICRO20 | OPERA
