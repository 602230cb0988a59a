"""Measure a program with several numbers of threads: instructions, LLC misses, seconds, joules."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.lab.energy.thread_runs import RUN_COLUMNS, failed_run
from tessera.machine.container.watchdog import run_to_end
from tessera.machine.counters import sysfs
from tessera.machine.counters.sysfs import EnergyPackage
from tessera.machine.perf.log import read_log
from tessera.machine.perf.row import PerfCount

# Joules of a socket during a run: a thread reads the counters often enough that no wrap is missed.
#
# :class:`Powercap` sums the differences of all dies of a socket, modulo each counter's range. If two
# readings are farther apart than the counter needs for a wrap, the sum is unknown and an error says so.

#: Readings between two wraps, so a late one does no harm.
READINGS_PER_WRAP = 8
LONGEST_PAUSE_S = 5.0


class Powercap:
    """Context manager: ``joules`` has the energy between enter and exit.

    Args:
        packages: counters of one socket.
        clock: seconds; tests replace it.
    """

    def __init__(self, packages: list[EnergyPackage], clock: Callable[[], float] = time.monotonic):
        self.packages, self._clock = packages, clock
        self.joules, self.seconds = 0.0, 0.0
        self._uj = dict.fromkeys(packages, 0)
        self._last: dict[EnergyPackage, tuple[float, int]] = {}
        self._stop, self._failure = threading.Event(), None
        self._thread: threading.Thread | None = None

    @classmethod
    def of_socket(cls, socket: int, root: Path = sysfs.ROOT) -> Powercap:
        """Raises TesseraError as :func:`tessera.machine.counters.sysfs.package_of_socket`."""
        return cls(sysfs.package_of_socket(socket, root))

    @property
    def pause_s(self) -> float:
        """Between two readings."""
        return min(LONGEST_PAUSE_S, min(one.seconds_to_wrap for one in self.packages) / READINGS_PER_WRAP)

    def read(self) -> None:
        """Add what every counter gained since its last reading.

        Raises:
            TesseraError: a counter is unreadable, or may have wrapped more than once.
        """
        for package in self.packages:
            now, value = self._clock(), package.read_uj()
            if package in self._last:
                then, before = self._last[package]
                if now - then > package.seconds_to_wrap:
                    raise _missed(package, now - then)
                self._uj[package] += sysfs.difference_uj(before, value, package.range_uj)
            self._last[package] = now, value

    def __enter__(self) -> Powercap:
        self.read()
        self._started = self._clock()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind, error, trace) -> None:
        self._stop.set()
        self._thread.join()
        if kind is None and self._failure:
            raise self._failure
        if kind is None:
            self.read()
            self.seconds = self._clock() - self._started
            self.joules = sum(self._uj.values()) / 1e6

    def _run(self) -> None:
        while not self._stop.wait(self.pause_s):
            try:
                self.read()
            except TesseraError as error:
                self._failure = error
                return


def _missed(package: EnergyPackage, seconds: float) -> TesseraError:
    found = f"{seconds:.1f} s between readings, and it may wrap in {package.seconds_to_wrap:.1f} s"
    remedy = "repeat it on an idle machine"
    return TesseraError(f"energy of {package.name}", found, remedy, exit_code=EXIT_FAILED, code="rapl-wraps")


# Runs on one socket: instructions and LLC misses of the program, and the socket's energy.
#
# A package counts all of its cores, whatever ``perf -C`` selects. So the program is bound to the processors
# of one socket (``taskset``), the socket has to be idle otherwise, and idle power is measured before and
# after each round. Rounds run every number of threads once, in an order of their own, so that slow changes
# (temperature) do not look like an effect of threads. perf counts the program; energy comes from powercap,
# or from perf's PMU ``power``.

THREADS = "{threads}"
POWERCAP, PERF = "powercap", "perf"
EVENTS = {"instructions": "instructions", "llc_loads": "LLC-loads", "llc_misses": "LLC-load-misses"}
ENERGY_EVENT = "power/energy-pkg/"
_TOPOLOGY = "sys/devices/system/cpu/cpu{number}/topology/physical_package_id"


@dataclass(frozen=True)
class RepeatedRuns:
    """What is measured; ``words`` contain ``{threads}``."""

    words: Sequence[str]
    threads: Sequence[int]
    socket: int
    repeats: int
    idle_s: float
    backend: str
    seed: int = 1
    root: Path = sysfs.ROOT


def processors(socket: int, root: Path = sysfs.ROOT) -> list[int]:
    """Numbers of the processors of a socket that are online.

    Raises:
        TesseraError: no such socket.
    """
    found: dict[int, list[int]] = {}
    for path in (root / "sys/devices/system/cpu").glob("cpu[0-9]*"):
        file = root / _TOPOLOGY.format(number=path.name.removeprefix("cpu"))
        if file.is_file():
            found.setdefault(int(file.read_text()), []).append(int(path.name.removeprefix("cpu")))
    if socket not in found:
        listed = ", ".join(map(str, sorted(found))) or "none"
        raise TesseraError(
            f"--socket {socket}", f"this machine has the sockets {listed}", "give one of them", code="socket"
        )
    return sorted(found[socket])


def check_runs(runs: RepeatedRuns) -> None:
    """Everything that can be known before the first run.

    Raises:
        TesseraError: too few numbers of threads, more threads than processors, no ``{threads}``, no perf, or
            no energy counter.
    """
    if len(set(runs.threads)) < 2:
        raise TesseraError(
            f"--threads {','.join(map(str, runs.threads))}",
            "one number of threads shows no trend; two are needed",
            "give several, such as 1,2,4,8",
            code="runs-threads",
        )
    if not any(THREADS in word for word in runs.words):
        found = f"no word of the program contains {THREADS}"
        raise TesseraError(
            f"program {' '.join(runs.words)}", found, f"write {THREADS} where the number belongs"
        )
    there = processors(runs.socket, runs.root)
    if max(runs.threads) > len(there):
        found = f"socket {runs.socket} has {len(there)} processors"
        raise TesseraError(f"--threads {max(runs.threads)}", found, "give fewer threads", code="threads-many")
    if shutil.which(PERF) is None:
        raise failed_run(
            "counts of the program",
            "perf is not installed",
            "install it: sudo apt-get install linux-perf",
            "perf-absent",
        )
    if runs.backend == POWERCAP:
        for package in sysfs.package_of_socket(runs.socket, runs.root):
            package.read_uj()
    elif sysfs.pmu_type(["power"], runs.root) is None:
        raise failed_run(
            f"energy of socket {runs.socket}",
            "perf has no PMU power",
            "use --backend powercap",
            "rapl-absent",
        )


def measure_threads(
    runs: RepeatedRuns,
    progress: Callable[[str], None] = lambda line: None,
    keep: Callable[[pd.DataFrame], None] = lambda table: None,
) -> pd.DataFrame:
    """A table with the columns :data:`RUN_COLUMNS`, in the order of the runs.

    Args:
        keep: gets the table of all complete rounds after each round, so a later failure loses none of them.

    Raises:
        TesseraError: as :func:`check_runs`; a run failed, or an event was not counted.
    """
    check_runs(runs)
    draw, rows = np.random.default_rng(runs.seed), []
    before = _idle_w(runs)
    for number in range(runs.repeats):
        order = [int(n) for n in draw.permutation(list(runs.threads))]
        found = []
        for threads in order:
            progress(f"round {number + 1} of {runs.repeats}: {threads} threads")
            found.append({"round": number, "threads": threads, **_run(runs, threads)})
        after = _idle_w(runs)
        rows += [row | {"idle_w": (before + after) / 2, "provenance": "measured"} for row in found]
        before = after
        keep(pd.DataFrame(rows, columns=list(RUN_COLUMNS)))
    return pd.DataFrame(rows, columns=list(RUN_COLUMNS))


def _idle_w(runs: RepeatedRuns) -> float:
    """Mean power of the socket while nothing of ours runs."""
    seconds, joules, _ = _energy(runs, ["sleep", str(runs.idle_s)], [])
    return joules / seconds


def _run(runs: RepeatedRuns, threads: int) -> dict:
    words = [word.replace(THREADS, str(threads)) for word in runs.words]
    bound = ["taskset", "-c", ",".join(map(str, processors(runs.socket, runs.root)))]
    seconds, joules, rows = _energy(runs, [*bound, *words], list(EVENTS.values()))
    counts = {name: _count(rows, event) for name, event in EVENTS.items()}
    return {"seconds": seconds, "energy_j": joules, **counts}


def _energy(runs: RepeatedRuns, words: list[str], events: list[str]) -> tuple[float, float, list[PerfCount]]:
    """(seconds, joules of the socket, perf's rows of ``events``) of a command."""
    with tempfile.TemporaryDirectory(prefix="tessera-threads-") as name:
        log, energy_log = Path(name) / "counts", Path(name) / "energy"
        if events:
            words = [PERF, "stat", "-x", ";", "-o", str(log), "-e", ",".join(events), "--", *words]
        if runs.backend == PERF:
            options = ["-a", "--per-socket", "-x", ";", "-o", str(energy_log), "-e", ENERGY_EVENT]
            seconds = _execute([PERF, "stat", *options, "--", *words])
            joules = _socket_joules(read_log(energy_log), runs.socket)
        else:
            with Powercap.of_socket(runs.socket, runs.root) as meter:
                _execute(words)
            seconds, joules = meter.seconds, meter.joules
        return seconds, joules, read_log(log) if events else []


def _execute(words: list[str]) -> float:
    """Seconds of the command; its output is not kept."""
    started = time.monotonic()
    asked = f"run of {' '.join(words)}"
    done = run_to_end(
        words,
        asked,
        env={**os.environ, "LC_ALL": "C"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    if done.returncode:
        said = (done.stderr or "").strip()[-300:]
        raise failed_run(
            asked,
            f"exit status {done.returncode}: {said}",
            "run it alone",
            "run-failed",
        )
    return time.monotonic() - started


def _count(rows: list[PerfCount], event: str) -> float:
    for row in rows:
        if row.event.split(":")[0] == event:
            if row.value is None:
                remedy = "use another machine, or see: ./run tessera measure counters check"
                raise failed_run(f"perf's event {event}", row.missing, remedy, "event-not-counted")
            return float(row.value)
    raise failed_run(f"perf's event {event}", "perf wrote no row of it", "use perf 6.1", "event-not-counted")


def _socket_joules(rows: list[PerfCount], socket: int) -> float:
    own = [row for row in rows if ENERGY_EVENT in row.event and _socket_of(row.part) == socket]
    if not own or any(row.value is None or row.unit != "Joules" for row in own):
        raise failed_run(
            f"energy of socket {socket}", f"perf counted no joules of {ENERGY_EVENT} there",
            "run as root, or set kernel.perf_event_paranoid=0", "rapl-permission",
        )  # fmt: skip
    return float(sum(row.value for row in own))


def _socket_of(part: str) -> int | None:
    """``S0`` and ``S0-D1`` as 0."""
    head = part.split("-")[0]
    return int(head[1:]) if head[:1] == "S" and head[1:].isdigit() else None
