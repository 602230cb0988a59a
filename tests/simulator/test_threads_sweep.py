"""``tessera threads sweep``, simulated: n = 1 is the platform's cell, and random loads follow a formula."""

from __future__ import annotations

import pytest

from tessera.core import platforms
from tessera.core.layouts.generation import Space
from tessera.core.layouts.layout import write_layout
from tessera.lab.energy import l3_sweep, steps
from tessera.record import traces
from tessera.simulate.runner import CellCache, simulate
from tessera.simulate.sampling import Sampling

from .conftest import POOL

LINES = POOL // 64


@pytest.fixture(scope="module")
def table(random_trace, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    job = steps.SweepJob(
        random_trace, "haswell-sim", "1,2,24", "full", folder / "cache", folder / "sweep.csv"
    )
    return steps.sweep_of_trace(job)


def test_one_thread_is_the_platforms_own_cell(table, random_trace, tmp_path):
    layout = tmp_path / "growing-0.csv"
    write_layout(Space.from_trace_info(traces.info(random_trace)).layout("growing-0", 0, 0), layout)
    (cell,) = simulate(
        random_trace, platforms.load("haswell-sim"), [layout], workload="w", engine=l3_sweep.ENGINE,
        sampling=Sampling(0), cache=CellCache(None),
    )  # fmt: skip
    first = table.iloc[0]
    assert (first["accesses"], first["dram_loads"]) == (cell["accesses"], cell["program_dram_loads"])
    assert first["hit_rate"] == 1 - cell["program_dram_loads"] / cell["accesses"]


def test_random_loads_hit_what_the_cache_holds(table):
    """Uniform loads over N lines, C lines of cache: load i hits with min(distinct lines before i, C) / N."""
    for row in table.itertuples():
        lines, hits = row.l3_bytes / 64, 0.0
        step_of = 10_000
        for first in range(0, row.accesses, step_of):
            distinct = LINES * (1 - (1 - 1 / LINES) ** first)
            hits += step_of * min(distinct, lines) / LINES
        assert row.hit_rate == pytest.approx(hits / row.accesses, abs=0.03)
    assert table["hit_rate"].is_monotonic_decreasing


@pytest.mark.parametrize(("l1d", "dram", "loads"), [(1000, 400, 400), (2200, 880, 400), (0, 0, None)])
def test_samples_with_other_accesses_per_instruction_have_the_same_rate(tmp_path, l1d, dram, loads):
    """Two of five accesses miss: P = 0.6, also if the samples have 2.2 times the accesses per instruction."""
    haswell = platforms.load("haswell-sim")
    request = l3_sweep.SweepRequest("w", tmp_path, haswell, [1], Sampling(0), CellCache(None))
    cell = {"status": "ok", "message": "", "accesses": 1000}
    cell |= {"program_l1d_loads": l1d, "program_dram_loads": dram}
    row = l3_sweep._row(request, 1, cell)
    assert row.get("dram_loads") == loads and row["status"] == ("failed" if loads is None else "ok")
    assert loads is None or row["hit_rate"] == 0.6


def test_a_file_that_is_no_info_of_a_recording_is_a_row(tmp_path):
    (tmp_path / "info.json").write_text("{}")
    job = steps.SweepJob(
        tmp_path / "info.json", "haswell-sim", "1,2", "full", tmp_path / "c", tmp_path / "s.csv"
    )
    table = steps.sweep_of_trace(job)
    assert table["status"].tolist() == ["failed"] and "info.json" in table["message"].iloc[0]


def test_a_trace_that_is_missing_is_a_row(tmp_path):
    job = steps.SweepJob(
        tmp_path / "trace.tst", "haswell-sim", "1,2", "full", tmp_path / "c", tmp_path / "s.csv"
    )
    table = steps.sweep_of_trace(job)
    assert table["status"].tolist() == ["failed"] and "trace.tst" in table["message"].iloc[0]
