"""Chunks, their histogram, and the anchor distance of Algorithm 1."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from tessera.core.errors import TesseraError
from tessera.core.mapping.contiguity import (
    DISTANCES,
    READINGS,
    ChunkHistogram,
    anchor_distance,
    chunk_histogram,
    chunk_pages,
    distance_cost,
)
from tessera.core.mapping.page_mapping import MappingRows

from .page_by_page import chunks_of, pages_of


def test_a_chunk_goes_on_over_page_sizes():
    rows = MappingRows.of(
        [
            ("brk", 0, 100, 1, "4KB"),
            ("mmap", 510, 1022, 2, "4KB"),
            ("mmap", 512, 1024, 512, "2MB"),
            ("mmap", 1024, 1536, 3, "4KB"),
            ("mmap", 1027, 1540, 3, "4KB"),
            ("mmap", 1031, 1544, 1, "4KB"),
        ]
    )
    assert chunk_pages(rows).tolist() == [1, 517, 3, 1] == chunks_of(pages_of(rows))
    found = chunk_histogram(rows)
    assert found.contiguity.tolist() == [1, 3, 517] and found.frequency.tolist() == [2, 1, 1]
    assert (found.chunks, found.pages) == (4, 522)
    assert found.by_powers_of_two() == [(1, 1, 2, 2), (2, 3, 1, 3), (512, 1023, 1, 517)]


def test_pools_do_not_join():
    rows = MappingRows.of([("brk", 0, 100, 5, "4KB"), ("mmap", 5, 105, 5, "4KB")])
    assert chunk_pages(rows).tolist() == [5, 5]


@pytest.mark.parametrize("power", [0, 1, 9, 16, 35])
def test_ranges_of_two_to_a_power(power):
    edge = 1 << power
    found = ChunkHistogram.of([(edge, 1), (2 * edge - 1, 1)] if power else [(1, 2)])
    assert [(low, high, chunks) for low, high, chunks, _ in found.by_powers_of_two()] == [
        (edge, 2 * edge - 1, 2)
    ]


#: histogram, reading -> distance and cost, by hand from the text of 3.4.1
BY_HAND = [
    ([(62, 1)], "count", 8, 13),  # 7 anchors + 6 pages
    ([(62, 1)], "printed", 4, Fraction(575, 100)),  # 15/4 + 2
    ([(1541, 1)], "count", 1024, 7),  # 1 anchor + 1 large page + 5 pages
    ([(1, 9)], "count", 2, 9),  # no anchors anywhere: a tie of all distances
    ([(1, 9)], "printed", 2, 9),
    ([(2, 3)], "count", 2, 3),
    ([(65536, 1)], "count", 65536, 1),
]


@pytest.mark.parametrize(("pairs", "reading", "distance", "value"), BY_HAND)
def test_distances_by_hand(pairs, reading, distance, value):
    found = ChunkHistogram.of(pairs)
    assert anchor_distance(found, reading) == distance
    assert distance_cost(found, distance, reading) == value


UNIFORM = {"low": (1, 16), "medium": (1, 512), "high": (512, 65536)}


@pytest.mark.parametrize(("kind", "count", "printed"), [("low", 4, 4), ("medium", 32, 8), ("high", 256, 64)])
def test_uniform_lengths_of_table_3_4(kind, count, printed):
    low, high = UNIFORM[kind]
    found = ChunkHistogram.of([(c, 1) for c in range(low, high + 1)])
    assert (anchor_distance(found, "count"), anchor_distance(found, "printed")) == (count, printed)


def test_medium_is_close_between_16_and_32():
    found = ChunkHistogram.of([(c, 1) for c in range(1, 513)])
    assert [float(distance_cost(found, d) / 512) for d in (16, 32)] == [23.0625, 23.03125]


@pytest.mark.parametrize("seed", range(20))
def test_costs_are_those_of_a_loop_over_chunks(seed):
    rng = random.Random(seed)
    chunks = [rng.choice([rng.randint(1, 40), rng.randint(1, 200_000)]) for _ in range(30)]
    found = ChunkHistogram.of([(c, chunks.count(c)) for c in set(chunks)])
    best = {}
    for reading in READINGS:
        costs = {}
        for d in DISTANCES:
            total = Fraction(0)
            for c in chunks:
                anchors, large = 0, 0
                while c >= d:
                    c, anchors = c - d, anchors + 1
                while c >= 512:
                    c, large = c - 512, large + 1
                weights = (1, 1) if reading == "count" else (Fraction(1, d), Fraction(1, 512))
                total += anchors * weights[0] + large * weights[1] + c
            costs[d] = total
            assert distance_cost(found, d, reading) == total
        best[reading] = next(d for d in DISTANCES if costs[d] == min(costs.values()))
        assert anchor_distance(found, reading) == best[reading]


@pytest.mark.parametrize("distance", [0, 1, 3, 131072])
def test_other_distances_are_refused(distance):
    with pytest.raises(TesseraError) as refused:
        distance_cost(ChunkHistogram.of([(5, 1)]), distance)
    assert str(distance) in refused.value.asked


def test_other_readings_and_no_chunks_are_refused():
    with pytest.raises(TesseraError) as refused:
        distance_cost(ChunkHistogram.of([(5, 1)]), 2, "mean")
    assert "mean" in refused.value.asked and "printed" in refused.value.remedy
    with pytest.raises(TesseraError):
        anchor_distance(ChunkHistogram.of([]))
