"""Contiguity: the chunks of a state and their histogram.

A chunk is a maximal run of virtual pages of one pool with constant frame - page, whatever its page sizes
(Park, KAIST 2019, 3.2). Pages outside the pools are not in a mapping; each is a chunk of one 4KB page.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tessera.mapping.rows import Rows


@dataclass(frozen=True, eq=False)
class Histogram:
    """``frequency[i]`` chunks have ``contiguity[i]`` pages of 4KB; both int64, contiguity ascending."""

    contiguity: np.ndarray
    frequency: np.ndarray

    @classmethod
    def of(cls, pairs) -> Histogram:
        """From (contiguity, frequency) pairs."""
        table = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
        return cls(table[:, 0], table[:, 1])

    @property
    def chunks(self) -> int:
        """Number of chunks."""
        return int(self.frequency.sum())

    @property
    def pages(self) -> int:
        """Pages of 4KB in all chunks."""
        return int((self.contiguity * self.frequency).sum())

    def by_powers_of_two(self) -> list[tuple[int, int, int, int]]:
        """(low, high, chunks, pages) for each range low..high = 2^k .. 2^(k+1) - 1 that has chunks."""
        power = np.frexp(self.contiguity.astype(np.float64))[1] - 1
        found = []
        for k in np.unique(power).tolist():
            here = power == k
            pages = int((self.contiguity[here] * self.frequency[here]).sum())
            found.append((1 << k, (2 << k) - 1, int(self.frequency[here].sum()), pages))
        return found


def chunk_pages(state: Rows) -> np.ndarray:
    """Pages of 4KB of each chunk, in order of pool and page; ``state`` is sorted and disjoint."""
    one = np.ones_like(state.size)
    return Rows(state.pool, state.page, state.frame, state.pages, one).merged().pages


def histogram(state: Rows) -> Histogram:
    """The histogram of a state's chunks."""
    return Histogram(*np.unique(chunk_pages(state), return_counts=True))
