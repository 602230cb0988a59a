"""The study of placements: its plan, its variants, its table from cells by the closed form."""

from __future__ import annotations

import csv

import pytest

from tessera.core import platforms
from tessera.lab.numa.gups import Gups
from tessera.lab.numa.placement_costs import PLATFORM, published_machine
from tessera.lab.numa.placement_study import gups_sampling, placed_platform, placement_cases
from tests.synthetic import placements as made


@pytest.mark.parametrize("updates", [8, 1000, 20_000, 2_000_000])
def test_the_plan_covers_the_trace_once(updates):
    rows = [
        [int(word) for word in row]
        for row in list(csv.reader(gups_sampling(Gups(1, updates)).text.splitlines()))[1:]
    ]
    assert len(rows) == 8 and rows[0][0] == 0
    ends = [start + warm + timed // 6 for start, warm, timed, _ in rows]
    assert [row[0] for row in rows[1:]] == ends[:-1] and ends[-1] == 2 * updates
    assert len({row[2] for row in rows}) == 1 and {row[3] for row in rows} == {1}
    assert rows[0][1] >= updates // 2  # a quarter of the updates, two accesses each, before the first sample


def test_variants_are_table_2():
    platform, machine = platforms.load_platform(PLATFORM), published_machine()
    found = {}
    for case in placement_cases(machine):
        values = placed_platform(platform, machine, case).values
        keys = ("table_node", "data_node", "hog_node", "hog_lines")
        numbers = tuple(int(values[f"numa.{key}"].value) for key in keys)
        found.setdefault(case.where.name, []).append(numbers)
        assert values["numa.remote_load_cycles"].value == 580
        assert values["numa.remote_cycles_per_line"].value == 13
    lines = (70, 140, 187, 280)
    assert found == {
        "LP-LD": [(0, 0, 0, 0)], "LP-RD": [(0, 1, 0, 0)], "RP-LD": [(1, 0, 0, 0)], "RP-RD": [(1, 1, 0, 0)],
        "LP-RDI": [(0, 1, 1, n) for n in lines], "RPI-LD": [(1, 0, 1, n) for n in lines],
        "RPI-RDI": [(1, 1, 1, n) for n in lines], "RPI-LD+M": [(0, 0, 1, 0)],
    }  # fmt: skip


def test_the_table_has_ratios_loads_and_the_formula():
    rows = made.table().set_index(["page_size", "configuration", "hog_lines"])
    assert len(rows) == 2 * 17 and set(rows["status"]) == {"ok"}
    local = rows.loc[("4KB", "LP-LD", 0)]
    assert (local["walk_cycles"], local["runtime_cycles"]) == (380_000, 760_000)
    worst = rows.loc[("4KB", "RPI-LD", 140)]
    assert worst["walk_cycles"] == worst["formula_walk_cycles"] == 100_000 + 1000 * 1280
    assert worst["runtime_ratio"] == pytest.approx(1_760_000 / 760_000)
    assert worst["walk_ratio"] == pytest.approx(1_380_000 / 380_000)
    assert (worst["walker_dram_local"], worst["walker_dram_remote"]) == (0, 1000)
    assert (worst["program_dram_local"], worst["program_dram_remote"]) == (2000, 0)
    expected = worst["runtime_ratio"] * ((10 / 1_760_000) ** 2 + (10 / 760_000) ** 2) ** 0.5
    assert worst["runtime_ratio_ci95"] == pytest.approx(expected)
    assert rows.loc[("4KB", "RPI-LD+M", 0), "runtime_ratio"] == 1
    assert rows.loc[("2MB", "RPI-LD", 280), "walk_ratio"] == 1
    remote = rows.loc[("2MB", "LP-RD", 0)]
    assert (remote["program_dram_local"], remote["program_dram_remote"]) == (0, 2000)


def test_failures_are_rows_and_a_failed_base_leaves_no_ratio():
    rows = made.table(change=made.one_failed)
    failed = rows[rows["status"] != "ok"]
    assert list(failed["configuration"]) == ["RP-RD"] and list(failed["message"]) == ["PLACEMENT-7"]
    assert failed["runtime_cycles"].isna().all()

    def no_base(case, layout, cell):
        return cell | ({"status": "failed", "message": "BASE-9"} if case.where.name == "LP-LD" else {})

    rows = made.table(change=no_base)
    assert set(rows["status"]) == {"failed"} and rows["walk_ratio"].isna().all()


def test_the_partial_engine_has_no_runtimes():
    def partial(case, layout, cell):
        return cell | {"runtime_cycles": "", "runtime_cycles_ci95": ""}

    rows = made.table(change=partial)
    assert rows["runtime_ratio"].isna().all() and rows["walk_ratio"].notna().all()
