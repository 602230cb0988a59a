"""A profile: TLB misses under 4KB pages for each 2MB of the pools, and how they were counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tessera.core.units import PAGE_2MB

#: (pool as in layout files, offset of a 2MB page in it)
Page = tuple[str, int]


@dataclass(frozen=True)
class Profile:
    """Misses of a program under the all-4KB layout.

    Attributes:
        provenance: ``measured`` or ``simulated``.
        method: a sentence: how the misses were counted.
        misses: page -> misses, pages without misses left out.
        total: all misses, those outside the pools included.
        pool_bytes: sizes of the pools.
        notes: what the reader must know about the profile.
        trace: recorded accesses, for the simulator; None for a measured profile.
        halves: misses by the even and by the odd samples in the pools; None for a simulated profile.
        samples: how many samples in the pools there are, as if all had the same weight.
    """

    provenance: str
    method: str
    misses: dict[Page, float]
    total: float
    pool_bytes: dict[str, int]
    notes: tuple[str, ...] = ()
    trace: Path | None = field(default=None, compare=False)
    halves: tuple[dict[Page, float], dict[Page, float]] | None = field(default=None, compare=False)
    samples: float = 0.0

    @property
    def in_pools(self) -> float:
        """Misses that huge pages could remove."""
        return sum(self.misses.values())

    @property
    def outside(self) -> float:
        """Misses in stacks, files, program images: no layout reaches them."""
        return max(0.0, self.total - self.in_pools)


def page_of(pool: str, offset: int) -> Page:
    """The 2MB page that holds an offset of a pool."""
    return pool, offset // PAGE_2MB * PAGE_2MB


def add_up(samples: Iterable[tuple[int, float]], bases: dict[str, tuple[int, int]]) -> dict[Page, float]:
    """Weights of addresses as misses of pages; ``bases`` maps a pool to (base, bytes)."""
    found: dict[Page, float] = {}
    for address, weight in samples:
        for pool, (base, size) in bases.items():
            if base <= address < base + size:
                page = page_of(pool, address - base)
                found[page] = found.get(page, 0) + weight
    return found
