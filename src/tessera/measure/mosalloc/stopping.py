"""Runs a program up to a moment, stops all of its threads there, and lets it continue afterwards.

The moment is a marker of the region of interest (artifacts/workloads/common/roi.h), the end of the program,
or a number of seconds. The processor ignores markers. So a breakpoint replaces the first byte of each marker
in the executable until the moment comes. A second kind of breakpoint, at the entry point, stops the program
once after libmosalloc has made its pools. The program runs at full speed in between.

Forked children are not followed: they lose the breakpoints and run on.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.measure.mosalloc import ptrace
from tessera.measure.mosalloc.launcher import FORWARDED, IGNORED_BY_PYTHON
from tessera.measure.mosalloc.ptrace import Breakpoints

_WALL = 0x40000000
_JOB_CONTROL = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)


@dataclass(frozen=True)
class StopPoint:
    """When to stop: ``begin`` or ``end`` (a marker; without markers the program's end), or ``after``."""

    kind: str
    seconds: float = 0.0


class NotStarted(Exception):
    """The program could not be executed; the text is the system's."""


class StartedProgram:
    """A started program; :meth:`run_to` and then :meth:`finish`, from one thread.

    Args:
        at_entry: called once with the process id, when the libraries are initialised and ``main`` has not
            begun; None: no stop there.
        at_exec: called whenever the process has executed a program.
        large_pages: False: the process gets no transparent huge pages.
    """

    def __init__(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        *,
        large_pages: bool,
        at_entry: Callable[[int], None] | None = None,
        at_exec: Callable[[], None] = lambda: None,
    ):
        self._at_exec = at_exec
        self._at_entry = at_entry
        self._moment = StopPoint("end")
        self._known: set[int] = set()
        self._held: dict[int, int | None] = {}  # None: its stop was handled
        self._breakpoints: Breakpoints | None = None  # of the program that the process has executed
        self._executed = self._due = False
        self.has_end = self._has_begin = False  #: which markers the executable has
        self.status: int | None = None  #: as of waitpid, when the program has ended
        self.exit_status: int | None = None  #: the same, known when it stops at its end
        self._start(argv, environment, large_pages)

    def send_signal(self, number: int) -> None:
        """Pass a signal on to the program, except those that the terminal has sent to it, too."""
        if self.status is None and not (number in (signal.SIGINT, signal.SIGQUIT) and _in_foreground()):
            os.kill(self.pid, number)

    def run_to(self, moment: StopPoint) -> str:
        """Continue until the moment, with all threads stopped.

        Returns:
            ``marker``, ``time``, ``exit`` (stopped at its end, memory still exists), ``unmarked`` (stopped at
            its start, because ``begin`` needs a marker and there is none) or ``gone``.
        """
        self._moment = moment
        previous = signal.SIG_DFL
        if moment.kind == "after":
            previous = signal.signal(signal.SIGALRM, self._on_time)
            signal.setitimer(signal.ITIMER_REAL, max(moment.seconds, 1e-6))
        try:
            reason = self._run()
        finally:
            if moment.kind == "after":
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, previous)
        if reason in ("marker", "time"):
            self._stop_the_others()
        return reason

    def finish(self) -> int:
        """Remove all breakpoints and let the program end; returns its exit status (128 + n for signal n)."""
        if self.status is None:
            if self._breakpoints:
                self._breakpoints.remove_all()
            self._moment = StopPoint("never")
            while self._run() != "gone":
                pass
        code = os.waitstatus_to_exitcode(self.status)
        return code if code >= 0 else 128 - code

    def _start(self, argv: Sequence[str], environment: Mapping[str, str], large_pages: bool) -> None:
        go, started = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                for number in (*FORWARDED, *IGNORED_BY_PYTHON):
                    signal.signal(number, signal.SIG_DFL)
                os.close(go[1])
                if os.read(go[0], 1):
                    ptrace.disable_large_pages(not large_pages)
                    os.execve(argv[0], list(argv), dict(environment))
            except OSError as error:
                os.write(started[1], (error.strerror or str(error)).encode())
            finally:
                os._exit(127)
        for descriptor in (go[0], started[1]):
            os.close(descriptor)
        self._failure = started[0]
        try:
            ptrace.attach(self.pid)
        except OSError as error:
            os.close(go[1])
            os.waitpid(self.pid, 0)
            raise NotStarted(f"the system rejects ptrace: {error.strerror}") from None
        self._known.add(self.pid)
        os.write(go[1], b"g")
        os.close(go[1])

    def _on_time(self, number: int, frame: object) -> None:
        self._due = True
        try:
            ptrace.interrupt(self.pid)
        except OSError:  # it has just ended
            pass

    def _run(self) -> str:
        """Handle stops until one of them is the moment."""
        for tid in [t for t, status in self._held.items() if status is None]:
            del self._held[tid]  # stopped at the moment before: nothing else to handle
            self._go_on(tid)
        while self.status is None:
            if self._held:
                tid, status = self._held.popitem()
            else:
                tid, status = os.waitpid(-1, _WALL)
            try:
                reason = self._handle(tid, status)
            except ProcessLookupError:  # killed while it was stopped
                continue
            except BaseException:
                self._held[tid] = None  # so that finish() lets it continue
                raise
            if reason:
                return reason
        return "gone"

    def _handle(self, tid: int, status: int) -> str | None:
        if not os.WIFSTOPPED(status):
            self._known.discard(tid)
            if tid == self.pid:
                self.status = status
                self._check_started()
            return None
        if tid not in self._known and not self._adopt(tid):
            return None
        event, number = status >> 16, os.WSTOPSIG(status)
        if event == ptrace.EVENT_EXEC:
            self._prepare()
            if self._moment.kind == "begin" and not self._has_begin:
                self._held[tid] = None
                return "unmarked"
        elif event == ptrace.EVENT_EXIT and tid == self.pid:
            self.exit_status = ptrace.event_message(tid)
            if self._executed and self._moment.kind != "never":
                self._held[tid] = None
                return "exit"
        elif event == ptrace.EVENT_STOP and number in _JOB_CONTROL:
            ptrace.stay_stopped(tid)
            return None
        elif event == ptrace.EVENT_STOP and self._due and tid == self.pid:
            self._due = False
            if self._moment.kind == "after":
                self._held[tid] = None
                return "time"
        elif event == 0:
            return self._handle_signal(tid, number)
        ptrace.go_on(tid)
        return None

    def _handle_signal(self, tid: int, number: int) -> str | None:
        place = ptrace.instruction_pointer(tid) - 1 if number == signal.SIGTRAP else 0
        ours = self._breakpoints
        if ours is None or not ours.is_known(place):
            ptrace.go_on(tid, number)
            return None
        ptrace.set_instruction_pointer(tid, place)
        if ours.is_set(place) and not ours.is_entry(place):
            ours.remove_all()
            self._held[tid] = None
            return "marker"
        if ours.is_set(place):
            ours.remove(place)
            self._at_entry(self.pid)
        ptrace.go_on(tid)
        return None

    def _go_on(self, tid: int) -> None:
        try:
            ptrace.go_on(tid)
        except ProcessLookupError:
            pass

    def _adopt(self, tid: int) -> bool:
        """Whether a new task is a thread of the program; a child process is let go."""
        try:
            group = re.search(r"^Tgid:\s*(\d+)", Path(f"/proc/{tid}/status").read_text(), re.MULTILINE)
        except OSError:
            return False
        if int(group.group(1)) == self.pid:
            self._known.add(tid)
            return True
        if self._breakpoints and not ptrace.share_memory(tid, self.pid):
            self._breakpoints.restore_in(tid)
        ptrace.leave(tid)
        return False

    def _stop_the_others(self) -> None:
        """Stop every thread; what each of them stopped for is handled when the program continues."""
        deadline = time.monotonic() + 60
        while True:
            running = {int(task.name) for task in Path(f"/proc/{self.pid}/task").iterdir()} - set(self._held)
            if not running or time.monotonic() > deadline:
                return
            for tid in running:
                try:
                    ptrace.interrupt(tid)
                    _, status = os.waitpid(tid, _WALL)
                except (ProcessLookupError, ChildProcessError):
                    continue
                if os.WIFSTOPPED(status):
                    self._held[tid] = status

    def _prepare(self) -> None:
        """Set the breakpoints of a program that was just executed."""
        self._executed = True
        self._at_exec()
        self._known = {self.pid}
        ours = self._breakpoints = Breakpoints(self.pid)
        self.has_end, self._has_begin = bool(ours.markers["end"]), bool(ours.markers["begin"])
        ours.set_at_markers(self._moment.kind)
        if self._at_entry and self._moment.kind != "never":
            ours.set_at_entry()

    def _check_started(self) -> None:
        message = os.read(self._failure, 200).decode()
        os.close(self._failure)
        if not self._executed:
            raise NotStarted(message or "it was ended before it was executed")


def _in_foreground() -> bool:
    """Whether this process and its children get the keys Ctrl-C and Ctrl-\\ of a terminal."""
    try:
        with open("/dev/tty") as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False
