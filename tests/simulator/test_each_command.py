"""``tessera simulate --each``: rows of each variant alone, failed variants, the cache."""

from __future__ import annotations

import pandas as pd
import pytest

from tessera.core.results.table_io import CELL_COLUMNS, read_cells
from tests.in_process import tessera

pytestmark = pytest.mark.toolchain
TLBS = ["--engine", "partial", "--sampling", "tlbs"]
DISTANCES = [2**n for n in range(1, 17)]


@pytest.fixture(scope="module")
def mappings(random_trace, tmp_path_factory):
    """A folder with the mappings low and medium of the trace."""
    found = tmp_path_factory.mktemp("mappings")
    for kind in ("low", "medium"):
        words = ["--trace", random_trace, "--kind", kind, "--out", found / f"{kind}.csv"]
        done = tessera("mapping", "generate", *words)
        assert done.returncode == 0, done.stderr
    return found


@pytest.fixture
def simulate(random_trace, mappings, tmp_path):
    """Runs the command on park-haswell; gives the table as it is in the file, and the finished process."""

    def run(*words, status=0):
        line = ["simulate", "--trace", random_trace, "--platform", "park-haswell", "--mappings", mappings]
        done = tessera(*line, "--out", tmp_path / "cells.csv", *words)
        assert done.returncode == status, done.stderr
        return pd.read_csv(tmp_path / "cells.csv", keep_default_na=False), done

    return run


def test_each_row_is_that_of_the_design_alone(simulate, tmp_path):
    words = ["--each", "mmu.design=thp,rmm", "--each", "tlb.stlb.entries=512,1024", *TLBS]
    together, _ = simulate(*words, "--write", f"designs={tmp_path}/d.csv", "--jobs", 2)
    keys = ["mmu.design", "tlb.stlb.entries"]
    assert list(together.columns) == ["workload", "platform", *keys, *CELL_COLUMNS[2:]]
    assert list(together["mmu.design"]) == ["thp"] * 4 + ["rmm"] * 4
    assert list(together["tlb.stlb.entries"]) == [512, 512, 1024, 1024] * 2
    assert list(together.layout) == ["low", "medium"] * 4
    assert together.message[2] == "set: mmu.design=thp, tlb.stlb.entries=1024"
    for values, rows in together.groupby(keys):
        made = [f"{key}={value}" for key, value in zip(keys, values, strict=True)]
        words = [word for text in made for word in ("--set", text)]
        alone, _ = simulate(*words, *TLBS, "--cache", tmp_path / "-".join(made))
        expected = alone.reset_index(drop=True)
        pd.testing.assert_frame_equal(rows[list(CELL_COLUMNS)].reset_index(drop=True), expected)
    structures = pd.read_csv(tmp_path / "d.csv")
    assert list(structures.columns[:4]) == ["platform", *keys, "layout"]
    assert set(structures["mmu.design"]) == {"rmm"} and len(structures) == 2 * 2 * 2


def test_without_units_h_and_m_are_those_of_a_full_run_and_c_is_empty(simulate):
    tlbs, _ = simulate("--set", "mmu.design=anchor", *TLBS)
    full, _ = simulate("--set", "mmu.design=anchor", "--engine", "partial", "--sampling", "full")
    counts = ["stlb_hits", "stlb_misses", "instructions", "accesses"]
    assert tlbs[counts].equals(full[counts]) and (tlbs.stlb_misses > 0).all()
    assert set(tlbs.walk_cycles) == {""} and set(tlbs.timed_instructions) == {0}
    assert all(set(tlbs[name]) == {""} for name in CELL_COLUMNS if name.endswith("_loads"))


def test_a_variant_that_is_refused_has_failed_rows_and_the_others_go_on(simulate):
    words = ["--each", "mmu.design=thp,hvc-delayed-tlb,noop", *TLBS]
    table, done = simulate(*words, status=1)
    failed = table[table["mmu.design"] == "hvc-delayed-tlb"]
    assert (
        set(failed.status) == {"failed"} and failed.message.str.contains("hvc-delayed-tlb with samples").all()
    )
    assert set(table[table["mmu.design"] != "hvc-delayed-tlb"].status) == {"ok"}
    assert "park-haswell, mmu.design=hvc-delayed-tlb, low" in done.stderr
    counts = ["stlb_hits", "stlb_misses"]
    of = {name: rows[counts].reset_index(drop=True) for name, rows in table.groupby("mmu.design")}
    pd.testing.assert_frame_equal(of["thp"], of["noop"])


def test_only_missing_variants_are_simulated(simulate, tmp_path):
    cache = tmp_path / "cache"
    simulate("--each", "mmu.design=thp,rmm", *TLBS, "--cache", cache)
    before = {path: path.stat().st_mtime_ns for path in cache.glob("*/*.json")}
    assert len(before) == 4
    table, done = simulate("--each", "mmu.design=rmm,anchor,thp", *TLBS, "--cache", cache)
    assert "4 of 6" in done.stderr and len(table) == 6
    after = {path: path.stat().st_mtime_ns for path in cache.glob("*/*.json")}
    assert len(after) == 6 and {path: after[path] for path in before} == before


def test_the_static_ideal_is_no_worse_than_the_chosen_distance(simulate):
    chosen, _ = simulate("--set", "mmu.design=anchor", *TLBS)
    each = "design.anchor.distance_pages=" + ",".join(map(str, DISTANCES))
    table, _ = simulate("--set", "mmu.design=anchor", "--each", each, *TLBS)
    misses = table.pivot(index="layout", columns="design.anchor.distance_pages", values="stlb_misses")
    assert list(misses.columns) == DISTANCES
    best = misses.min(axis=1)
    for row in chosen.itertuples():
        assert best[row.layout] <= row.stlb_misses
        assert row.stlb_misses in set(misses.loc[row.layout])  # the chosen one is one of the sixteen
    assert (misses.max(axis=1) > best).all()


def test_a_table_of_variants_is_read_as_cells(simulate, tmp_path):
    simulate("--each", "walker.count=1,2", *TLBS)
    table = read_cells(tmp_path / "cells.csv")
    assert list(table.columns) == list(CELL_COLUMNS) and len(table) == 4


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--each", "mmu.design=thp", "--set", "mmu.design=rmm"], "--set has the key"),
        (["--each", "walker.count=1,9"], "--each walker.count=9"),
        (["--each", "tlb.stlb.size=1"], "tlb.stlb.entries"),
        (["--each", "mmu.design"], "key=value"),
    ],
)
def test_wrong_requests_say_what_to_do(random_trace, mappings, tmp_path, words, found):
    line = ["simulate", "--trace", random_trace, "--platform", "park-haswell", "--mappings", mappings]
    done = tessera(*line, "--out", tmp_path / "a.csv", *words)
    assert done.returncode == 2 and found in done.stderr and done.stderr.count("what to do: ") == 1
