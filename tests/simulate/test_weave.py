"""``tessera simulate --os LOG --weave``: options, cached cells, and a recorded program with kernel work."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.simulate import simulate as command
from tessera.core.errors import TesseraError
from tessera.core.files import build_dir
from tessera.core.platforms import Platform, Value
from tessera.core.results.table_io import read_cells
from tessera.simulate import runner
from tessera.simulate.inputs import LOG
from tessera.simulate.runner import CellCache
from tessera.simulate.sampling import FULL
from tessera.simulate.simulator import (
    FAULT_TIME_COLUMNS,
    FAULT_TIMES,
    KERNEL,
    KERNEL_COLUMNS,
    SimulatorOutput,
)
from tests.in_process import tessera

RECORDING = "artifacts/kernel-stream/recording"
NEEDED = (("imitation", "tessera-os"), ("simulator", "tessera-sim"), ("tracer", "tessera-trace"))


def test_a_row_comes_with_the_kernels_counts(tmp_path):
    for name in ("units.csv", "designs.csv"):
        (tmp_path / name).write_text("layout\n")
    (tmp_path / "kernel.csv").write_text(",".join(KERNEL_COLUMNS) + "\nlog-0,9,4,3,2,1,70" + "," * 9 + "\n")
    kept = []
    rows = SimulatorOutput(
        tmp_path, {"log-0": Path("a.oslog")}, lambda _, __, row, *___: kept.append(row), {}, [KERNEL]
    )
    rows.line("layout,status,message\n")
    rows.line("log-0,ok,\n")
    (line,) = kept[0]["kernel"]
    assert line["kernel_instructions"] == 9 and line["kernel_walk_cycles"] == 70
    assert line["kernel_cycles"] is None


def test_a_row_comes_with_the_times_of_its_faults(tmp_path):
    for name, columns in (("units", "layout"), ("designs", "layout"), ("kernel", "layout,kernel_cycles")):
        (tmp_path / f"{name}.csv").write_text(f"{columns}\n")
    lines = ["log-0,0,5,77,write-4kb,4096,1,0,3100", "log-0,3,9,512,write-2mb,2097152,0,0,90000"]
    text = "\n".join([",".join(FAULT_TIME_COLUMNS), *lines, ""])
    (tmp_path / "fault-times.csv").write_text(text)
    kept = []
    rows = SimulatorOutput(
        tmp_path, {"log-0": Path("a.oslog")}, lambda _, __, row, *___: kept.append(row), {},
        [KERNEL, FAULT_TIMES],
    )  # fmt: skip
    rows.line("layout,status,message\n")
    rows.line("log-0,ok,\n")
    first, second = kept[0]["fault_times"]
    assert first["kind"] == "write-4kb" and first["cycles"] == 3100 and second["page_bytes"] == 2 << 20


def test_cells_with_and_without_kernel_work_are_different_cells(tmp_path, monkeypatch):
    calls = []

    def fake(job, layouts, keep, progress):
        calls.append((job.weave, job.check_tables))
        for path in layouts:
            row = {"status": "ok", "message": ""} | (
                {"kernel": [{"kernel_instructions": 5}]} if job.weave else {}
            )
            row |= {"fault_times": [{"fault": 0, "cycles": 3100}]} if job.fault_times else {}
            keep(0, path, row, [], [])

    (tmp_path / "tessera-sim").write_text("binary")
    (tmp_path / "a.oslog").write_text("log")
    (tmp_path / "t.tst").write_text("trace")
    monkeypatch.setattr(runner, "_run", fake)
    monkeypatch.setattr(runner, "built", lambda *_: tmp_path / "tessera-sim")
    monkeypatch.setattr(runner, "trace_identity", lambda trace: "trace")
    monkeypatch.setattr(runner, "trace_note", lambda trace: "")
    platform = Platform("p", "test", "none", {"tlb.entries": Value(64, "assumed: test")})

    def run(weave, check=False, times=None):
        kernel = []
        (rows,) = runner.simulate_all(
            tmp_path / "t.tst", [platform], [tmp_path / "a.oslog"], workload="w", engine="timing",
            sampling=FULL, cache=CellCache(tmp_path / "c"), kind=LOG, weave=weave, check_tables=check,
            kernel=kernel, fault_times=times,
        )  # fmt: skip
        assert "kernel" not in rows[0]
        return kernel[0]

    expected = [{"platform": "p", "layout": "a", "kernel_instructions": 5}]
    assert [run(None), run(b"one"), run(b"one"), run(b"two"), run(None)] == [
        [],
        expected,
        expected,
        expected,
        [],
    ]
    assert run(b"one", check=True) == expected
    assert calls == [(None, False), (b"one", False), (b"two", False), (b"one", True)]
    for _ in range(2):  # the cell of "one" lacks times: it is simulated once more
        times = []
        assert run(b"one", times=times) == expected
        assert times == [[{"platform": "p", "layout": "a", "fault": 0, "cycles": 3100}]]
    assert calls[4:] == [(b"one", False)]
    assert run(b"one") == expected


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--write", "kernel=/tmp/k.csv", "--os", "x"], "--write kernel"),
        (["--check-tables", "--os", "x"], "--check-tables"),
        (["--write", "fault-times=/tmp/t.csv", "--os", "x"], "--write fault-times"),
        (["--weave", RECORDING, "--layouts", "x"], "--weave"),
        (["--weave", "no-such-folder", "--os", "x"], "recording.json"),
    ],
)
def test_options_that_cannot_be_are_named(words, found):
    done = CliRunner().invoke(
        command, ["--trace", "t.tst", "--platform", "haswell-sim", "--out", "/tmp/o.csv", *words]
    )
    assert isinstance(done.exception, TesseraError) and found in str(done.exception)


@pytest.mark.toolchain
def test_kernel_work_of_a_recorded_program(root, tmp_path):
    """The same cell on three engines; R grows by the kernel's cycles and what its accesses displace."""
    for component, name in NEEDED:
        if not (build_dir(component) / name).exists():
            pytest.skip(f"build/{component}/{name} is missing: ./run tessera dev build {component}")
    trace, log = root / "tests" / "traces" / "examples" / "phases.tst", tmp_path / "thp-never.oslog"
    assert (
        tessera("lab", "os", "run", "--trace", trace, "--scenario", "thp-never", "--out", log).returncode == 0
    )

    def cells(name, *words):
        done = tessera(
            "simulate", "--trace", trace, "--platform", "haswell-sim", "--os", log, "--sampling", "full",
            "--set", "memory.allocator=mapped", "--out", tmp_path / f"{name}.csv", *words,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return read_cells(tmp_path / f"{name}.csv").iloc[0]

    kernel, times = {}, {}
    for engine in ("partial", "timing", "reference"):
        out = tmp_path / f"kernel-{engine}.csv"
        latencies = ["--write", f"fault-times={tmp_path}/times-{engine}.csv"] if engine != "partial" else []
        woven = cells(engine, "--engine", engine, "--weave", root / RECORDING, "--write", f"kernel={out}",
                      "--write", f"faults={tmp_path}/faults.csv", *latencies)  # fmt: skip
        if latencies:
            times[engine] = pd.read_csv(tmp_path / f"times-{engine}.csv")
        kernel[engine] = pd.read_csv(out).iloc[0]
        assert (kernel[engine].drop("kernel_cycles") == kernel["partial"].drop("kernel_cycles")).all()
    checked = cells("checked", "--engine", "partial", "--weave", root / RECORDING, "--check-tables")
    assert checked.walk_cycles == read_cells(tmp_path / "partial.csv").iloc[0].walk_cycles
    plain, timed = cells("plain", "--engine", "timing"), read_cells(tmp_path / "timing.csv").iloc[0]
    assert timed.runtime_cycles == woven.runtime_cycles
    assert kernel["timing"].kernel_cycles == kernel["reference"].kernel_cycles
    assert timed.instructions == plain.instructions and timed.accesses == plain.accesses
    assert timed.runtime_cycles > plain.runtime_cycles + kernel["timing"].kernel_cycles / 2
    faults = pd.read_csv(tmp_path / "faults.csv")
    least = 1031 * (faults.kind == "zero").sum() + 1875 * (faults.kind == "page").sum()
    assert kernel["timing"].kernel_instructions >= least > 0
    assert times["timing"].equals(times["reference"]) and len(times["timing"]) == len(faults)
    assert times["timing"]["cycles"].sum() == kernel["timing"].kernel_cycles
    assert list(times["timing"].columns) == ["platform", *FAULT_TIME_COLUMNS]
    done = tessera(
        "simulate", "--trace", trace, "--platform", "haswell-sim", "--os", log, "--sampling", "full",
        "--set", "memory.allocator=mapped", "--weave", root / RECORDING, "--engine", "partial",
        "--write", f"fault-times={tmp_path}/t.csv", "--out", tmp_path / "none.csv",
    )  # fmt: skip
    assert done.returncode != 0 and "--write fault-times" in done.stderr and "partial" in done.stderr
