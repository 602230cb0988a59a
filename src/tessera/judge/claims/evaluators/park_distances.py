"""Park's choice of the anchor distance (dissertation, 3.4.1, Algorithm 1), beside his Table 3.6.

A second implementation on purpose: no simulator uses it, and it uses none of theirs. A *chunk* is a run of
contiguous 4KB pages; a histogram is an array of chunk sizes in pages and an array of how often each occurs.

For a distance of d pages, a chunk of c pages takes a = c div d anchor entries. The rest, c mod d pages, takes
l entries of 2MB pages and p entries of 4KB pages. The prose defines this remainder, Algorithm 1 does not. Two
readings of the cost are possible:

- ``count``: a + l + p, the number of TLB entries, which the prose calls the aim;
- ``listing``: a / d + l / 512 + p, each kind weighted by the inverse of its coverage, as listed.

The distance of least cost is selected, of equal ones the smaller. Not modelled: the alignment of chunks, and
the chunk lists of real programs, which are not printed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from tessera.core.errors import unknown_name
from tessera.core.units import GB, parse_bytes
from tessera.judge.claims.outcome import Outcome

TABLE = "park_table36_distances"
PAGE = parse_bytes("4KB")
LARGE = 512  #: pages of a 2MB page
DISTANCES = tuple(2**power for power in range(1, 17))
READINGS: dict[str, Callable[[int, int, int, int], float]] = {
    "count": lambda anchors, large, pages, distance: anchors + large + pages,
    "listing": lambda anchors, large, pages, distance: anchors / distance + large / LARGE + pages,
}
SEED = 1


def cost(sizes: np.ndarray, frequencies: np.ndarray, distance: int, reading: str) -> float:
    """Cost of a histogram with anchors every ``distance`` pages."""
    if reading not in READINGS:
        raise unknown_name("reading of Algorithm 1", reading, list(READINGS))
    anchors, remainder = np.divmod(sizes, distance)
    large, pages = np.divmod(remainder, LARGE)
    totals = (int((frequencies * each).sum()) for each in (anchors, large, pages))
    return READINGS[reading](*totals, distance)


def selected(sizes: np.ndarray, frequencies: np.ndarray, reading: str) -> int:
    """The distance that the algorithm selects, pages."""
    return min(DISTANCES, key=lambda distance: cost(sizes, frequencies, distance, reading))


def unavailable_distances(claim, evidence) -> Outcome:
    """Entries of Table 3.6 that are none of Algorithm 1's distances."""
    return Outcome(int((~evidence.rows(TABLE)["value"].isin(DISTANCES)).sum()), "published")


def uniform_distances(claim, evidence, reading: str) -> Outcome:
    """The distance for a uniform distribution of Table 3.4's chunk sizes, by mapping."""
    found = {}
    for mapping in claim.published:
        low, high = _range(evidence, mapping)
        sizes = np.arange(low, high + 1)
        found[mapping] = selected(sizes, np.ones_like(sizes), reading)
    return Outcome(found, "published")


def share_of_draws(claim, evidence, workloads: list, mappings: list, readings: list, draws: int) -> Outcome:
    """Share of seeded draws, percent, that select the printed distance: the least over ``workloads``.

    A draw fills the printed working set with chunks of Table 3.4's sizes; the last one is cut at the end. The
    result has a name ``<mapping> by <reading>`` for each share.
    """
    shares = {}
    for mapping in mappings:
        for reading in readings:
            counts = [
                _selections(*_range(evidence, mapping), _pages(evidence, name), reading, draws)[
                    _printed(evidence, name, mapping)
                ]
                for name in workloads
            ]
            shares[f"{mapping} by {reading}"] = 100 * min(counts) / draws
    return Outcome(shares, "published")


@lru_cache(maxsize=32)
def _selections(low: int, high: int, pages: int, reading: str, draws: int) -> Counter:
    """How often each distance is selected."""
    random = np.random.default_rng(SEED)
    return Counter(selected(*draw(random, low, high, pages), reading) for _ in range(draws))


def draw(random: np.random.Generator, low: int, high: int, pages: int) -> tuple[np.ndarray, np.ndarray]:
    """A histogram of uniform chunk sizes from ``low`` to ``high`` that add up to ``pages``."""
    enough = 2 * (2 * pages // (low + high)) + 64  # twice the mean number of chunks, and 64
    chunks = random.integers(low, high + 1, size=enough)
    ends = np.cumsum(chunks)
    last = int(np.searchsorted(ends, pages))
    chunks[last] -= ends[last] - pages
    frequencies = np.bincount(chunks[: last + 1])
    sizes = np.flatnonzero(frequencies)
    return sizes, frequencies[sizes]


def _range(evidence, mapping: str) -> tuple[int, int]:
    rows = evidence.rows("park_table34_chunks", {"mapping": mapping}).set_index("quantity")["value"]
    return int(rows["chunk_min"]), int(rows["chunk_max"])


def _pages(evidence, workload: str) -> int:
    where = {"subject": workload, "quantity": "working_set", "printing": "first"}
    return int(evidence.number({"table": "park_values", "where": where}) * GB // PAGE)


def _printed(evidence, workload: str, mapping: str) -> int:
    where = {"workload": workload, "mapping": mapping}
    return int(evidence.number({"table": TABLE, "where": where}))


EVALUATORS = {
    "unavailable_distances": unavailable_distances,
    "uniform_distances": uniform_distances,
    "share_of_draws": share_of_draws,
}
