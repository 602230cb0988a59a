"""Costs of the simulator: medians and ratios of runs whose times are given, and a real run's own numbers."""

from __future__ import annotations

import itertools

import pytest

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.files import build_dir
from tessera.core.results.os_tables import SIMULATOR_COSTS
from tessera.core.results.table_io import read_file
from tessera.lab.faults import virtuoso_runs

from .builders import inputs, lab_run

#: (seconds, bytes) without and with the kernel's work, run by run; the last pair ran on a slower machine.
TAKEN = {False: [(2.0, 100), (2.2, 100), (4.0, 104)], True: [(3.0, 150), (3.3, 151), (7.0, 150)]}


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """A simulator that takes what :data:`TAKEN` says, and refuses logs of the name `bad`."""
    calls = []
    taken = {weaves: itertools.cycle(values) for weaves, values in TAKEN.items()}

    def run(job, logs, keep, progress):
        (log,) = logs
        weaves = job.weave is not None
        calls.append((log.stem, weaves, job.platforms[0].values["memory.allocator"].value))
        seconds, size = next(taken[weaves])
        row = {"status": "ok", "message": "", "instructions": 1000, "accesses": 100}
        if weaves:
            row["kernel"] = [{"kernel_instructions": 500, "kernel_loads": 60, "kernel_stores": 40}]
        if log.stem == "bad":
            row = {"status": "failed", "message": "no template of kind SWAP-4"}
        keep(0, log, row, [], [])
        job.usage.write_text(
            f"wall_seconds,processor_seconds,peak_memory_bytes\n{2 * seconds},{seconds},{size}\n"
        )

    monkeypatch.setattr(virtuoso_runs, "run_simulator", run)
    monkeypatch.setattr(virtuoso_runs, "built", lambda *_: tmp_path / "tessera-sim")

    def rows(*names):
        files = [tmp_path / f"{name}.oslog" for name in names]
        for file in files:
            file.write_bytes(b"log")
        made = inputs(platforms.load_platform("haswell-sim"), files)
        return virtuoso_runs.cost_rows(made, b"t", 3, tmp_path)

    rows.calls = calls
    return rows


def test_medians_and_ratios_of_alternating_runs(asked):
    (row,) = asked("thp-never")
    assert asked.calls == [("thp-never", False, "mapped"), ("thp-never", True, "mapped")] * 3
    assert (row["plain_seconds"], row["woven_seconds"]) == (2.2, 3.3)
    assert (row["woven_seconds_low"], row["woven_seconds_high"]) == (3.0, 7.0)
    assert (row["plain_memory_bytes"], row["woven_memory_bytes"]) == (100, 150) and row["memory_ratio"] == 1.5
    assert row["slowdown"] == pytest.approx(1.5)  # of pairs: 1.5, 1.5 and 1.75
    assert row["instruction_ratio"] == 1.5 and row["time_per_instruction_ratio"] == pytest.approx(1)
    assert row["access_ratio"] == 2 and row["time_per_access_ratio"] == pytest.approx(0.75)
    assert row["provenance"] == "measured"


def test_a_log_that_cannot_be_simulated_has_no_cost(asked):
    with pytest.raises(TesseraError, match="SWAP-4") as error:
        asked("thp-never", "bad")
    assert "bad" in str(error.value)


@pytest.mark.toolchain
def test_the_command_measures_a_recorded_program(root, tmp_path):
    for component, name in (("imitation", "tessera-os"), ("simulator", "tessera-sim")):
        if not (build_dir(component) / name).exists():
            pytest.skip(f"build/{component}/{name} is missing: ./run tessera dev build {component}")
    trace = root / "tests" / "traces" / "examples" / "phases.tst"
    words = [f"trace={trace}", "platform=haswell-sim", "scenarios=thp-never", "repeats=1"]
    done = lab_run("virtuoso-costs", *words, out=tmp_path)
    assert done.exit_code == 0 and "time/instr." in done.output, done.output
    (row,) = read_file(SIMULATOR_COSTS, tmp_path / SIMULATOR_COSTS.file).to_dict("records")
    assert row["instruction_ratio"] > 1 and row["kernel_accesses"] > 0
    assert row["woven_seconds"] > 0 and row["plain_memory_bytes"] > 1 << 20
