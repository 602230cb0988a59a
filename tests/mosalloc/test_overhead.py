"""The cost of the allocator: medians over hand-made pairs, the order of runs, and what a real run reports."""

from __future__ import annotations

import shutil
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.lab.allocator import allocator
from tessera.core.errors import TesseraError
from tessera.core.results.machine_tables import ALLOCATOR
from tessera.lab.allocator_proof import overhead
from tessera.lab.allocator_proof.overhead import (
    CostProgram,
    TimeAndMemory,
    measure_overheads,
    overheads,
    run_once,
)
from tessera.machine import program_paths
from tessera.measure.mosalloc.pools import ACTIVE, MAGIC, library_started


def runs(*costs: tuple[int, int, int, int]) -> pd.DataFrame:
    """Pairs of one workload: glibc's memory and time, mosalloc's memory and time."""
    rows = []
    for pair, (m0, t0, m1, t1) in enumerate(costs):
        rows += [("w", "glibc", pair, m0, t0, "measured"), ("w", "mosalloc", pair, m1, t1, "measured")]
    return pd.DataFrame(rows, columns=list(ALLOCATOR.names))


def test_the_median_pair_decides_not_an_outlier():
    table = overheads(runs((100, 50, 102, 51), (100, 50, 102, 500), (200, 40, 202, 40))).set_index("quantity")
    assert table.loc["memory_bytes", "overhead"] == pytest.approx(0.02)
    assert table.loc["cpu_ns", "overhead"] == pytest.approx(0.02)
    assert table.loc["memory_bytes", ["glibc", "mosalloc", "pairs"]].tolist() == [100, 102, 3]
    assert table["low"].isna().all()  # three pairs give no 95% interval


def test_half_a_pair_does_not_count():
    table = runs((100, 50, 101, 50), (100, 50, 150, 90)).drop(index=3)
    assert overheads(table).set_index("quantity").loc["memory_bytes", ["overhead", "pairs"]].tolist() == [
        pytest.approx(0.01),
        1,
    ]


@pytest.fixture
def files(monkeypatch, tmp_path):
    """No build is needed: any name of a component stands for itself."""
    monkeypatch.setattr(overhead, "built", lambda component, name: tmp_path / name)
    return tmp_path


def test_each_pair_has_both_sides_and_only_one_has_the_library(files):
    seen = []

    def run(argv, library):
        seen.append((argv[0].rsplit("/", 1)[-1], "LD_PRELOAD" in library))
        return TimeAndMemory(1000 + 10 * ("LD_PRELOAD" in library), 7)

    table = measure_overheads(
        files, (CostProgram("a/1", ("a",)), CostProgram("b/1", ("b",))), pairs=3, seconds=60, run=run
    )
    assert sorted(seen) == sorted([("a", False), ("a", True), ("b", False), ("b", True)] * 3)
    assert list(table.columns) == list(ALLOCATOR.names) and set(table["provenance"]) == {"measured"}
    memory = overheads(table).query("quantity == 'memory_bytes'")
    assert memory["overhead"].tolist() == pytest.approx([0.01, 0.01])


def test_when_the_time_is_up_every_program_has_one_pair(files):
    programs = tuple(CostProgram(name, (name,)) for name in "abc")
    table = measure_overheads(
        files, programs, pairs=9, seconds=0, run=lambda argv, library: TimeAndMemory(1, 1)
    )
    assert sorted(table["workload"]) == ["a", "a", "b", "b", "c", "c"]


def test_a_real_run_is_measured_by_its_own_peak_not_the_callers():
    """This process is larger than the program, whose peak it must not inherit."""
    size = 48 << 20
    small = run_once([sys.executable, "-I", "-S", "-c", "pass"], {})
    large = run_once([sys.executable, "-I", "-S", "-c", f"x = bytearray({size})"], {})
    assert small.memory_bytes < 30 << 20
    assert abs(large.memory_bytes - small.memory_bytes - size) <= 4 << 20
    assert large.cpu_ns > 0


def test_variables_reach_the_program():
    code = "import os, sys; sys.exit(0 if os.environ['A'] == 'b=c' else 3)"
    run_once([sys.executable, "-I", "-S", "-c", code], {"A": "b=c"})
    with pytest.raises(TesseraError, match="status 3"):
        run_once([sys.executable, "-I", "-S", "-c", code], {"A": "other"})


def test_a_program_that_is_not_there_is_named():
    with pytest.raises(TesseraError, match="/no/such/program"):
        run_once(["/no/such/program"], {})


@pytest.mark.toolchain
def test_the_command_writes_every_run(tmp_path):
    try:
        overhead.built("mosalloc", "libmosalloc.so"), overhead.built("workloads", "gups")
    except TesseraError as error:
        pytest.skip(f"{error.found}; {error.remedy}")
    out = tmp_path / "host" / "allocator.csv"
    done = CliRunner().invoke(allocator, ["overhead", "--out", str(out), "--pairs", "1", "--seconds", "0"])
    assert done.exit_code == 0, done.output
    table = pd.read_csv(out)
    assert len(table) == 2 * len(overhead.PROGRAMS) and (table["memory_bytes"] > 8 << 20).all()
    assert "gups/32MB" in done.output and "pairs (1)" in done.output


@pytest.mark.parametrize("words", [["pass"], ["import sys; sys.stderr.write('why')"]], ids=["silent", "said"])
def test_a_program_without_the_library_is_found(tmp_path, words):
    """Else both sides would be plain glibc, and the table would show no overhead."""
    argv = [sys.executable, "-I", "-S", "-c", *words]
    library = {"LD_PRELOAD": "", "MOSALLOC_POOL_MAP": str(tmp_path / "pools")}
    with pytest.raises(TesseraError) as refused:
        run_once(argv, library)
    assert refused.value.code == "not-preloaded" and refused.value.exit_code == 1
    assert ("why" in refused.value.found) == ("why" in words[0])


def test_a_map_of_an_earlier_run_proves_nothing(tmp_path):
    pools = tmp_path / "pools"
    np.array([MAGIC, 1, ACTIVE, 0, 0], dtype="<u8").tofile(pools)
    assert library_started(pools)
    with pytest.raises(TesseraError) as refused:
        run_once([sys.executable, "-I", "-S", "-c", "pass"], {"MOSALLOC_POOL_MAP": str(pools)})
    assert refused.value.code == "not-preloaded" and not library_started(pools)


@pytest.mark.toolchain
def test_a_library_below_a_folder_with_spaces_is_preloaded(monkeypatch, tmp_path):
    """And the command's guard sees that it is: a row of each side."""
    try:
        real = {name: overhead.built("mosalloc", name) for name in ("libmosalloc.so", "mosalloc-run")}
        gups = overhead.built("workloads", "gups")
    except TesseraError as error:
        pytest.skip(f"{error.found}; {error.remedy}")
    folder = tmp_path / "a folder with spaces"
    folder.mkdir()
    for name, path in real.items():
        shutil.copy2(path, folder / name)
    places = {"mosalloc": folder, "workloads": gups.parent}
    for module in (overhead, program_paths):
        monkeypatch.setattr(module, "built", lambda component, name: places[component] / name)
    program = CostProgram("gups/1MB", ("gups", "--size", "1MB", "--reads", "1000"))
    table = measure_overheads(tmp_path, (program,), pairs=1, seconds=0)
    assert table["allocator"].tolist().count("mosalloc") == 1 and len(table) == 2
