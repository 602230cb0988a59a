"""What Park's dissertation prints about virtual caching and TLB coalescing, computed again.

Chapter 2 (caching), chapter 3 (coalescing), and the choice of the anchor distance (3.4.1, Algorithm 1)
beside his Table 3.6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from math import floor

import numpy as np

from tessera.core.errors import unknown_name
from tessera.core.units import GB, PAGE_4KB
from tessera.report.claims.claim import Outcome
from tessera.report.claims.registry import evaluator

# What Park prints about virtual caching (dissertation, chapter 2), computed again from his other numbers.
#
# Units are those of the claim. Powers, speedups and miss rates are not modelled: no printed number gives
# them.

PARK_VALUES = "park_values"
#: Seconds of the printed units of time; a year has 365.25 days.
SECONDS = {"days": 86400.0, "years": 365.25 * 86400.0}


@evaluator
def tlb_access_reduction(claim, evidence) -> Outcome:
    """TLB accesses that the filter saves, percent, cut to one digit after the point, by workload (Table 2.2).

    Only accesses to shared pages (Table 2.1) and false positives (Table 2.2) still reach the TLB.
    """
    shared = _park_column(evidence, "park_table21_shared_memory", "shared_access")
    false = _park_column(evidence, "park_table22_synonym_filter", "false_positive")
    return Outcome({name: floor(10 * (100 - shared[name] - false[name])) / 10 for name in false}, "published")


@evaluator
def unused_memory(claim, evidence, applications: int) -> Outcome:
    """Least and most unused share of memory, percent, of the ``applications`` that use least (Table 2.3)."""
    usage = sorted(_park_column(evidence, "park_table23_segments", "usage").values())[:applications]
    return Outcome({"unused_low": 100 - usage[-1], "unused_high": 100 - usage[0]}, "published")


@evaluator
def index_tree_depth(claim, evidence) -> Outcome:
    """Levels of a full tree that reaches so many segments, by subject (2.4.3)."""
    values = _park_value(evidence, "index tree", "values_of_a_node")
    return Outcome(
        {name: _tree_levels(int(name.split()[0]), values) for name in claim.published}, "published"
    )


def _tree_levels(segments: int, values: float) -> int:
    levels, reached = 0, 1.0
    while reached < segments:
        levels, reached = levels + 1, reached * values
    return levels


@evaluator
def address_space_rates(claim, evidence) -> Outcome:
    """Addresses that a server consumes, KB/s (1000 bytes), from the time after which none is left (2.7.2)."""
    size = 2 ** _park_value(evidence, "4-level", "user_address_bits")
    return Outcome({name: size / _lifetime_s(evidence, name) / 1000 for name in claim.published}, "published")


@evaluator
def shortest_lifetime(claim, evidence, servers: list) -> Outcome:
    """Years until the first of the servers has used all addresses (2.7.2)."""
    return Outcome(min(_lifetime_s(evidence, name) for name in servers) / SECONDS["years"], "published")


def _lifetime_s(evidence, server: str) -> float:
    row = evidence.rows(PARK_VALUES, {"subject": server, "quantity": "va_depletion_48bit"}).iloc[0]
    return row["value"] * SECONDS[row["unit"]]


def _park_value(evidence, subject: str, quantity: str) -> float:
    return evidence.number({"table": PARK_VALUES, "where": {"subject": subject, "quantity": quantity}})


def _park_column(evidence, table: str, quantity: str) -> dict[str, float]:
    rows = evidence.rows(table, {"quantity": quantity})
    return dict(zip(rows["workload"], rows["value"], strict=True))


# What Park prints about TLB coalescing (dissertation, chapter 3), computed again from his other numbers.


@evaluator
def shares_not_100(claim, evidence, slack: float) -> Outcome:
    """Rows of Table 3.5 whose three shares differ from 100 percent by more than ``slack`` points."""
    sums = evidence.rows("park_table35_stlb_shares").groupby(["workload", "mapping"])["value"].sum()
    return Outcome(int(((sums - 100).abs() > slack).sum()), "published")


@evaluator
def anchors_written(claim, evidence, footprint_gb: int) -> Outcome:
    """Anchor entries of so many GB, by ``distance <pages>``; a change of the distance writes each (3.3.3)."""
    pages = footprint_gb * GB // PAGE_4KB
    return Outcome({name: pages / int(name.split()[1]) for name in claim.published}, "published")


@evaluator
def smallest_lead(claim, evidence, subject: str, other: str, mappings: list) -> Outcome:
    """Smallest difference of two schemes' miss reductions in the text of Figure 3.9, points."""

    def reductions(scheme: str) -> dict[str, float]:
        where = {"location": "Figure 3.9 text", "subject": scheme, "mapping": mappings}
        rows = evidence.rows(PARK_VALUES, where)
        return dict(zip(rows["mapping"], rows["value"], strict=True))

    ours, theirs = reductions(subject), reductions(other)
    return Outcome(min(ours[name] - theirs[name] for name in mappings), "published")


# Park's choice of the anchor distance (dissertation, 3.4.1, Algorithm 1), beside his Table 3.6.
#
# A second implementation on purpose: no simulator uses it, and it uses none of theirs. A *chunk* is a run of
# contiguous 4KB pages; a histogram is an array of chunk sizes in pages and an array of how often each
# occurs.
#
# For a distance of d pages, a chunk of c pages takes a = c div d anchor entries. The rest, c mod d pages,
# takes l entries of 2MB pages and p entries of 4KB pages. The prose defines this remainder, Algorithm 1 does
# not. Two readings of the cost are possible:
#
# - ``count``: a + l + p, the number of TLB entries, which the prose calls the aim;
# - ``listing``: a / d + l / 512 + p, each kind weighted by the inverse of its coverage, as listed.
#
# The distance of least cost is selected, of equal ones the smaller. Not modelled: the alignment of chunks,
# and the chunk lists of real programs, which are not printed.

DISTANCES_TABLE = "park_table36_distances"
PAGES_OF_2MB = 512  #: pages of a 2MB page
DISTANCES = tuple(2**power for power in range(1, 17))
COST_READINGS: dict[str, Callable[[int, int, int, int], float]] = {
    "count": lambda anchors, large, pages, distance: anchors + large + pages,
    "listing": lambda anchors, large, pages, distance: anchors / distance + large / PAGES_OF_2MB + pages,
}
DRAWS_SEED = 1


def distance_cost(sizes: np.ndarray, frequencies: np.ndarray, distance: int, reading: str) -> float:
    """Cost of a histogram with anchors every ``distance`` pages."""
    if reading not in COST_READINGS:
        raise unknown_name("reading of Algorithm 1", reading, list(COST_READINGS))
    anchors, remainder = np.divmod(sizes, distance)
    large, pages = np.divmod(remainder, PAGES_OF_2MB)
    totals = (int((frequencies * each).sum()) for each in (anchors, large, pages))
    return COST_READINGS[reading](*totals, distance)


def selected_distance(sizes: np.ndarray, frequencies: np.ndarray, reading: str) -> int:
    """The distance that the algorithm selects, pages."""
    return min(DISTANCES, key=lambda distance: distance_cost(sizes, frequencies, distance, reading))


@evaluator
def unavailable_distances(claim, evidence) -> Outcome:
    """Entries of Table 3.6 that are none of Algorithm 1's distances."""
    return Outcome(int((~evidence.rows(DISTANCES_TABLE)["value"].isin(DISTANCES)).sum()), "published")


@evaluator
def uniform_distances(claim, evidence, reading: str) -> Outcome:
    """The distance for a uniform distribution of Table 3.4's chunk sizes, by mapping."""
    found = {}
    for mapping in claim.published:
        low, high = _run_range(evidence, mapping)
        sizes = np.arange(low, high + 1)
        found[mapping] = selected_distance(sizes, np.ones_like(sizes), reading)
    return Outcome(found, "published")


@evaluator
def share_of_draws(claim, evidence, workloads: list, mappings: list, readings: list, draws: int) -> Outcome:
    """Share of seeded draws, percent, that select the printed distance: the least over ``workloads``.

    A draw fills the printed working set with chunks of Table 3.4's sizes; the last one is cut at the end. The
    result has a name ``<mapping> by <reading>`` for each share.
    """
    shares = {}
    for mapping in mappings:
        for reading in readings:
            counts = [
                _selected_distances(
                    *_run_range(evidence, mapping), _footprint_pages(evidence, name), reading, draws
                )[_printed_distance(evidence, name, mapping)]
                for name in workloads
            ]
            shares[f"{mapping} by {reading}"] = 100 * min(counts) / draws
    return Outcome(shares, "published")


@lru_cache(maxsize=32)
def _selected_distances(low: int, high: int, pages: int, reading: str, draws: int) -> Counter:
    """How often each distance is selected."""
    random = np.random.default_rng(DRAWS_SEED)
    return Counter(selected_distance(*drawn_mapping(random, low, high, pages), reading) for _ in range(draws))


def drawn_mapping(
    random: np.random.Generator, low: int, high: int, pages: int
) -> tuple[np.ndarray, np.ndarray]:
    """A histogram of uniform chunk sizes from ``low`` to ``high`` that add up to ``pages``."""
    enough = 2 * (2 * pages // (low + high)) + 64  # twice the mean number of chunks, and 64
    chunks = random.integers(low, high + 1, size=enough)
    ends = np.cumsum(chunks)
    last = int(np.searchsorted(ends, pages))
    chunks[last] -= ends[last] - pages
    frequencies = np.bincount(chunks[: last + 1])
    sizes = np.flatnonzero(frequencies)
    return sizes, frequencies[sizes]


def _run_range(evidence, mapping: str) -> tuple[int, int]:
    rows = evidence.rows("park_table34_chunks", {"mapping": mapping}).set_index("quantity")["value"]
    return int(rows["chunk_min"]), int(rows["chunk_max"])


def _footprint_pages(evidence, workload: str) -> int:
    where = {"subject": workload, "quantity": "working_set", "printing": "first"}
    return int(evidence.number({"table": PARK_VALUES, "where": where}) * GB // PAGE_4KB)


def _printed_distance(evidence, workload: str, mapping: str) -> int:
    where = {"workload": workload, "mapping": mapping}
    return int(evidence.number({"table": DISTANCES_TABLE, "where": where}))
