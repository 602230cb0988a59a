"""The study threads-sweep, simulated: n = 1 is the platform's cell, and random loads follow a formula."""

from __future__ import annotations

import json

import pytest

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.layouts.generation import Space
from tessera.core.layouts.layout import write_layout
from tessera.lab.energy import l3_sweep
from tessera.lab.study import Inputs, Recording, Run, read_words, run_study
from tessera.record import traces
from tessera.simulate.runner import CellCache, simulate_platform
from tessera.simulate.sampling import Sampling

from .conftest import POOL

LINES = POOL // 64


@pytest.fixture(scope="module")
def table(random_trace, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    return swept(random_trace, folder, threads="1,2,24")


def swept(trace, folder, **more):
    """The table of the study."""
    values = {"trace": Recording(trace), "platform": platforms.load_platform("haswell-sim")}
    values |= {"cache": CellCache(folder / "cache")} | more
    return run_study(l3_sweep.threads_sweep, Run(folder / "sweep.csv"), values)[0]


def test_one_thread_is_the_platforms_own_cell(table, random_trace, tmp_path):
    layout = tmp_path / "growing-0.csv"
    write_layout(Space.from_trace_info(traces.trace_info(random_trace)).layout("growing-0", 0, 0), layout)
    (cell,) = simulate_platform(
        random_trace, platforms.load_platform("haswell-sim"), [layout], workload="w", engine=l3_sweep.ENGINE,
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
    haswell = platforms.load_platform("haswell-sim")
    inputs = Inputs("w", tmp_path, haswell, (), CellCache(None))
    cell = {"status": "ok", "message": "", "accesses": 1000}
    cell |= {"program_l1d_loads": l1d, "program_dram_loads": dram}
    row = l3_sweep._row(inputs, 1, cell)
    assert row.get("dram_loads") == loads and row["status"] == ("failed" if loads is None else "ok")
    assert loads is None or row["hit_rate"] == 0.6


@pytest.mark.parametrize(
    ("name", "text"), [("info.json", "{}"), ("trace.tst", "no trace"), ("trace.tst", None)]
)
def test_what_is_no_recording_is_refused(tmp_path, name, text):
    """Before anything runs: these are no failures of a recording."""
    if text is not None:
        (tmp_path / name).write_text(text)
    words = [f"trace={tmp_path / name}", "platform=haswell-sim", "threads=1,2"]
    with pytest.raises(TesseraError, match=name):
        read_words("threads-sweep", l3_sweep.threads_sweep, words, tmp_path / "s.csv")


def test_a_failed_recording_is_a_row(tmp_path):
    info = {"workload": "w", "status": "failed", "message": "no memory"}
    (tmp_path / "info.json").write_text(json.dumps(info))
    row = swept(tmp_path / "info.json", tmp_path).iloc[0]
    assert (row["workload"], row["platform"], row["status"]) == ("w", "haswell-sim", "failed")
    assert "no memory" in row["message"]
