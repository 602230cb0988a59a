"""How well a sampled profile supports the choice of pages: a share with its interval.

Pages chosen by the same samples that measure them look too good: chance made some of them hot. So the even
samples choose pages, and the odd ones say how many misses lie in these; then the other way round. Half of
the samples choose worse than all of them, so the share is rather too small. The interval is Wilson's
(E. B. Wilson, J. Am. Stat. Assoc. 22, 1927), for independent samples of this run. Another run of the program
may differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from tessera.mosalloc.suggest import choose
from tessera.mosalloc.suggest.profile import Page, Profile

Z_95 = 1.959963984540054


@dataclass(frozen=True)
class Share:
    """Share of the misses in the pools, its 95% interval, and the number of samples behind it."""

    value: float
    low: float
    high: float
    samples: float


def wilson(share: float, count: float, z: float = Z_95) -> tuple[float, float]:
    """Wilson's interval of a share of ``count`` samples (not necessarily whole)."""
    if count <= 0:
        return 0.0, 1.0
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return max(0.0, middle - half), min(1.0, middle + half)


def effective(weights: Iterable[float]) -> float:
    """How many samples of equal weight say as much: (sum of w)^2 / sum of w^2 (L. Kish, 1965)."""
    values = list(weights)
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / squares if squares else 0.0


def covered(profile: Profile, count: int) -> Share | None:
    """Share of the pools' misses in the ``count`` hottest pages; None without samples in both halves."""
    if profile.halves is None:
        return None
    inside = total = 0.0
    for chooses, checks in (profile.halves, profile.halves[::-1]):
        if not chooses or not checks:
            return None
        pages: list[Page] = choose.ranked(replace(profile, misses=chooses))[:count]
        inside += sum(checks.get(page, 0.0) for page in pages)
        total += sum(checks.values())
    share = min(1.0, inside / total)
    return Share(share, *wilson(share, profile.samples), profile.samples)
