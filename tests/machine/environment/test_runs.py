"""Conditions that only runs show, from numbers made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tessera.machine.environment import RUN_CHECKS, RunFacts, run_conditions

GOOD = RunFacts(
    run="0",
    workload="gups",
    layout="4kb",
    roi_ns=1_000_000,
    task_clock_ns=990_000,  # exactly the least share, 0.99
    page_faults=0,
    migrations=0,
    cycles=2000,
    ref_cycles=1000,
    pages_confirmed=True,
)


def status(conditions):
    return {one.check: one.status for one in conditions}


def test_a_good_run_and_all_of_them():
    assert status(run_conditions([GOOD], 7, 7)) == dict.fromkeys(RUN_CHECKS, "ok")
    rows = run_conditions([GOOD, replace(GOOD, run="1", layout="2mb")], 7, 7)
    assert status(rows) == dict.fromkeys(RUN_CHECKS, "ok")
    assert {row.level for row in rows} == {"bars"}


@pytest.mark.parametrize(
    "check, change",
    [
        ("pages-obtained", {"pages_confirmed": False}),
        ("migrations", {"migrations": 1}),
        ("running", {"task_clock_ns": 989_999}),
        ("faults", {"page_faults": 3}),
    ],
)
def test_one_run_that_differs_decides(check, change):
    bad = replace(GOOD, run="17", layout="growing-3", **change)
    assert status(run_conditions([bad], 0, 0))[check] == "differs"
    row = next(one for one in run_conditions([GOOD, bad, GOOD], 0, 0) if one.check == check)
    assert row.status == "differs" and row.remedy
    assert all(word in row.found for word in ("17", "growing-3", "1 of 3")), row
    assert set(status(run_conditions([GOOD, bad], 0, 0)).values()) == {"ok", "differs"}


@pytest.mark.parametrize("name, check", [
    ("pages_confirmed", "pages-obtained"), ("migrations", "migrations"), ("task_clock_ns", "running"),
    ("roi_ns", "running"), ("page_faults", "faults"), ("ref_cycles", "frequency"),
])  # fmt: skip
def test_what_was_not_counted_is_unknown(name, check):
    rows = run_conditions([GOOD, replace(GOOD, run="5", layout="2mb", **{name: None})], 0, 0)
    assert {row.check for row in rows if row.status == "unknown"} == {check}


def test_no_run_shows_nothing():
    assert set(status(run_conditions([], 0, 0)).values()) == {"unknown", "ok"}
    assert status(run_conditions([], 0, 0))["heat"] == "ok"


@pytest.mark.parametrize("cycles, expected", [(2020, "ok"), (2021, "differs"), (1980, "differs")])
def test_frequency_over_layouts(cycles, expected):
    """2020/2000 is +1.00%; 2000/1980 is +1.01%."""
    rows = run_conditions([GOOD, replace(GOOD, layout="2mb", cycles=cycles)], 0, 0)
    assert status(rows)["frequency"] == expected


def test_frequency_is_compared_within_a_workload_and_by_means():
    """Another workload may use another frequency. Repeats of a layout: (1900 + 2100) / 2 = 2000."""
    other = replace(GOOD, workload="chase", cycles=1500)
    repeats = [replace(GOOD, layout="2mb", cycles=cycles) for cycles in (1900, 2100)]
    assert status(run_conditions([GOOD, other, *repeats], 0, 0))["frequency"] == "ok"


def test_a_pass_without_reference_cycles_does_not_hide_the_others():
    rows = run_conditions([GOOD, replace(GOOD, ref_cycles=None)], 0, 0)
    assert status(rows)["frequency"] == "ok"


@pytest.mark.parametrize("cycles, expected", [(2020, "ok"), (2021, "differs")])
def test_task_clock_stands_in_where_no_run_has_reference_cycles(cycles, expected):
    first = replace(GOOD, ref_cycles=None)
    rows = run_conditions([first, replace(first, layout="2mb", cycles=cycles)], 0, 0)
    row = next(row for row in rows if row.check == "frequency")
    assert row.status == expected and row.wanted.startswith("cycles/task-clock within 1% ")


def test_a_processor_without_counts_of_throttling_is_not_barred_by_them():
    row = next(row for row in run_conditions([GOOD], None, None) if row.check == "heat")
    assert (row.status, row.level) == ("unknown", "noted")


@pytest.mark.parametrize("before, after, expected", [
    (3, 3, "ok"), (3, 4, "differs"), (None, 3, "unknown"), (3, None, "unknown"),
])  # fmt: skip
def test_heat(before, after, expected):
    assert status(run_conditions([GOOD], before, after))["heat"] == expected
