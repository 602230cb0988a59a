"""Which layout to run next: where the fitted models disagree most; and offline replays of such orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import ALL_2MB, ALL_4KB
from tessera.core.results.cell_tables import MODELS_OF_PAIR
from tessera.core.results.table_io import frame_of
from tessera.fit.evaluation.accuracy import accuracy, relative_errors
from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.registry import create
from tessera.fit.models.samples import Samples

# Query by committee (Seung, Opper, Sompolinsky, COLT 1992): several models and their disagreement.
#
# A partial simulation gives H, M and C of a layout at a low cost; its runtime is expensive. If models that
# all fit the layouts run so far predict different runtimes, at most one of them is right, and a run of that
# layout shows which. Disagreement at a point is the range of the predictions over the mean known runtime (a
# fraction). Models that the layouts do not determine yet are left out; with fewer than two models there is
# no disagreement, and distance alone decides (:func:`next_layouts`).

COMMITTEE = ("poly1", "poly2", "poly3", "mosmodel")


def fit_committee(samples: Samples, names: Sequence[str] = COMMITTEE) -> list[RuntimeModel]:
    """The members that ``samples`` determine, fitted."""
    found = []
    for name in names:
        try:
            found.append(create(name).fit(samples))
        except CannotFit:  # abstains until there are more layouts
            continue
    return found


def prediction_spread(models: Sequence[RuntimeModel], known: Samples, H, M, C) -> np.ndarray:
    """(n,) range of the predictions at points (n,) over the mean runtime of ``known``."""
    if len(models) < 2:
        return np.zeros(len(H))
    predictions = np.stack([model.predict(H, M, C) for model in models])
    return np.ptp(predictions, axis=0) / known.R.mean()


# Orders in which layouts may be run: adaptive, and random for comparison.
#
# Ties (disagreements that differ by less than 1e-12 of the runtime) go to the candidate farthest from the
# layouts already run, in shares of each input's range, then to the first by name. A candidate whose H, M and
# C equal those of a layout already run gives no new information and comes last.

DECIMALS = 12  #: disagreements are compared to so many decimals, since rounding is no disagreement


@dataclass(frozen=True)
class NextLayout:
    """``layout`` to run next; ``disagreement`` of the committee there, as a fraction of the runtime."""

    layout: str
    disagreement: float
    distance: float


def next_layouts(known: Samples, pool: Samples, committee: Sequence[str] = COMMITTEE) -> list[NextLayout]:
    """Every candidate of ``pool`` (its runtimes are not read), the one to run next first.

    Raises:
        TesseraError: no candidates, or no known layout.
    """
    if not len(pool):
        raise TesseraError("choose the next layout", "empty pool", "add layouts to it", code="empty-pool")
    if not len(known):
        raise TesseraError(
            "choose the next layout",
            "no layout has run yet",
            "run the layouts 4kb and 2mb first",
            code="no-runs",
        )
    models = fit_committee(known, committee)
    spread = prediction_spread(models, known, pool.H, pool.M, pool.C)
    distance = distances(known, pool)
    spread = np.where(distance > 0, spread, -1.0)  # nothing new at a repeated point
    rounded = [round(float(value), DECIMALS) for value in spread]
    ranked = sorted(range(len(pool)), key=lambda i: (-rounded[i], -distance[i], pool.layouts[i]))
    return [NextLayout(pool.layouts[i], max(0.0, float(spread[i])), float(distance[i])) for i in ranked]


def distances(known: Samples, pool: Samples) -> np.ndarray:
    """(n,) from each candidate to the nearest known layout, inputs as shares of their ranges."""
    both = [np.concatenate([getattr(known, symbol), getattr(pool, symbol)]) for symbol in "HMC"]
    extent = [np.ptp(values) or 1.0 for values in both]
    apart = [
        np.subtract.outer(getattr(pool, symbol), getattr(known, symbol)) / size
        for symbol, size in zip("HMC", extent, strict=True)
    ]
    return np.sqrt(sum(part**2 for part in apart)).min(axis=1)


def adaptive_order(samples: Samples, start: Sequence[int], committee: Sequence[str] = COMMITTEE) -> list[int]:
    """Row numbers of all samples: ``start``, then one by one by disagreement."""
    order = list(start)
    while len(order) < len(samples):
        rest = [row for row in range(len(samples)) if row not in set(order)]
        known, pool = samples.subset(sorted(order)), samples.subset(rest)
        chosen = next_layouts(known, pool, committee)[0].layout
        order.append(rest[pool.layouts.index(chosen)])
    return order


def random_order(samples: Samples, start: Sequence[int], seed: int) -> list[int]:
    """Row numbers of all samples: ``start``, then the others shuffled."""
    rest = [row for row in range(len(samples)) if row not in set(start)]
    # RandomState: its stream is frozen
    return [*start, *(rest[i] for i in np.random.RandomState(seed).permutation(len(rest)))]


# Offline replay: how many layouts an order needs, on a table in which all of them were run.
#
# After each layout of an order the model is fitted to the layouts so far and judged on all of the table,
# with equation (1). An order *reaches* the error of all layouts at the first n whose error is at most (1 +
# slack) times it, and *holds* it at the first n from which on it is never above. Every order starts with the
# 4KB and 2MB runs. While the model cannot be fitted its error is infinite (empty in the table).

REPLAY_SEEDS = 30
SLACKS = (0.0, 0.1, 0.5)
CURVE, SUMMARY = MODELS_OF_PAIR["adaptive_curve"], MODELS_OF_PAIR["adaptive"]


def replay_orders(
    samples: Samples, model: str = "mosmodel", seeds: int = REPLAY_SEEDS, committee: Sequence[str] = COMMITTEE
) -> pd.DataFrame:
    """One row per order and number of layouts (columns :data:`CURVE`; errors as fractions).

    Raises:
        CannotFit: all layouts together do not determine the model, so there is no error to reach.
    """
    create(model).fit(samples)
    start = [samples.layouts.index(name) for name in (ALL_4KB, ALL_2MB)]
    orders: list[tuple[str, int | None, list[int]]]
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


def replay_summary(curve: pd.DataFrame, slacks: Sequence[float] = SLACKS) -> pd.DataFrame:
    """Layouts needed by the adaptive order and by the random ones (columns :data:`SUMMARY`)."""
    total = int(curve["layouts"].max())
    target = float(curve.loc[curve["layouts"] == total, "max_error"].iloc[0])
    rows = []
    for order, mine in curve.groupby("order"):
        runs = [run for _, run in mine.groupby("seed", dropna=False)]
        for slack in slacks:
            reached, held = zip(*(layouts_needed(run, (1 + slack) * target) for run in runs), strict=True)
            row = {"model": mine["model"].iloc[0], "order": order, "slack": slack, "target_error": target}
            row |= {"orders": len(runs), "total_layouts": total}
            for name, counts in (("reached", reached), ("held", held)):
                for suffix, share in (("median", 50), ("p10", 10), ("p90", 90)):
                    row[f"{name}_{suffix}"] = float(np.percentile(counts, share))
            rows.append(row)
    return frame_of(SUMMARY, rows)


def layouts_needed(run: pd.DataFrame, limit: float) -> tuple[int, int]:
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
