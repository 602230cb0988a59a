"""``tessera lab threads measure`` with a fake sysfs tree and a fake perf: order, counts, energy, refusals."""

from __future__ import annotations

import os

import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.lab.threads import threads as command
from tessera.core.errors import TesseraError
from tessera.lab.energy import thread_measurement
from tessera.lab.energy.guz_model import THREADS_COLUMNS

from .trees import programs, two_sockets


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Two sockets, perf and taskset by formula; a program that needs (20 + threads) J of socket 0."""
    root = tmp_path / "root"
    two_sockets(root)
    programs(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("TESSERA_MACHINE_ROOT", str(root))
    program = tmp_path / "program"
    counter = root / "sys/class/powercap/intel-rapl:0/energy_uj"
    program.write_text(
        f"#!/bin/sh\nold=$(cat {counter})\necho $((old + 20000000 + $1 * 1000000)) > {counter}\nsleep 0.02\n"
    )
    program.chmod(0o755)
    return program


def runs(program, **changes):
    root = changes.pop("root", None) or program.parent / "root"
    asked = {
        "words": [str(program), "{threads}"], "threads": [1, 2, 4], "socket": 0, "repeats": 2, "idle_s": 0.01,
        "backend": "powercap", "root": root,
    }  # fmt: skip
    return thread_measurement.RepeatedRuns(**asked | changes)


def test_counts_energy_and_order(machine):
    table = thread_measurement.measure_threads(runs(machine))
    assert len(table) == 6 and set(table["provenance"]) == {"measured"}
    for _, part in table.groupby("round"):
        assert sorted(part["threads"]) == [1, 2, 4]
    orders = {
        tuple(part["threads"])
        for _, part in thread_measurement.measure_threads(runs(machine, repeats=6)).groupby("round")
    }
    assert len(orders) > 1
    by = table.groupby("threads").mean(numeric_only=True)
    assert by["energy_j"].to_dict() == pytest.approx({1: 21, 2: 22, 4: 24})
    assert by["instructions"].to_dict() == {1: 1000, 2: 2000, 4: 4000}
    assert by["llc_misses"].to_dict() == {1: 10, 2: 20, 4: 40} and (by["idle_w"] == 0).all()


def test_energy_of_one_socket_by_perf(machine):
    device = machine.parent / "root/sys/bus/event_source/devices/power"
    device.mkdir(parents=True)
    (device / "type").write_text("9\n")
    table = thread_measurement.measure_threads(runs(machine, backend="perf"))
    assert table.groupby("threads")["energy_j"].mean().to_dict() == pytest.approx({1: 31, 2: 32, 4: 34})
    other = thread_measurement.measure_threads(runs(machine, backend="perf", socket=1))
    assert set(other["energy_j"]) == {7.0}


def test_processors_of_a_socket(machine):
    assert thread_measurement.processors(1, machine.parent / "root") == [4, 5, 6, 7]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"threads": [4]}, "runs-threads"),
        ({"threads": [1, 9]}, "threads-many"),
        ({"socket": 3}, "socket"),
        ({"words": ["program", "4"]}, ""),
        ({"backend": "perf"}, "rapl-absent"),
    ],
)
def test_refused_before_the_first_run(machine, changes, code):
    with pytest.raises(TesseraError) as caught:
        thread_measurement.measure_threads(runs(machine, **changes))
    assert caught.value.code == code


def test_no_rapl(machine, tmp_path):
    for zone in (tmp_path / "root/sys/class/powercap").glob("intel-rapl*"):
        (zone / "name").unlink(missing_ok=True)
    with pytest.raises(TesseraError) as caught:
        thread_measurement.measure_threads(runs(machine))
    assert caught.value.code == "rapl-absent"


def test_an_event_that_is_not_supported(machine, tmp_path):
    programs(tmp_path / "bin", 'lambda event, n: "<not supported>" if event == "LLC-loads" else 5')
    with pytest.raises(TesseraError, match="LLC-loads") as caught:
        thread_measurement.measure_threads(runs(machine))
    assert caught.value.code == "event-not-counted"


def test_a_program_that_fails(machine):
    machine.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(TesseraError, match="3") as caught:
        thread_measurement.measure_threads(runs(machine))
    assert caught.value.code == "run-failed"


def test_the_command(machine, tmp_path):
    words = ["measure", "--threads", "1,2", "--repeats", "2", "--idle-seconds", "0.01", "--out"]
    words += [
        str(tmp_path / "runs.csv"),
        "--curve",
        str(tmp_path / "threads.csv"),
        "--",
        str(machine),
        "{threads}",
    ]
    done = CliRunner().invoke(command, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    curve = pd.read_csv(tmp_path / "threads.csv")
    assert tuple(curve.columns) == THREADS_COLUMNS and curve["threads"].tolist() == [1, 2]
    assert curve["ipj"].tolist() == pytest.approx([1000 / 21, 2000 / 22])
    assert set(curve["provenance"]) == {"measured"} and set(curve["machine"]) == {"socket-0"}


def test_a_failure_keeps_the_rounds_before_it(machine, tmp_path):
    """The seventh run fails: two rounds of three numbers of threads are in the file."""
    count = tmp_path / "count"
    text = machine.read_text()
    machine.write_text(f"{text}echo x >> {count}\n[ $(wc -l < {count}) -lt 7 ]\n")
    words = ["measure", "--threads", "1,2,4", "--repeats", "3", "--idle-seconds", "0.01", "--out"]
    done = CliRunner().invoke(command, [*words, str(tmp_path / "runs.csv"), "--", str(machine), "{threads}"])
    assert done.exit_code != 0 and done.exception.code == "run-failed"
    assert pd.read_csv(tmp_path / "runs.csv")["round"].tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("option", ["--out", "--curve"])
def test_a_file_that_cannot_be_written_is_refused_before_the_first_run(machine, tmp_path, option):
    files = {"--out": tmp_path / "runs.csv", "--curve": tmp_path / "c.csv"} | {option: tmp_path}
    machine.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    words = ["measure", "--threads", "1,2", *(str(word) for pair in files.items() for word in pair)]
    done = CliRunner().invoke(command, [*words, "--", str(machine), "{threads}"])
    assert done.exit_code != 0 and str(tmp_path) in str(done.exception)
    assert not (tmp_path / "ran").exists()


def test_predict_prints_and_writes(tmp_path):
    words = ["predict", "--machine", "opera-e7-4830v3", "--threads", "1,24", "--cache", "4MB", "--out"]
    done = CliRunner().invoke(command, [*words, str(tmp_path / "c.csv")], catch_exceptions=False)
    assert done.exit_code == 0
    curve = pd.read_csv(tmp_path / "c.csv")
    assert curve["threads"].tolist() == [1, 24] and curve["llc_miss_rate"].is_monotonic_increasing
