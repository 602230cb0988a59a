"""Programs that hang are ended, with the reason and the variable that changes the limit; others are not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from tessera.core.errors import TesseraError
from tessera.core.processes import start_ticks
from tessera.machine.container import engine
from tessera.machine.container import watchdog as module
from tessera.machine.container.process import ContainerProcess, stopped_at_exit
from tessera.machine.container.toolchain import HostToolchain
from tessera.machine.container.watchdog import (
    NO_ANSWER,
    ProgramHangs,
    idle_minutes,
    processor_time,
    run_to_end,
    watchdog,
)
from tessera.machine.reserve import settings
from tessera.measure.counted import counted_run
from tessera.measure.suggest.server_load import Load, LoadRun
from tessera.record.traces import companion, guest, recording
from tessera.record.workloads.execution import execute
from tessera.record.workloads.kinds import scripts
from tessera.record.workloads.program_run import HOST, ProgramRun

SECONDS = 0.6  #: of the limit
SLEEPS = ("sleep", "60")
COMPUTES = ("sh", "-c", "while :; do :; done")


@pytest.fixture(autouse=True)
def short_limit(monkeypatch):
    monkeypatch.setenv("TESSERA_IDLE_MINUTES", str(SECONDS / 60))


@pytest.fixture
def started():
    """Starts a program of this machine; it is ended with the test."""
    made = []

    def start(*argv: str, **keywords) -> subprocess.Popen:
        made.append(HostToolchain().popen(argv, stdout=subprocess.PIPE, text=True, **keywords))
        return made[-1]

    yield start
    for process in made:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()
        process.wait()


def ended(wait) -> ProgramHangs:
    """The error of a call that would wait for a minute."""
    began = time.monotonic()
    with pytest.raises(ProgramHangs) as refused:
        wait()
    assert time.monotonic() - began < 30
    assert refused.value.code == "program-hangs" and refused.value.exit_code == 1
    assert "TESSERA_IDLE_MINUTES=0.02" in refused.value.remedy
    return refused.value


# --- each place that waits for a foreign program ----------------------------------------------------------


def test_a_workload_that_sleeps(tmp_path):
    error = ended(lambda: execute(ProgramRun(SLEEPS, image=HOST), tmp_path))
    assert "sleep 60" in error.asked and "no processor time for 0.01 min" in error.found


def record(tmp_path: Path, *argv: str, grown=lambda: 0, load=None) -> tuple[int, str, str]:
    place = SimpleNamespace(engine=HostToolchain(), command=lambda guest, words: list(words))
    traced, names = SimpleNamespace(environment=dict), SimpleNamespace(names={})
    return recording._run(place, traced, list(argv), [tmp_path], False, load, names, grown)


def test_a_recording_that_sleeps(tmp_path):
    assert "record 'sleep 60'" in ended(lambda: record(tmp_path, *SLEEPS)).asked


def test_a_recorded_server_that_sleeps_and_fails_its_load(tmp_path):
    def load(program):
        program.wait()
        raise TesseraError("load", "the server closed the connection", "x")

    assert "no processor time" in ended(lambda: record(tmp_path, *SLEEPS, load=load)).found


def test_a_recording_of_a_switch_that_is_turned_by_hand_may_wait(tmp_path):
    assert record(tmp_path, "sleep", "1.5", grown=None)[0] == 0


def test_a_real_run_that_sleeps_is_a_failed_run(tmp_path):
    launcher = tmp_path / "launcher"
    launcher.write_text("#!/bin/sh\nexec sleep 60\n")
    launcher.chmod(0o755)
    where = SimpleNamespace(toolchain=lambda run: HostToolchain(), launcher=launcher)
    row = SimpleNamespace(run=ProgramRun(SLEEPS, image=HOST))
    found = counted_run.launched(row, tmp_path / "layout.csv", tmp_path, where, None)
    assert "no processor time" in found.message and 0 < found.seconds < 30


def test_a_script_of_a_benchmark_that_sleeps(tmp_path):
    (tmp_path / "pre_run.sh").write_text("echo prepared\nsleep 60\n")
    assert "pre_run.sh" in ended(lambda: scripts._call("pre_run.sh", tmp_path, {})).asked


def test_a_load_that_sleeps(started):
    """The shell's child, which keeps the output, is ended, too."""
    server = started(*SLEEPS)
    assert "--load 'sleep 60'" in ended(lambda: LoadRun(Load("sleep 60"))(server)).asked


def test_a_counted_run_that_sleeps():
    assert ended(lambda: run_to_end(SLEEPS, "pass 1")).asked == "pass 1"


# --- the rule ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "expected"),
    [(COMPUTES, True), (("sh", "-c", f"sh -c '{COMPUTES[2]}' & sleep 60"), True), (SLEEPS, False)],
)
def test_processor_time_is_that_of_the_program_and_of_all_below_it(started, argv, expected):
    process = started(*argv)
    time.sleep(0.3)
    before, end = processor_time(process), time.monotonic() + (30 if expected else 0.5)
    while (changed := processor_time(process) != before) is not expected or not expected:
        if time.monotonic() > end:
            break
        time.sleep(0.05)
    assert before is not None and changed is expected


@pytest.fixture
def computing(monkeypatch):
    """Every program seems to compute."""
    monkeypatch.setattr(module, "processor_time", lambda process: time.monotonic_ns())


def test_programs_that_compute_are_not_ended_however_long_they_print_nothing(computing):
    assert HostToolchain().run(["sleep", str(3 * SECONDS)], capture=True).returncode == 0


def test_a_loop_without_any_output_is_ended(computing, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SILENT_FACTOR", 3)
    error = ended(lambda: record(tmp_path, *SLEEPS))
    assert "computed for 0.03 min without any output" in error.found


@pytest.mark.parametrize("computes", [True, False])
def test_growth_of_the_trace_is_a_sign_of_life(tmp_path, monkeypatch, computes):
    monkeypatch.setattr(module, "SILENT_FACTOR", 1)
    monkeypatch.setattr(module, "processor_time", lambda process: time.monotonic_ns() if computes else 7)
    assert record(tmp_path, "sleep", str(3 * SECONDS), grown=time.monotonic_ns)[0] == 0


def test_signs_of_a_recording_are_its_lines_and_its_bytes(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(companion, "watchdog", lambda *words: given.append(words[2]) or nullcontext())
    status, out, err = record(tmp_path, "sh", "-c", "echo 1; echo 2; echo 3 >&2", grown=lambda: 5)
    assert (status, out, err, given[0]()) == (0, "1\n2\n", "3\n", (2, 1, 5))


def test_output_that_nobody_takes_is_no_hang_of_the_program(started, monkeypatch):
    """Somebody has paused the terminal or pager that gets it."""
    given, looks = [], []
    monkeypatch.setattr(companion, "watchdog", lambda *words: given.append(words[2]) or nullcontext())
    pager = SimpleNamespace(write=lambda line: looks.append(given[0]() == given[0]()), flush=lambda: None)
    monkeypatch.setattr(companion.sys, "stdout", pager)
    process = started("sh", "-c", "sleep 0.3; echo 1", stderr=subprocess.PIPE)
    companion.communicate(process, True, "x")
    assert looks == [False] and given[0]() == given[0]()


def test_what_is_left_behind_with_the_output_is_ended(started):
    """The program has ended, its child keeps the pipe."""
    process = started("sh", "-c", "sleep 60 & echo $!")
    child = []

    def wait():
        child.append(int(process.stdout.readline()))
        with stopped_at_exit(process), watchdog(process, "x"):
            process.communicate()

    ended(wait)
    deadline = time.monotonic() + 20
    while start_ticks(child[0]) is not None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert start_ticks(child[0]) is None


def test_a_workload_that_leaves_its_output_open(tmp_path):
    run = ProgramRun(("sh", "-c", "timeout 5 sleep 60 & echo x"), image=HOST, verify=lambda done: {})
    assert "kept its output open" in ended(lambda: execute(run, tmp_path)).found


# --- containers -------------------------------------------------------------------------------------------


class Client(ContainerProcess):
    """A client of docker that waits, without a container."""

    def __init__(self):
        super().__init__(["sleep", "60"], name="none")


@pytest.mark.parametrize("answer", ["same", "none", "changes", "refused"])
def test_what_the_engine_says_of_a_container(answer, monkeypatch):
    """Seconds that stand still, or no answer at all, are a hang; a refusal says nothing."""
    asked = []

    def docker(*words, timeout=None):
        asked.append(words)
        if answer == "none":
            raise TesseraError("docker", f"no answer within {timeout} s", "x", code="docker-hangs")
        if words[0] != "top":
            return subprocess.CompletedProcess(words, 1, "", "")
        text = f"PID TIME\n1 {len(asked) if answer == 'changes' else 7}\n"
        return subprocess.CompletedProcess(words, int(answer == "refused"), text, "")

    monkeypatch.setattr(module, "docker", docker)
    monkeypatch.setattr("tessera.machine.container.process.docker", docker)
    client = Client()
    try:
        if answer in ("changes", "refused"):
            with watchdog(client, "x"), pytest.raises(subprocess.TimeoutExpired):
                client.wait(3 * SECONDS)
        else:

            def wait():
                with watchdog(client, "x"):
                    client.wait()

            assert (NO_ANSWER in ended(wait).found) == (answer == "none")
    finally:
        subprocess.Popen.kill(client)
        client.wait()
    assert ("top", "none", "-eo", "pid,cputimes") in asked


# --- the variable -----------------------------------------------------------------------------------------


def test_no_limit(monkeypatch):
    monkeypatch.setenv("TESSERA_IDLE_MINUTES", "0")
    assert HostToolchain().run(["sleep", "1"], capture=True).returncode == 0


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "1 hour"])
def test_a_wrong_limit_is_refused(monkeypatch, value):
    monkeypatch.setenv("TESSERA_IDLE_MINUTES", value)
    with pytest.raises(TesseraError, match="TESSERA_IDLE_MINUTES") as refused:
        idle_minutes()
    assert value in refused.value.asked and refused.value.exit_code == 2


@pytest.mark.parametrize(("value", "minutes"), [(None, 60), ("", 60), ("90", 90), ("0.5", 0.5)])
def test_the_limit(monkeypatch, value, minutes):
    monkeypatch.delenv("TESSERA_IDLE_MINUTES")
    if value is not None:
        monkeypatch.setenv("TESSERA_IDLE_MINUTES", value)
    assert idle_minutes() == minutes


# --- programs of this machine that are asked for a line ----------------------------------------------------


def test_tools_that_say_nothing(tmp_path, monkeypatch):
    """ldd runs the program's own loader, a compiler may be a wrapper, a command may lie on a dead server."""
    for name in ("ldd", "apptainer", "systemctl"):
        (tmp_path / name).write_text("#!/bin/sh\nexec sleep 60\n")
        (tmp_path / name).chmod(0o755)
    engine.require_apptainer.cache_clear()
    monkeypatch.setattr(engine, "COMMAND_TIMEOUT_SECONDS", 0.5)
    monkeypatch.setattr(settings, "_COMMAND_SECONDS", 0.5)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(guest, "LDD_SECONDS", 0.5)
    monkeypatch.setattr(sys.modules[HostToolchain.__module__], "VERSION_SECONDS", 0.5)
    with pytest.raises(TesseraError, match="within 0.5 s") as program:
        guest.libraries_of(Path("/bin/true"))
    with pytest.raises(TesseraError, match="within 0.5 s") as version:
        sys.modules[HostToolchain.__module__]._first_line(["ldd", "--version"])
    with pytest.raises(TesseraError, match="within 0.5 s") as apptainer:
        engine.require_apptainer()
    with pytest.raises(TesseraError, match="within 0.5 s") as service:
        settings._command(["systemctl", "stop", "irqbalance"])
    assert apptainer.value.code == "apptainer-does-not-work" and service.value.code == "settings/rejected"
    assert "ldd /bin/true" in program.value.remedy and "ldd --version" in version.value.asked
