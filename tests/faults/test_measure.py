"""A real tiny run of the program, and the tables and commands around it."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from tessera.cli.lab.faults import faults
from tessera.core.errors import TesseraError
from tessera.core.results.os_tables import FAULT_LATENCY
from tessera.core.results.table_io import read_file
from tessera.core.results.tree import ResultsTree
from tessera.lab.faults import measured as measuring
from tessera.lab.faults.kinds import KINDS, kind_named
from tessera.lab.faults.latencies import read_cycles
from tessera.lab.faults.measured import FaultProgramSettings, measure_kinds

MB = 1 << 20


@pytest.fixture(scope="module")
def program(root, tmp_path_factory):
    """The program, compiled by this machine's compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler on this machine")
    out = tmp_path_factory.mktemp("program") / "tessera-faults"
    sources = sorted((root / "artifacts" / "faults").glob("*.c"))
    subprocess.run([compiler, "-std=gnu17", "-O2", "-D_GNU_SOURCE", "-o", out, *sources], check=True)
    return out


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS if not kind.huge])
def test_a_tiny_real_run(program, tmp_path, kind):
    """2MB are 512 touches; a fault takes longer than the clock itself."""
    out = tmp_path / "out.csv"
    command = [
        program,
        "--kind",
        kind,
        "--out",
        out,
        "--size",
        str(2 * MB),
        "--passes",
        "3",
        "--folder",
        tmp_path,
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if "invariant" in done.stderr:
        pytest.skip("this machine has no invariant TSC")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    cycles = read_cycles(out, 3, 512)
    assert said["touches"] == 512 and len(said["passes"]) == 3
    assert 1e8 < said["tsc_hertz"] < 1e10 and cycles.min() >= said["clock_cycles"] > 0
    if kind_named(kind).faults:
        assert all(one["minor_faults"] >= 512 for one in said["passes"])


def test_a_fault_takes_longer_than_a_touch_of_a_mapped_page(program, tmp_path):
    median = {}
    for kind in ("write-4kb", "touch-again"):
        command = [program, "--kind", kind, "--out", tmp_path / kind, "--size", str(4 * MB), "--passes", "2"]
        done = subprocess.run(command, capture_output=True, text=True)
        if "invariant" in done.stderr:
            pytest.skip("this machine has no invariant TSC")
        values = read_cycles(tmp_path / kind, 2, 1024)[1]
        median[kind] = sorted(values.tolist())[512]
    assert median["write-4kb"] > 2 * median["touch-again"]


class Tools:
    """Stands for the toolchain: writes series of its own."""

    def __init__(self, outside):
        self.outside = outside

    def run(self, command, *, capture, options):
        words = [str(word) for word in command]
        asked = dict(zip(words[1::2], words[2::2], strict=True))
        passes, size = int(asked["--passes"]), int(asked["--size"])
        touches = size // (2 * MB if asked["--kind"] == "write-2mb" else 4096)
        assert options.writes == (Path(asked["--out"]).parent,)
        with open(asked["--out"], "w") as stream:
            stream.write("pass,touch,tsc_cycles\n")
            for number in range(passes):
                for touch in range(touches):
                    slow = touch < int(self.outside * touches)
                    stream.write(f"{number},{touch},{9_000_000 if slow else 2000 + touch % 7}\n")
        facts = [{"minor_faults": touches, "major_faults": 0, "huge_bytes": size}] * passes
        said = {"touches": touches, "tsc_hertz": 2e9, "clock_cycles": 40, "passes": facts}
        return subprocess.CompletedProcess(words, 0, json.dumps(said), "")


@pytest.fixture
def good(monkeypatch):
    """A machine that has everything."""
    monkeypatch.setattr(measuring, "require", lambda *_, **__: None)
    monkeypatch.setattr("tessera.lab.faults.measured.built", lambda *_: "tessera-faults")
    return FaultProgramSettings(4 * MB, 4, 1, measuring.processor_of(None))


def test_the_tables_and_what_show_prints(good, tmp_path):
    measure_kinds(Tools(0.01), KINDS, good, tmp_path, print, keep=tmp_path / "series")
    latency = read_file(FAULT_LATENCY, ResultsTree(tmp_path).host_faults("latency"))
    assert set(latency["kind"]) == {kind.name for kind in KINDS} and set(latency["passes"]) == {3}
    # Values 2000 to 2006 in equal shares, at 2 GHz.
    middle = latency[(latency["kind"] == "write-4kb") & (latency["share"] == 0.5)].iloc[0]
    assert (middle["tsc_cycles"], middle["ns"]) == (2003, 1001.5)
    assert len(list((tmp_path / "series").glob("*.csv"))) == len(KINDS)
    shown = CliRunner().invoke(faults, ["show", str(tmp_path)])
    assert shown.exit_code == 0 and "page table" in shown.output and "2.000 GHz" in shown.output


def test_too_few_passes_leave_the_tables_and_a_reason(good, tmp_path):
    with pytest.raises(TesseraError) as error:
        measure_kinds(Tools(0.2), [kind_named("write-4kb")], good, tmp_path, print)
    assert error.value.code == "too-few-passes" and error.value.exit_code == 1
    assert "write-4kb" in error.value.found and ResultsTree(tmp_path).host_faults("passes").exists()


@pytest.mark.parametrize(
    ("options", "value"),
    [(["--size", "3MB"], "3MB"), (["--size", "0"], "0"), (["--passes", "3", "--warmup", "2"], "--warmup 2")],
)
def test_wrong_requests(tmp_path, options, value):
    done = CliRunner().invoke(faults, ["measure", "--out", str(tmp_path), *options])
    assert isinstance(done.exception, TesseraError) and value in done.exception.asked


def test_show_without_a_measurement(tmp_path):
    done = CliRunner().invoke(faults, ["show", str(tmp_path)])
    assert isinstance(done.exception, TesseraError) and "fault_environment.csv" in str(done.exception)
