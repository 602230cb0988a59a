"""Offline replay: how many layouts an order needs, on a table in which all of them were run.

After each layout of an order the model is fitted to the layouts so far and judged on all of the table, with
equation (1). An order *reaches* the error of all layouts at the first n whose error is at most
(1 + slack) times it, and *holds* it at the first n from which on it is never above. Every order starts with
the 4KB and 2MB runs. While the model cannot be fitted its error is infinite (empty in the table).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tessera.fit.adaptive.committee import COMMITTEE
from tessera.fit.adaptive.order import adaptive_order, random_order
from tessera.fit.models.accuracy import accuracy, relative_errors
from tessera.fit.models.base import CannotFit
from tessera.fit.models.registry import create
from tessera.fit.models.samples import Samples
from tessera.layouts.names import ALL_2MB, ALL_4KB
from tessera.results.schema.models import OF_PAIR
from tessera.results.write import frame_of

SEEDS = 30
SLACKS = (0.0, 0.1, 0.5)
CURVE, SUMMARY = OF_PAIR["adaptive_curve"], OF_PAIR["adaptive"]


def replay(
    samples: Samples, model: str = "mosmodel", seeds: int = SEEDS, committee: Sequence[str] = COMMITTEE
) -> pd.DataFrame:
    """One row per order and number of layouts (columns :data:`CURVE`; errors as fractions).

    Raises:
        CannotFit: all layouts together do not determine the model, so there is no error to reach.
    """
    create(model).fit(samples)
    start = [samples.layouts.index(name) for name in (ALL_4KB, ALL_2MB)]
    orders = [("adaptive", None, adaptive_order(samples, start, committee))]
    orders += [("random", seed, random_order(samples, start, seed)) for seed in range(seeds)]
    known: dict[tuple[int, ...], tuple[float, float]] = {}
    rows = []
    for name, seed, order in orders:
        for count in range(len(start), len(order) + 1):
            chosen = tuple(sorted(order[:count]))
            if chosen not in known:
                known[chosen] = _errors(model, samples, chosen)
            layout = samples.layouts[order[count - 1]]
            rows.append((name, seed, count, layout, model, *known[chosen]))
    return frame_of(CURVE, rows)


def summary(curve: pd.DataFrame, slacks: Sequence[float] = SLACKS) -> pd.DataFrame:
    """Layouts needed by the adaptive order and by the random ones (columns :data:`SUMMARY`)."""
    total = int(curve["layouts"].max())
    target = float(curve.loc[curve["layouts"] == total, "max_error"].iloc[0])
    rows = []
    for order, mine in curve.groupby("order"):
        runs = [run for _, run in mine.groupby("seed", dropna=False)]
        for slack in slacks:
            reached, held = zip(*(needed(run, (1 + slack) * target) for run in runs), strict=True)
            row = {"model": mine["model"].iloc[0], "order": order, "slack": slack, "target_error": target}
            row |= {"orders": len(runs), "total_layouts": total}
            for name, counts in (("reached", reached), ("held", held)):
                for suffix, share in (("median", 50), ("p10", 10), ("p90", 90)):
                    row[f"{name}_{suffix}"] = float(np.percentile(counts, share))
            rows.append(row)
    return frame_of(SUMMARY, rows)


def needed(run: pd.DataFrame, limit: float) -> tuple[int, int]:
    """(reached, held): numbers of layouts at which one order's error is first, and for good, <= limit."""
    run = run.sort_values("layouts")
    # the same layouts give the same error: rounding aside, all of them reach their own error
    good = run["max_error"].fillna(np.inf).to_numpy() <= limit * (1 + 1e-9)
    counts = run["layouts"].to_numpy()
    bad = np.flatnonzero(~good)
    return int(counts[np.argmax(good)]), int(counts[bad[-1] + 1] if bad.size else counts[0])


def _errors(model: str, samples: Samples, rows: Sequence[int]) -> tuple[float, float]:
    try:
        fitted = create(model).fit(samples.subset(rows))
    except CannotFit:
        return float("nan"), float("nan")
    errors = relative_errors(samples.R, fitted.predict(samples.H, samples.M, samples.C))
    judged = accuracy(errors)
    return judged.max_error, judged.geomean_error
