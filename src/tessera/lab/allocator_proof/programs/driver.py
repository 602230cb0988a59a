"""A program of the table, the result of a run, and where its driver runs things.

That is under the mosaic, or plain, with one deadline for all steps.
"""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tessera.core.units import MB
from tessera.measure.mosalloc.launcher import mosalloc_command


class WrongAnswer(Exception):
    """A program's own check failed."""


@dataclass(frozen=True)
class Need:
    """A file that must exist: a command in PATH, or a pattern with a slash; and its Debian package."""

    probe: str
    package: str


@dataclass(frozen=True)
class ProvedProgram:
    """One row of the table.

    Contract of ``drive``: runs the program in the box it gets (under a mosaic, or plain), raises
    :class:`WrongAnswer` when a check fails, and returns the answer as text. The answer must be the same in
    every run, so it holds no time, address, process id or path.

    Attributes:
        name: how it is asked for.
        what: what runs and how it is checked, in one line.
        needs: what must be installed.
        heap_bytes: part of the heap pool that ``2mb`` backs with huge pages, from offset 0.
        anon_bytes: the same of the anonymous pool.
        processes: processes with the layout that can be alive at the same time (children of the same
            executable count, forks don't); each needs its own huge pages.
        splits: it protects parts of huge pages, so that some are split; ``fallback`` is then expected.
        maps_huge_pages: it maps huge pages itself (MAP_HUGETLB), where the machine has free ones; the layout
            does not have them, so ``fallback`` is then expected.
        options: more options of mosalloc-run.
        timeout_seconds: for one run, all its steps together.
    """

    name: str
    what: str
    drive: Callable[[Box], str]
    needs: tuple[Need, ...]
    heap_bytes: int = 32 * MB
    anon_bytes: int = 64 * MB
    processes: int = 1
    splits: bool = False
    maps_huge_pages: bool = False
    options: tuple[str, ...] = ()
    timeout_seconds: float = 60


@dataclass(frozen=True)
class ProgramOutcome:
    """One program under one layout; numbers are None where the run gave none.

    ``heap_used_bytes`` and ``anon_used_bytes`` are high-water marks of the largest process,
    ``outside_bytes`` what it had outside the pools when it ended, ``calls`` how many calls of all processes
    reached the pools or were handed to the kernel.
    """

    program: str
    layout: str
    verdict: str
    reason: str = ""
    seconds: float | None = None
    pages_2mb: int | None = None
    split_pages: int | None = None
    heap_used_bytes: int | None = None
    anon_used_bytes: int | None = None
    outside_bytes: int | None = None
    pool_calls: int | None = None
    kernel_calls: int | None = None
    tail: str = field(default="", compare=False)
    repeat: str = field(default="", compare=False)


# Where a driver runs things.

Argv = Sequence[str | Path]

#: Lines of output that a failure shows.
TAIL_LINES = 12

#: Seconds that a server has to answer at its port.
READY_SECONDS = 20


class TimedOut(Exception):
    """The deadline passed while a step ran."""


@dataclass(frozen=True)
class Done:
    """A finished step."""

    status: int
    out: str
    err: str


@dataclass
class StartedProcess:
    """A step that was started: its files, and how to start it again by hand."""

    argv: list[str]
    env: dict[str, str]
    folder: Path
    out: Path
    err: Path
    report: Path | None
    process: subprocess.Popen | None = field(default=None, repr=False)

    def shell(self) -> str:
        """The command to repeat it."""
        words = [f"{name}={shlex.quote(value)}" for name, value in self.env.items()]
        return f"cd {shlex.quote(str(self.folder))} && {' '.join(words + [shlex.join(self.argv)])}"

    def tail(self) -> str:
        """The last lines of both outputs."""
        lines = []
        for path in (self.out, self.err):
            if path.exists():
                lines += path.read_text(errors="replace").splitlines()[-TAIL_LINES:]
        return "\n".join(lines[-TAIL_LINES:])


class Box:
    """Runs a driver's programs in ``folder``.

    ``layout`` None means plain: no launcher, no library. ``steps`` holds what ran under the launcher (or
    would have, in a plain run), in order; tools of the driver itself (load generators, compilers) aren't in.
    """

    def __init__(
        self,
        folder: Path,
        *,
        layout: Path | None,
        timeout_seconds: float,
        options: Sequence[str] = (),
        allow_fallback: bool = False,
        launcher: Path | None = None,
    ):
        self.folder = folder
        self.layout = layout
        self.options = tuple(options)
        self.allow_fallback = allow_fallback
        self.launcher = launcher
        self.timeout_seconds = timeout_seconds
        self.deadline = time.monotonic() + timeout_seconds
        self.steps: list[StartedProcess] = []
        self.last: StartedProcess | None = None
        self._count = 0

    def run(
        self,
        argv: Argv,
        *,
        text: str = "",
        env: Mapping[str, str] | None = None,
        target: Path | str | None = None,
        status: int = 0,
    ) -> Done:
        """Run a program under the mosaic to its end; another exit status than ``status`` is wrong.

        ``text`` is its standard input; ``target`` the executable that gets the layout instead of ``argv[0]``.
        """
        return self.finish(self.start(argv, text=text, env=env, target=target), status=status)

    def tool(self, argv: Argv, *, text: str = "", env: Mapping[str, str] | None = None) -> Done:
        """Run a program of the driver itself, never under the library; it must end with status 0."""
        step = self._step("tool", [str(word) for word in argv], env, None)
        self._launch(step, text)
        return self.finish(step)

    def start(
        self,
        argv: Argv,
        *,
        text: str = "",
        env: Mapping[str, str] | None = None,
        target: Path | str | None = None,
    ) -> StartedProcess:
        """Start a program under the mosaic; :meth:`finish` waits for it."""
        words, report = [str(word) for word in argv], None
        if self.layout is not None:
            report = self.folder / f"{self._count:02d}-report.json"
            words = self._under(words, report, None if target is None else str(target))
        step = self._step("run", words, env, report)
        self.steps.append(step)
        self._launch(step, text)
        return step

    def finish(self, step: StartedProcess, *, status: int = 0) -> Done:
        """Wait for a step; check its status."""
        try:
            found = step.process.wait(max(0.0, self.deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise TimedOut(f"still running after {self.timeout_seconds:.0f} s") from None
        self.last = step
        if found != status:
            ended = f"signal {-found} ended it" if found < 0 else f"status {found}"
            raise WrongAnswer(f"{Path(self._name(step)).name}: {ended}, expected status {status}")
        return Done(found, step.out.read_text(errors="replace"), step.err.read_text(errors="replace"))

    def wait_ready(self, step: StartedProcess, ready: Callable[[], bool]) -> None:
        """Wait until a server answers; raises if the server exits before."""
        end = min(self.deadline, time.monotonic() + READY_SECONDS)
        self.last = step
        while time.monotonic() < end:
            if step.process.poll() is not None:
                raise WrongAnswer(f"the server ended with status {step.process.returncode} at its start")
            if ready():
                return
            time.sleep(0.05)
        raise TimedOut(f"the server did not answer within {READY_SECONDS} s")

    def _under(self, words: list[str], report: Path, target: str | None) -> list[str]:
        argv = mosalloc_command(
            words, self.layout, report=report, target=target, allow_fallback=self.allow_fallback
        )
        if self.launcher is not None:
            argv[0] = str(self.launcher)
        argv[1:1] = self.options
        return argv

    def _step(
        self, kind: str, argv: list[str], env: Mapping[str, str] | None, report: Path | None
    ) -> StartedProcess:
        stem = self.folder / f"{self._count:02d}-{kind}"
        self._count += 1
        return StartedProcess(
            argv, dict(env or {}), self.folder, stem.with_suffix(".out"), stem.with_suffix(".err"), report
        )

    def _launch(self, step: StartedProcess, text: str) -> None:
        self.last = step
        given = step.out.with_suffix(".in")
        given.write_text(text)
        with given.open() as stdin, step.out.open("w") as out, step.err.open("w") as err:
            step.process = subprocess.Popen(
                step.argv, stdin=stdin, stdout=out, stderr=err, cwd=self.folder, env=os.environ | step.env
            )

    def _name(self, step: StartedProcess) -> str:
        return step.argv[step.argv.index("--") + 1] if step.report is not None else step.argv[0]


def free_port() -> int:
    """A free TCP port of the loopback interface."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def server_answers(port: int) -> bool:
    """Whether a server listens at the port."""
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def expect_equal(what: str, found: object, wanted: object) -> None:
    """A check of a driver: ``found`` must equal ``wanted``."""
    if found != wanted:
        raise WrongAnswer(f"{what}: {str(found)[:200]!r}, expected {str(wanted)[:200]!r}")
