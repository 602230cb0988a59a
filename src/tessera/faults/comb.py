"""Combs in a series of latencies: teeth at regular distances.

A *tooth* is a touch that takes more than :data:`FACTOR` times the median of the touches around it. Two
questions are asked, because of two kinds of teeth (:class:`tessera.faults.kinds.Teeth`):

- fixed: which share of the multiples of the period are teeth?
- shifting: which share of the distances between neighbouring teeth are the period?

Beside each share stands what it would be by chance, if the same number of teeth were at random places.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tessera.faults.kinds import Teeth

FACTOR = 1.5
#: Touches whose median a touch is compared with, itself in the middle. Odd.
AROUND = 31


@dataclass(frozen=True)
class Comb:
    """What was found of a comb.

    Attributes:
        asked: multiples of the period, or distances between neighbouring teeth.
        hits: those that are teeth, or are the period.
        chance: share of hits expected of random places.
        extra: median of what such a tooth takes more than the touches around it; nan without a hit.
    """

    asked: int
    hits: int
    chance: float
    extra: float

    @property
    def share(self) -> float:
        """Hits as a share of what was asked; nan if nothing was."""
        return self.hits / self.asked if self.asked else float("nan")


def around(cycles: np.ndarray) -> np.ndarray:
    """Median of the :data:`AROUND` touches around each touch; the series is mirrored at its ends.

    Mirrored and not continued with its first value: that is a tooth of the first page table.
    """
    padded = np.pad(cycles.astype(float), AROUND // 2, mode="reflect")
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, AROUND), axis=1)


def comb(passes: list[np.ndarray], teeth: Teeth, factor: float = FACTOR) -> Comb:
    """A comb over passes, each of shape (touches,) in order and with nothing dropped.

    Args:
        factor: of a tooth over the median of the touches around it.
    """
    asked = hits = 0
    expected, extra = 0.0, []
    for cycles in passes:
        local = around(cycles)
        is_tooth = cycles > factor * local
        places = np.flatnonzero(is_tooth)
        if teeth.fixed:
            at = np.arange(0, len(cycles), teeth.period)
            found = at[is_tooth[at]]
            asked, hits = asked + len(at), hits + len(found)
            expected += len(at) * is_tooth.mean()
        else:
            distances = np.diff(places)
            found = places[1:][distances == teeth.period]
            asked, hits = asked + len(distances), hits + len(found)
            density = is_tooth.mean()
            expected += len(distances) * density * (1 - density) ** (teeth.period - 1)
        extra.append((cycles - local)[found])
    together = np.concatenate(extra) if extra else np.zeros(0)
    return Comb(
        asked, hits, expected / asked if asked else 0.0,
        float(np.median(together)) if len(together) else float("nan"),
    )  # fmt: skip
