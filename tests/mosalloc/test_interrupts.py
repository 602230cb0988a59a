"""Ctrl-C and kill: a program that saves its data gets the signal once and the time that it needs."""

from __future__ import annotations

import os
import pty
import signal
import sys
import time
from pathlib import Path

import pytest

from tessera.core.units import PAGE_2MB
from tessera.machine.reserve import pools
from tessera.measure.mosalloc.launcher import Forwarder

pytestmark = pytest.mark.toolchain

#: Longer than the 0.25 s that Python's subprocess.run gives a child after Ctrl-C.
SAVE_SECONDS, WATCHDOG_SECONDS, STATUS = 0.8, 30, 7
PROGRAM = f"""
import signal, sys, time
from pathlib import Path
folder, count = Path(sys.argv[1]), 0
def received(number, frame):
    global count
    count += 1
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, received)
(folder / "ready").write_text("")
while not count:
    time.sleep(0.01)
time.sleep({SAVE_SECONDS})
(folder / "saved").write_text(str(count))
raise SystemExit({STATUS})
"""
FRONTS = {
    "launcher": lambda build, folder: [build / "mosalloc-run"],
    "run": lambda build, folder: [sys.executable, "-m", "tessera", "mosalloc", "run"],
    "reserve": lambda build, folder: [sys.executable, "-m", "tessera", "mosalloc", "reserve"],
    "analyze": lambda build, folder: [
        *(sys.executable, "-m", "tessera", "mosalloc", "analyze", "--out", folder / "analysis.json")
    ],
}
SENT = {
    "terminal": lambda pid, terminal: os.write(terminal, b"\x03"),
    "group": lambda pid, terminal: os.killpg(pid, signal.SIGINT),
    "alone": lambda pid, terminal: os.kill(pid, signal.SIGINT),
    "term": lambda pid, terminal: os.kill(pid, signal.SIGTERM),
    "hangup": lambda pid, terminal: os.kill(pid, signal.SIGHUP),
    "quit": lambda pid, terminal: os.kill(pid, signal.SIGQUIT),
}
CASES = [(front, how) for front in ("launcher", "reserve") for how in SENT]
CASES += [(front, how) for front in ("run", "analyze") for how in ("terminal", "term")]


class Front:
    """A command on a terminal of its own, as the leader of its process group."""

    def __init__(self, command: list[object], layout: Path, folder: Path):
        argv = [*command, "--layout", layout, "--", sys.executable, "-c", PROGRAM, folder]
        self.folder, self.maps = folder, folder / "maps"
        self.maps.mkdir()
        environment = os.environ | {"TMPDIR": str(self.maps)}
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execve(str(argv[0]), list(map(str, argv)), environment)
        self.wait_for(lambda: (folder / "ready").exists())

    def wait_for(self, condition) -> None:
        end = time.monotonic() + WATCHDOG_SECONDS
        while not condition():
            if time.monotonic() > end:
                os.killpg(self.pid, signal.SIGKILL)
                pytest.fail("hangs")
            time.sleep(0.02)

    def status(self) -> int:
        ended = []

        def over() -> bool:
            ended[:] = os.waitpid(self.pid, os.WNOHANG)
            return ended[0] != 0

        self.wait_for(over)
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(ended[1])

    def left(self) -> list[str]:
        """Processes of the session: what the command left behind."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                if int(fields[3]) == self.pid and fields[0] not in "ZX":
                    found.append(entry.name)
        return found


@pytest.mark.parametrize(("front", "how"), CASES, ids=[f"{front}-{how}" for front, how in CASES])
def test_a_program_saves_its_data(build, layout, tmp_path, front, how):
    running = Front(FRONTS[front](build, tmp_path), layout(), tmp_path)
    SENT[how](running.pid, running.terminal)
    assert running.status() == STATUS
    assert (tmp_path / "saved").read_text() == "1"  # once
    assert running.left() == [] and os.listdir(running.maps) == []
    assert front != "analyze" or (tmp_path / "analysis.json").stat().st_size > 0


@pytest.mark.hugepages
@pytest.mark.skipif(os.environ.get("TESSERA_RESERVE") != "1", reason="needs ./run --reserve test")
@pytest.mark.parametrize("how", ["terminal", "term"])
def test_pages_go_back_after_the_data_is_saved(build, layout, tmp_path, how):
    before = pools.huge_pages_total(PAGE_2MB)
    pages = pools.huge_pages_free(PAGE_2MB) + 3
    path = layout(f"mmap,2MB,0,{pages * PAGE_2MB}")
    running = Front(FRONTS["reserve"](build, tmp_path), path, tmp_path)
    assert pools.huge_pages_total(PAGE_2MB) > before
    SENT[how](running.pid, running.terminal)
    assert running.status() == STATUS
    assert (tmp_path / "saved").read_text() == "1"
    assert pools.huge_pages_total(PAGE_2MB) == before and running.left() == []


def test_two_signals_are_two(build, layout, tmp_path):
    """The launcher recognises copies of one signal, but does not drop a second one."""
    running = Front(FRONTS["launcher"](build, tmp_path), layout(), tmp_path)
    os.kill(running.pid, signal.SIGINT)
    time.sleep(0.3)
    os.kill(running.pid, signal.SIGINT)
    assert running.status() == STATUS
    assert (tmp_path / "saved").read_text() == "2"


class Recorder:
    """A child that counts its signals; while it gets the first, ``then`` happens."""

    def __init__(self, then):
        self.got, self.then = [], then

    def send_signal(self, number: int) -> None:
        self.got.append(number)
        if len(self.got) == 1:
            self.then()


def test_a_signal_during_the_start_is_passed_on_once():
    """SIGTERM comes before the child is known, SIGHUP while SIGTERM is passed on."""
    forwarder = Forwarder()
    child = Recorder(lambda: forwarder(signal.SIGHUP, None))
    forwarder(signal.SIGTERM, None)
    forwarder.follow(child)
    assert child.got == [signal.SIGTERM, signal.SIGHUP]
    assert forwarder.received == [signal.SIGTERM, signal.SIGHUP]
