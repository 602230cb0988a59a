"""The benchmark's arithmetic by hand-made values, and a short run of the real one."""

from __future__ import annotations

import csv
import json
import math

import pytest
from click.testing import CliRunner

from tessera.cli.lab.allocator import allocator
from tessera.lab.allocator_proof.bench import ROWS, Result, Row, format_table, median_interval, write_results

RATIO = Row("r", "costs", ("r",), "ns", 1.05)
DIFFERENCE = Row("d", "resident", ("Rss",), "bytes", 1000, difference=True)

#: The committed bounds (issue: numbers); the real machine may be noisy, the table may not be lenient.
BOUNDS = {
    "malloc_small_1_thread": 1.02,
    "malloc_small_4_threads": 1.02,
    "malloc_256KB": 1.05,
    "malloc_512KB": 1.05,
    "malloc_1MB": 1.05,
    "malloc_2MB": 1.05,
    "mmap_64KB": 1.05,
    "mmap_64KB_20000_holes": 1.05,
    "malloc_small_20000_holes": 1.02,
    "start_true": 1.5e6,
    "resident": 1 << 20,
    "gups_roi": 1.01,
    "graph500_roi": 1.01,
}


def test_bounds_are_the_promised_ones():
    assert {row.name: row.bound for row in ROWS if row.bound is not None} == BOUNDS


@pytest.mark.parametrize(
    ("pairs", "value", "verdict"),
    [
        ([(100.0, 105.0)] * 3, 1.05, "PASS"),
        ([(100.0, 105.1)] * 3, 1.051, "FAIL"),
        ([(100.0, 100.0), (100.0, 900.0), (200.0, 202.0)], 1.01, "PASS"),  # one outlier changes nothing
    ],
)
def test_ratio_rows(pairs, value, verdict):
    result = Result.of_pairs(RATIO, pairs)
    assert (result.value, result.verdict, result.pairs) == (pytest.approx(value), verdict, 3)


def test_difference_rows_and_lowest_values():
    result = Result.of_pairs(DIFFERENCE, [(500, 1400), (600, 1700), (700, 1700)])
    assert (result.value, result.plain, result.library, result.verdict) == (1000, 500, 1400, "PASS")
    assert Result.of_pairs(DIFFERENCE, [(0, 1001)]).verdict == "FAIL"


def test_interval_of_the_median():
    # Binomial(6, 1/2): none of six on one side has probability 1/64 on each side, together 3.1% <= 5%.
    assert median_interval([6, 5, 4, 3, 2, 1]) == (1, 6)
    # With five it is 6.25%: too few for 95%.
    assert median_interval([1, 2, 3, 4, 5]) == (-math.inf, math.inf)
    # n = 15: at most 3 below has probability 1.76%, at most 4 5.9%: the 4th smallest and largest.
    assert median_interval(list(range(1, 16))) == (4, 12)


def test_a_skipped_row_says_what_is_missing(tmp_path):
    skipped = Result.skipped(RATIO, "gups: build it")
    assert "SKIP" in format_table([skipped]) and "gups: build it" in format_table([skipped])
    write_results([skipped], tmp_path / "t.csv")
    assert next(csv.DictReader((tmp_path / "t.csv").open()))["reason"] == "gups: build it"


def test_an_unknown_row_is_refused_with_the_names():
    done = CliRunner().invoke(allocator, ["bench", "--row", "nothing"])
    assert "malloc_small_1_thread" in str(done.exception)


@pytest.mark.toolchain
def test_quick_run(build, tmp_path):
    out = tmp_path / "bench.json"
    done = CliRunner().invoke(allocator, ["bench", "--quick", "--out", str(out)])
    assert done.exit_code in (0, 1), done.output  # 1: a bound was exceeded, which noise may do in short runs
    rows = {row["row"]: row for row in json.loads(out.read_text())}
    assert list(rows) == [row.name for row in ROWS]
    for row in rows.values():
        if row["verdict"] == "SKIP":
            assert row["row"] in ("gups_roi", "graph500_roi") and "build it" in row["reason"]
            continue
        assert row["pairs"] == 3
        # What a broken library would exceed on any machine: twice the time, 5 ms, 2MB.
        limit = {"ratio": 2.0, "difference": 5e6 if row["unit"] == "ns" else 2 << 20}[row["kind"]]
        if row["bound"] is not None:
            assert row["value"] <= limit, row
    # The library costs something: nobody preloaded nothing. (Memory says so; three pairs of times are noise.)
    assert rows["resident"]["value"] > 0
