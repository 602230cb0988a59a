"""Bars of programs beside an archive that obeys the closed form: verdicts at their borders."""

from __future__ import annotations

import math

import pytest

from tessera.lab.numa.mitosis_figures import FAILS, HOLDS, bar_verdict, judge_bars
from tests.synthetic import placements as made

MOVED = "RPI-LD / RPI-LD+M"


@pytest.mark.parametrize(
    ("ratio", "ci95", "published", "size", "verdict"),
    [
        # a published gain of 1.0: from 0.5 to 1.5
        (1.5, 0.1, 2.0, "4KB", HOLDS),
        (2.5, 0.1, 2.0, "4KB", HOLDS),
        (1.499, 0.1, 2.0, "4KB", FAILS),
        (2.501, 0.1, 2.0, "4KB", FAILS),
        (1.6, 0.61, 2.0, "4KB", FAILS),  # the interval includes no gain
        (1.6, 0.59, 2.0, "4KB", HOLDS),
        (0.5, 0.1, 2.0, "4KB", FAILS),
        (1.05, 0.001, 1.05, "4KB", HOLDS),
        (1.049, 0.001, 1.049, "4KB", ""),
        (2.0, 0.1, 2.0, "2MB", ""),
        (2.0, 0.1, math.nan, "4KB", ""),
    ],
)
def test_borders(ratio, ci95, published, size, verdict):
    found, note = bar_verdict(ratio, ci95, published, size)
    assert found == verdict and bool(note) == (verdict != HOLDS)


def test_bars_are_those_of_figures_6_and_10(read):
    rows = judge_bars(made.program(), read().good)
    small = rows[rows["page_size"] == "4KB"].set_index("configuration")
    assert list(small.index) == ["LP-RD", "RP-LD", "RP-RD", "RPI-LD", "LP-RDI", "RPI-RDI", MOVED]
    # ours by hand: R(LP-LD) = 100,000 + 280,000 walks + 280,000 data + 100,000
    assert small.loc["RP-LD", "ratio"] == pytest.approx(1_060_000 / 760_000)
    assert small.loc["RPI-LD", "ratio"] == small.loc[MOVED, "ratio"] == pytest.approx(1_760_000 / 760_000)
    least, greatest = (760_000 + 1000 * (300 + wait) for wait in (350, 1400))
    assert small.loc["RPI-LD", "least_ratio"] == pytest.approx(least / 760_000)
    assert small.loc["RPI-LD", "greatest_ratio"] == pytest.approx(greatest / 760_000)
    # the archive's: 20 M + 80 M + 280 (1 M + 1 M) cycles, 300 more for each of 1 M walker loads
    assert small.loc["RP-LD", "published_ratio"] == pytest.approx(960 / 660, rel=1e-6)
    assert small.loc[MOVED, "published_ratio"] == pytest.approx(1660 / 660, rel=1e-6)
    assert set(small["verdict"]) == {HOLDS}
    large = rows[rows["page_size"] == "2MB"]
    assert len(large) == 7 and set(large["verdict"]) == {""} and large["published_ratio"].notna().all()


def test_other_programs_and_no_archive_are_not_judged(read):
    import pandas as pd

    for rows in (
        judge_bars(made.program("XSBench"), read().good),
        judge_bars(made.program(), pd.DataFrame()),
    ):
        assert len(rows) == 14 and set(rows["verdict"]) == {""} and rows["published_ratio"].isna().all()


def test_a_bar_that_is_far_off_fails(read):
    def slow(case, layout, cell):
        more = 3 if (case.where.name, layout) == ("RP-LD", "4kb") else 1
        return cell | {"runtime_cycles": more * cell["runtime_cycles"]}

    rows = judge_bars(made.program(change=slow), read().good).set_index(["page_size", "configuration"])
    assert rows.loc[("4KB", "RP-LD"), "verdict"] == FAILS
    assert rows.loc[("4KB", "RP-RD"), "verdict"] == HOLDS


def test_a_failed_placement_is_no_bar(read):
    rows = judge_bars(made.program(change=made.one_failed), read().good)
    assert len(rows) == 13 and ("2MB", "RP-RD") not in set(
        zip(rows["page_size"], rows["configuration"], strict=True)
    )
