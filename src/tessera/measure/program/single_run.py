"""One run of a program on this machine: clock time, and what the kernel says of it (getrusage)."""

from __future__ import annotations

import ctypes
import os
import re
import resource
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.machine.container.process import DIE_WITH_PARENT, stopped_at_exit
from tessera.machine.container.watchdog import watchdog
from tessera.measure.mosalloc.launcher import forwarding
from tessera.measure.suggest.server_load import Load, LoadRun, ended_well
from tessera.record.traces.companion import run_beside

LAST_BYTES = 2000  #: of a failed program's output
_PR_SET_THP_DISABLE = 41  #: linux/prctl.h; kept over fork and exec
_POLL_SECONDS = 0.02
_HUGE = re.compile(r"^(?:AnonHugePages|Private_Hugetlb|Shared_Hugetlb):\s+(\d+) kB", re.M)


@dataclass(frozen=True)
class Usage:
    """Times in seconds; ``huge_bytes``: most memory in huge pages that was seen, None if nobody looked.

    ``seconds`` is the time of the load, if there is one, else that of the program. The other numbers are of
    the program and its children, None with a load (they would contain the load).
    """

    seconds: float
    user: float | None = None
    system: float | None = None
    faults: int | None = None
    switches: int | None = None
    huge_bytes: int | None = None


def run_watched(
    argv: Sequence[str],
    *,
    variables: Mapping[str, str] | None = None,
    without_thp: bool = False,
    load: Load | None = None,
    watch: bool = False,
    quiet: bool = False,
) -> Usage:
    """Run ``argv`` to its end.

    Args:
        variables: added to the environment.
        without_thp: the program gets no transparent huge page.
        load: ``argv`` is a server; this is its load, after which it is stopped.
        watch: look at its pages while it runs, which costs time.
        quiet: keep its output, and that of the load, away from the terminal.

    Raises:
        TesseraError: it can't be started, or its status is no success.
    """
    companion = None
    if load is not None:
        load.require_free_port()
        companion = LoadRun(load)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryFile() as said:
        output = {"stdout": said, "stderr": subprocess.STDOUT} if quiet else {}
        began = time.monotonic()
        process = subprocess.Popen(
            [*DIE_WITH_PARENT, *argv],
            stdin=subprocess.DEVNULL if quiet else None,
            env=os.environ | dict(variables or {}),
            preexec_fn=_disable_thp if without_thp else None,
            **output,
        )
        seen: list[int] = []
        # A program that has the terminal may wait for its user.
        watched = watchdog(process, f"run of {argv[0]}", lambda: None) if quiet else nullcontext()
        with stopped_at_exit(process), watched, forwarding() as forwarder, run_beside(process, companion):
            forwarder.follow(process)
            if watch:
                threading.Thread(target=_watch, args=(process, seen), daemon=True).start()
            process.wait()
        seconds = time.monotonic() - began
        if forwarder.received:
            signal.raise_signal(forwarder.received[0])
        if not ended_well(process.returncode, load):
            raise _failed(argv, process.returncode, said if quiet else None)
    huge = max(seen, default=0) if watch else None
    if companion is not None:
        if not quiet:  # it may hold counts that the load made, such as those of perf stat -p
            print(companion.output, end="", flush=True)
        return Usage(companion.seconds, huge_bytes=huge)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Usage(
        seconds,
        user=after.ru_utime - before.ru_utime,
        system=after.ru_stime - before.ru_stime,
        faults=after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt,
        switches=after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw,
        huge_bytes=huge,
    )


def _failed(argv: Sequence[str], status: int, said) -> TesseraError:
    tail = ""
    if said is not None:
        said.seek(max(0, said.seek(0, os.SEEK_END) - LAST_BYTES))
        tail = said.read().decode(errors="replace").strip()
    found = f"it exited with status {status}" + (f": {tail}" if tail else "")
    remedy = "run it alone until it succeeds"
    if status == 127:
        found, remedy = "there is no such program", "give its path, or a name on $PATH"
    return TesseraError(f"run of {argv[0]}", found, remedy, exit_code=EXIT_FAILED, code="program-failed")


def _disable_thp() -> None:
    """In the child, before exec."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0:
        os._exit(126)


def _watch(process: subprocess.Popen, seen: list[int]) -> None:
    """Bytes in huge pages of the process, again and again until it has ended."""
    path = Path(f"/proc/{process.pid}/smaps_rollup")
    while process.returncode is None:
        try:
            seen.append(sum(int(kb) for kb in _HUGE.findall(path.read_text())) * 1024)
        except OSError:
            return
        time.sleep(_POLL_SECONDS)
