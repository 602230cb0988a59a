"""Samples and fitted models of one pair, as tables and pictures."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from tessera.fit.models.accuracy import accuracy, relative_errors
from tessera.fit.models.result import FitResult
from tessera.fit.models.samples import Samples
from tessera.fit.models.terms import evaluate
from tessera.layouts.names import ALL_1GB, ALL_2MB, ALL_4KB, PAGE_SIZE_OF
from tessera.show.explore.look import shares
from tessera.show.explore.source import Pair
from tessera.show.figures import looks, style

#: Heuristics of MICRO'20 VI-B, as layouts' names begin.
FAMILIES = ("growing", "random", "sliding-20", "sliding-40", "sliding-60", "sliding-80")
INPUTS = {"C": ("walk_cycles", "walk cycles"), "M": ("stlb_misses", "misses"), "H": ("stlb_hits", "hits")}
SHOWN = ("basu", "yaniv", "poly1", "poly3", "mosmodel")  #: nine curves in one picture hide each other


def anchors(pair: Pair) -> pd.DataFrame:
    """R, H, M, C with 4KB, 2MB and 1GB pages only, and R relative to 4KB."""
    rows = {words: pair.at(name) for name, words in PAGE_SIZE_OF.items() if name in pair.table.frame.index}
    table = pd.DataFrame(rows).T
    table["R / R with 4KB"] = [style.percent(r / table["R"].iloc[0]) for r in table["R"]]
    return table


def draw_inputs(pair: Pair):
    """R over C, M and H: three views of the same layouts."""
    known = pair.table.fitted
    scale, unit = style.count_unit(known.R.max())
    with style.context():
        figure, axes = style.panels(1, 3, width=9, height=2.9, sharey=True)
        for panel, (symbol, (_, words)) in zip(axes, INPUTS.items(), strict=True):
            values = getattr(known, symbol)
            divisor, of = style.count_unit(values.max())
            panel.plot(values / divisor, known.R / scale, "o", color=style.BLUE, markersize=4.5)
            panel.set_xlabel(f"{symbol}, {words} ({of})")
        axes[0].set_ylabel(f"R (cycles, {unit})")
        style.headline(figure, pair.title, pair.provenance)
    return figure


def error_table(fit: FitResult) -> pd.DataFrame:
    """Largest error of each model on the fitted layouts, in 6-fold cross validation and at 1GB (shares)."""
    table = fit.errors.pivot(index="model", columns="protocol", values="max_error")
    table["cv"] = fit.cv[fit.cv["folds"] == fit.cv["folds"].min()].set_index("model")["max_error"]
    fitted = f"fitted layouts (effective n {fit.effective_n})"
    words = {"all": fitted, "cv": "cross validation", ALL_1GB: "1GB, never fitted"}
    kept = [name for name in words if name in table]
    order = [*(name for name in fit.models), *(name for name in fit.failures)]
    return shares(table.reindex(order)[kept].rename(columns=words)).rename_axis(index=None, columns=None)


def split_by_family(samples: Samples, families: Iterable[str]) -> tuple[Samples, Samples]:
    """(training, held out) samples by heuristic; the 4KB and 2MB runs always train, five models need them."""
    chosen = tuple(f"{family}-" for family in families)
    anchor = (ALL_4KB, ALL_2MB)
    trains = [i for i, name in enumerate(samples.layouts) if name in anchor or name.startswith(chosen)]
    rest = [i for i in range(len(samples)) if i not in set(trains)]
    return samples.subset(trains), samples.subset(rest)


def judged(model, samples: Samples) -> dict[str, float]:
    """{"largest", "geometric mean"} relative error, empty without samples."""
    if not len(samples):
        return {}
    found = accuracy(relative_errors(samples.R, model.predict(samples.H, samples.M, samples.C)))
    return {"largest": found.max_error, "geometric mean": found.geomean_error}


def draw_fits(title: str, provenance: str, models: dict, fitted: Samples, held_out: Samples | None = None):
    """R over C: samples and what each model says at every layout; ``models`` by name, fitted.

    A model that looks at H or M too is no function of C: its predictions are points on their own.
    """
    scale, unit = style.count_unit(fitted.R.max())
    divisor, of = style.count_unit(fitted.C.max())
    everything = [fitted, *([held_out] if held_out is not None and len(held_out) else [])]
    with style.context():
        figure, axes = style.panels(width=8.4, height=4.2)
        for part, face, words in zip(
            everything, (style.INK, style.PAPER), ("fitted", "held out"), strict=False
        ):
            axes.plot(part.C / divisor, part.R / scale, "o", markerfacecolor=face, markeredgecolor=style.INK,
                      markersize=5.5, label=f"layouts, {words}", zorder=2)  # fmt: skip
        for name, model in models.items():
            label, colour, marker, dash = looks.look(name)
            only_c = set(getattr(model, "coefficients_", {"M": 1})) <= {"1", "C", "C^2", "C^3"}
            for number, part in enumerate(everything):
                order = part.C.argsort()
                predicted = model.predict(part.H, part.M, part.C)[order]
                look = {"linestyle": dash} if only_c else {"marker": marker, "markersize": 4, "linestyle": ""}
                axes.plot(part.C[order] / divisor, predicted / scale, color=colour, zorder=3,
                          label="" if number else label, **look)  # fmt: skip
        axes.set_xlabel(f"C (walk cycles, {of})")
        axes.set_ylabel(f"R (cycles, {unit})")
        axes.legend(loc="upper left")
        style.headline(figure, title, provenance)
    return figure


def coefficient_shares(pair: Pair, model, layout: str = ALL_4KB) -> pd.DataFrame:
    """Each term's part of the runtime that a fitted polynomial predicts at a layout."""
    point = {symbol: value for symbol, value in pair.at(layout).items() if symbol != "R"}
    total = float(model.predict(**point))
    rows = [
        (term, coefficient, style.percent(float(evaluate({term: coefficient}, **point)) / total))
        for term, coefficient in model.coefficients_.items()
    ]
    return (
        pd.DataFrame(rows, columns=["term", "coefficient", f"share of R at {layout}"])
        .set_index("term")
        .rename_axis(None)
    )
