"""Algorithm 1 by both readings: costs by hand, a slow version beside it, and claims on hand-made tables."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.core.reference import load_published
from tessera.report.evaluators.park_printed import DISTANCES, distance_cost, drawn_mapping, selected_distance

KEYS = ("workload", "mapping")
PAGES_OF_8GB = 2_097_152


def histogram(**chunks):
    """``p62=1``: one chunk of 62 pages."""
    return np.array([int(name[1:]) for name in chunks]), np.array(list(chunks.values()))


@pytest.mark.parametrize(
    ("chunks", "reading", "distance", "least"),
    [
        ({"p62": 1}, "count", 8, 7 + 6),
        ({"p62": 1}, "listing", 4, 15 / 4 + 2),
        ({"p1541": 1}, "count", 1024, 1 + 1 + 5),
        ({"p16": 10}, "count", 16, 10),
        ({"p16": 10}, "listing", 16, 10 / 16),
        ({"p1": 3}, "count", 2, 3),  # every distance costs 3: the smallest is selected
        ({"p65536": 1, "p65535": 1}, "count", 8192, 8 + 7 + 15 + 511),
    ],
)
def test_costs_by_hand(chunks, reading, distance, least):
    sizes, frequencies = histogram(**chunks)
    assert selected_distance(sizes, frequencies, reading) == distance
    assert distance_cost(sizes, frequencies, distance, reading) == pytest.approx(least)


@pytest.mark.parametrize("reading", ["count", "listing"])
def test_a_slow_version_that_covers_page_by_page_agrees(reading):
    random = np.random.default_rng(7)
    sizes, frequencies = np.unique(random.integers(1, 3000, size=40), return_counts=True)
    for distance in DISTANCES:
        total = 0.0
        for size in np.repeat(sizes, frequencies):
            left = int(size)
            while left:
                kind = distance if left >= distance else 512 if left >= 512 else 1
                left -= kind
                total += 1 if reading == "count" else 1 / kind
        assert distance_cost(sizes, frequencies, distance, reading) == pytest.approx(total), distance


def test_uniform_medium_contiguity_decides_by_a_narrow_margin():
    """Per chunk: 16 costs 15.5625 + 7.5, 32 costs 7.53125 + 15.5."""
    sizes = np.arange(1, 513)
    each = {d: distance_cost(sizes, np.ones_like(sizes), d, "count") / 512 for d in (16, 32)}
    assert each == {16: 23.0625, 32: 23.03125}


def test_draws_fill_the_memory_with_sizes_in_range():
    sizes, frequencies = drawn_mapping(np.random.default_rng(1), 512, 65536, PAGES_OF_8GB)
    assert int((sizes * frequencies).sum()) == PAGES_OF_8GB
    assert sizes.max() <= 65536 and (frequencies[sizes < 512].sum() if (sizes < 512).any() else 0) <= 1
    assert 40 <= frequencies.sum() <= 90  # 8GB over a mean chunk of 129MB is 64


def test_an_unknown_reading_is_refused():
    with pytest.raises(TesseraError, match="listing"):
        selected_distance(np.array([1]), np.array([1]), "printed")


def test_how_often_each_distance_is_printed():
    table = load_published("park_table36_distances")
    counts = {name: Counter(rows["value"].astype(int)) for name, rows in table.groupby("mapping")}
    assert counts["low"] == {4: 14}
    assert counts["medium"] == {32: 10, 16: 3, 8: 1}
    assert counts["high"] == {256: 5, 128: 4, 1024: 2, 512: 1, 64: 1, 32: 1}
    assert all(
        mapping.most_common(1)[0][1] >= 5 for name, mapping in counts.items() if name in {"low", "high"}
    )


@pytest.mark.parametrize(("distance", "wrong"), [(65536, 0), (2, 0), (1, 1), (131072, 1), (24, 1)])
def test_printed_distances_are_powers_of_two(judge_printed, distance, wrong):
    tables = {"park_table36_distances": (KEYS, [("a", "low", 4), ("b", "low", distance)])}
    found = judge_printed("park-distances-available", tables)
    assert found == ("CONTRADICTED" if wrong else "CONSISTENT", str(wrong))


@pytest.mark.parametrize(("most", "verdict"), [(1024, "CONSISTENT"), (2048, "CONTRADICTED")])
def test_range_of_distances(judge_printed, most, verdict):
    rows = [("a", "high", 32), ("b", "high", most), ("c", "max", 65536)]
    bounds = [("all", "high", "distance_low", 32), ("all", "high", "distance_high", 1024)]
    tables = {
        "park_table36_distances": (KEYS, rows),
        "park_values": (("subject", "mapping", "quantity"), bounds),
    }
    found = judge_printed("park-distances-high-range", tables)
    assert found == (verdict, f"distance_low=32 distance_high={most}")


def chunks(**ranges):
    rows = [(mapping, f"chunk_{end}", value) for mapping, pair in ranges.items()
            for end, value in zip(("min", "max"), pair, strict=True)]  # fmt: skip
    return {"park_table34_chunks": (("mapping", "quantity"), rows)}


@pytest.mark.parametrize(
    ("claim", "ranges", "verdict", "text"),
    [
        # chunks of one size, which is a distance: one entry each, by both readings
        ("count", {"low": (4, 4), "medium": (32, 32), "high": (256, 256)}, "CONSISTENT",
         "low=4 medium=32 high=256"),
        ("listing", {"low": (4, 4), "medium": (32, 32), "high": (256, 256)}, "CONSISTENT",
         "low=4 medium=32 high=256"),
        # 62 pages: 8 by count, 4 by the listing
        ("count", {"low": (62, 62), "medium": (32, 32), "high": (256, 256)}, "CONTRADICTED",
         "low=8 medium=32 high=256"),
        ("listing", {"low": (62, 62), "medium": (62, 62), "high": (256, 256)}, "CONTRADICTED",
         "low=4 medium=4 high=256"),
    ],
)  # fmt: skip
def test_distances_of_uniform_chunks(judge_printed, claim, ranges, verdict, text):
    assert judge_printed(f"park-distances-{claim}", chunks(**ranges)) == (verdict, text)


@pytest.mark.parametrize(
    ("claim", "printed", "verdict", "text"),
    [
        # every draw has chunks of 32 pages only (8GB is a multiple), so it selects 32
        ("park-distances-drawn", 32, "CONSISTENT", "low by count=100 medium by count=100"),
        ("park-distances-drawn", 16, "CONTRADICTED", "low by count=0 medium by count=0"),
        ("park-distances-drawn-high", 32, "CONSISTENT", "high by count=100 high by listing=100"),
        ("park-distances-drawn-high", 1024, "CONTRADICTED", "high by count=0 high by listing=0"),
    ],
)
def test_distances_of_drawn_chunks(judge_printed, claim, printed, verdict, text):
    mappings = ("low", "medium", "high")
    rows = [(name, mapping, printed) for name in ("gups", "graph500") for mapping in mappings]
    sets = [(name, "working_set", "first", 8) for name in ("gups", "graph500")]
    tables = chunks(**dict.fromkeys(mappings, (32, 32))) | {
        "park_table36_distances": (KEYS, rows),
        "park_values": (("subject", "quantity", "printing"), sets),
    }
    assert judge_printed(claim, tables) == (verdict, text)
