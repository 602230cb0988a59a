"""Loads of servers, and before/after: who is started, who is ended, what is compared, what is no gain."""

from __future__ import annotations

import math
import os
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.reserve import HugePagesUnavailable
from tessera.measure.suggest import server_load
from tessera.measure.suggest.before_and_after import Metric, Trial, compare_runs, metric_of_run
from tessera.measure.suggest.proposal import trial_lines
from tessera.measure.suggest.server_load import Load, LoadRun, ended_well, number_in

#: Listens after a while, answers, and says goodbye on SIGTERM; argv: port, seconds until it listens.
SERVER = """
import signal, socket, sys, time
signal.signal(signal.SIGTERM, lambda *a: sys.exit(0))
time.sleep(float(sys.argv[2]))
s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    s.accept()[0].close()
"""


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


@pytest.fixture
def server(port):
    def start(*, after: float = 0.2) -> subprocess.Popen:
        return subprocess.Popen([sys.executable, "-c", SERVER, str(port), str(after)])

    return start


# --- loads ----------------------------------------------------------------------------------------------


def test_the_load_starts_when_the_port_answers_and_then_the_server_is_ended(server, port):
    run, started = LoadRun(Load("sleep 0.3; echo rps=12.5", port)), time.monotonic()
    process = server(after=0.4)
    run(process)
    assert process.wait(10) == 0  # its own orderly end
    assert 0.3 <= run.seconds <= time.monotonic() - started - 0.4  # waiting does not count
    assert number_in(run.output, "rps=([0-9.]+)") == 12.5


def test_a_failing_load_is_an_error_with_its_last_words(server, port):
    process = server()
    try:
        with pytest.raises(TesseraError, match="--load .*status 3: cannot"):
            LoadRun(Load("echo cannot; exit 3", port))(process)
    finally:
        process.kill()
        process.wait()


def test_a_server_that_ends_before_it_answers(port):
    process = subprocess.Popen(["sh", "-c", "exit 5"])
    with pytest.raises(TesseraError, match=f"--ready-port {port}: .*status 5 ") as caught:
        LoadRun(Load("true", port))(process)
    assert caught.value.code == "server-exited"


def test_a_server_that_never_answers(monkeypatch, port):
    monkeypatch.setattr(server_load, "READY_TIMEOUT_SECONDS", 0.2)
    process = subprocess.Popen(["sleep", "60"])
    try:
        with pytest.raises(TesseraError, match=rf"--ready-port {port}: .*127\.0\.0\.1 .* \d+ s"):
            LoadRun(Load("true", port))(process)
    finally:
        process.kill()
        process.wait()


def test_a_port_that_answers_already_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        with pytest.raises(TesseraError, match=str(taken.getsockname()[1])) as caught:
            Load("true", taken.getsockname()[1]).require_free_port()
    assert caught.value.code == "port-taken"


@pytest.mark.parametrize(
    "status, load, well",
    [
        (0, None, True),
        (1, None, False),
        (143, None, False),
        (143, Load("true"), True),
        (-15, Load("true"), True),
        (130, Load("true"), False),
        (130, Load("true", None, signal.SIGINT), True),
    ],
)
def test_which_ends_are_successes(status, load, well):
    assert ended_well(status, load) == well


@pytest.mark.parametrize(
    "output, value", [("rps=1\nrps=2.5\n", 2.5), ("none", None), ("rps=.", None), ("", None)]
)
def test_numbers_in_outputs(output, value):
    if value is None:
        with pytest.raises(TesseraError, match="--metric"):
            number_in(output, r"rps=([0-9.]+)")
    else:
        assert number_in(output, r"rps=([0-9.]+)") == value


# --- before and after -----------------------------------------------------------------------------------


def trial(before, after, **metric) -> Trial:
    return Trial(tuple(before), tuple(after), Metric(**metric))


def test_half_the_time_is_a_gain_of_50_percent():
    done = trial([2.0, 4.0, 3.0], [1.0, 2.0, 1.5])
    assert (done.gain.value, done.gain.half_width, done.proven) == (0.5, 0.0, True)
    assert "gain +50.00% +- 0.00% (95% interval, 3 pairs)" in trial_lines(done)


def test_a_rate_gains_when_it_grows():
    done = trial([100.0, 200.0], [110.0, 220.0], pattern="(x)", higher_is_better=True)
    assert done.gain.value == pytest.approx(0.1) and done.proven
    assert trial([110.0, 220.0], [100.0, 200.0], pattern="(x)", higher_is_better=True).gain.value < 0


def test_an_interval_that_contains_0_is_no_gain():
    """Ratios 0.9 and 1.0: t for one degree of freedom is 12.7, so two pairs prove nothing."""
    done = trial([1.0, 1.0], [0.9, 1.0])
    half = math.log(1 / 0.9) / 2
    assert done.gain.value == pytest.approx(1 - math.sqrt(0.9))
    assert done.gain.half_width == pytest.approx(math.sqrt(0.9) * math.expm1(12.7062 * half), rel=1e-4)
    assert not done.proven
    assert "interval contains 0" in trial_lines(done)[-1]


def test_a_loss_is_called_a_loss():
    lines = trial_lines(trial([1.0, 1.0, 1.0], [1.1, 1.1, 1.1]))
    assert "gain -10.00%" in lines[1] and "4KB" in lines[2] and "contains 0" not in lines[2]


def test_one_pair_is_refused(layout):
    with pytest.raises(TesseraError, match="--pairs 1"):
        compare_runs(["true"], layout(), load=None, metric=Metric(), pairs=1, allowed=True)


@pytest.mark.toolchain
def test_pairs_run_both_layouts_and_count_what_the_program_prints(build, layout, tmp_path):
    """Without huge pages nothing need be reserved, so this runs everywhere."""
    seen = []
    metric = Metric(pattern="took=([0-9.]+)")
    code = (
        "import os, sys; print(os.environ['MOSALLOC_LAYOUT'], file=open(sys.argv[1], 'a')); print('took=2.0')"
    )
    program = [sys.executable, "-c", code, str(tmp_path / "seen")]
    path = layout(name="suggested.csv")
    done = compare_runs(program, path, load=None, metric=metric, pairs=3, allowed=False, progress=seen.append)
    assert (done.before, done.after) == ((2.0,) * 3, (2.0,) * 3)
    names = [os.path.basename(line) for line in (tmp_path / "seen").read_text().split()]
    assert sorted(names[:2]) == ["growing-0.csv", "suggested.csv"]  # warm-up
    assert [sorted(names[i : i + 2]) for i in (2, 4, 6)] == [["growing-0.csv", "suggested.csv"]] * 3
    assert len(seen) == 3


@pytest.mark.toolchain
def test_the_time_of_a_program_is_its_wall_time(build, layout):
    seconds = metric_of_run(["sleep", "0.3"], layout(), None, Metric())
    assert 0.3 <= seconds < 1.5


@pytest.mark.toolchain
def test_a_servers_time_is_that_of_its_load(build, layout, port):
    program = [sys.executable, "-c", SERVER, str(port), "0.5"]
    seconds = metric_of_run(program, layout(), Load("sleep 0.2", port), Metric())
    assert 0.2 <= seconds < 0.5


@pytest.mark.toolchain
def test_a_failing_run_is_no_value(build, layout):
    with pytest.raises(TesseraError, match="status 4: sad"):
        metric_of_run([sys.executable, "-c", "print('sad'); exit(4)"], layout(), None, Metric())


@pytest.mark.toolchain
def test_a_run_on_unconfirmed_pages_is_no_value(build, layout):
    """A program that becomes another one can't be checked."""
    path, code = layout(), "import os; os.execvp('true', ['true'])"
    with pytest.raises(TesseraError, match=re.escape(f"--layout {path} -- {sys.executable} -c {code}")):
        metric_of_run([sys.executable, "-c", code], path, None, Metric())


def test_huge_pages_need_consent(monkeypatch, tmp_path, layout):
    for name in ("nr_hugepages", "free_hugepages", "resv_hugepages"):
        pool = tmp_path / "sysfs" / "hugepages-2048kB"
        pool.mkdir(parents=True, exist_ok=True)
        (pool / name).write_text("0\n")
    monkeypatch.setenv("TESSERA_HUGEPAGES_SYSFS", str(tmp_path / "sysfs"))
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path))
    with pytest.raises(HugePagesUnavailable, match="2 free 2MB pages: 0 are free"):
        path = layout("mmap,2MB,0,4MB")
        compare_runs(["true"], path, load=None, metric=Metric(), pairs=2, allowed=False)
