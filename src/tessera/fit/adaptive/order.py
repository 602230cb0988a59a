"""Orders in which layouts may be run: adaptive, and random for comparison.

Ties (disagreements that differ by less than 1e-12 of the runtime) go to the candidate farthest from the
layouts already run, in shares of each input's range, then to the first by name. A candidate whose H, M and
C equal those of a layout already run gives no new information and comes last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tessera.core.errors import TesseraError
from tessera.fit.adaptive.committee import COMMITTEE, disagreement, fit_committee
from tessera.fit.models.samples import Samples

DECIMALS = 12  #: disagreements are compared to so many decimals, since rounding is no disagreement


@dataclass(frozen=True)
class Choice:
    """``layout`` to run next; ``disagreement`` of the committee there, as a fraction of the runtime."""

    layout: str
    disagreement: float
    distance: float


def next_layouts(known: Samples, pool: Samples, committee: Sequence[str] = COMMITTEE) -> list[Choice]:
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
    spread = disagreement(models, known, pool.H, pool.M, pool.C)
    distance = distances(known, pool)
    spread = np.where(distance > 0, spread, -1.0)  # nothing new at a repeated point
    rounded = [round(float(value), DECIMALS) for value in spread]
    ranked = sorted(range(len(pool)), key=lambda i: (-rounded[i], -distance[i], pool.layouts[i]))
    return [Choice(pool.layouts[i], max(0.0, float(spread[i])), float(distance[i])) for i in ranked]


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
