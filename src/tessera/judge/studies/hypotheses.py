"""MICRO'20's explanations of steep and bent curves, and whether an ablation removes the effect.

The paper calls its explanation in section VII-A probable, and derives that of section VII-B from the shape
of the curves. A simulator can switch the cause off. The *cases* of a hypothesis are the pairs that show the
effect. A case *supports* it if the ablation at least halves the effect or, for a threshold, removes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

SIGNIFICANT = 0.05  #: p of the bend
HALF = 0.5


@dataclass(frozen=True)
class Hypothesis:
    """``case`` and ``supported`` judge (baseline row, ablation row) of one workload and platform."""

    section: str
    statement: str
    variant: str
    test: str
    case: Callable[[pd.Series], bool]
    supported: Callable[[pd.Series, pd.Series], bool]


def _bends(base: pd.Series) -> bool:
    return base["curvature"] > 0 and base["curvature_p"] < SIGNIFICANT


def _bend_halved(base: pd.Series, other: pd.Series) -> bool:
    return other["curvature"] <= HALF * base["curvature"]


HYPOTHESES: tuple[Hypothesis, ...] = (
    Hypothesis(
        "MICRO'20 VII-A",
        "With 4KB pages the program loads more often from L3, because page-table entries evict its lines.",
        "no-pollution",
        "the program's extra L3 loads (4KB less 2MB) fall to half or less",
        lambda base: base["extra_l3_loads"] > 0,
        lambda base, other: other["extra_l3_loads"] <= HALF * base["extra_l3_loads"],
    ),
    Hypothesis(
        "MICRO'20 VII-A",
        "That interference is why a walk cycle can cost more than a cycle (slope above 1).",
        "no-pollution",
        "a slope above 1 falls to 1 or less",
        lambda base: base["slope"] > 1,
        lambda base, other: other["slope"] <= 1,
    ),
    Hypothesis(
        "MICRO'20 VII-B",
        "R bends upwards because the pipeline hides a few walk cycles better than many.",
        "no-overlap",
        "a significant upward bend falls to half or less",
        _bends,
        _bend_halved,
    ),
    Hypothesis(
        "MICRO'20 VII-B",
        "R bends upwards because page-table entries of many walks compete with the program for the caches.",
        "no-pollution",
        "a significant upward bend falls to half or less",
        _bends,
        _bend_halved,
    ),
    Hypothesis(
        "ours",
        "R bends upwards because many walks have to wait for a free walker.",
        "infinite-walkers",
        "a significant upward bend falls to half or less",
        _bends,
        _bend_halved,
    ),
)


def judged(shapes: pd.DataFrame) -> list[dict]:
    """A row per hypothesis: its text, ``cases``, ``supported``, and the pairs of both kinds."""
    rows = []
    pairs = {pair: part.set_index("variant") for pair, part in shapes.groupby(["workload", "platform"])}
    for one in HYPOTHESES:
        cases, kept = [], []
        for (workload, platform), part in pairs.items():
            if not {"baseline", one.variant} <= set(part.index) or not one.case(part.loc["baseline"]):
                continue
            cases.append(f"{workload} on {platform}")
            if one.supported(part.loc["baseline"], part.loc[one.variant]):
                kept.append(cases[-1])
        rows.append(
            {
                "section": one.section, "statement": one.statement, "variant": one.variant, "test": one.test,
                "cases": len(cases), "supported": len(kept), "pairs": kept,
                "against": [name for name in cases if name not in kept],
            }
        )  # fmt: skip
    return rows
