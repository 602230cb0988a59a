"""Two runs of a program, with and without the library: whether their outputs differ, and where first.

Used by the differential test and by the random lives (../lives/compare.py). A program prints one digest,
and with --trace a line per operation that begins with its thread and its number.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import signal
import subprocess
import sys
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

SYS_USERFAULTFD = 323
TRACES = 20  # runs to find the operation that differs
HANGS_AFTER_S = 60  # a part takes about one second at most


def holds_all_writers() -> bool:
    """Whether userfaultfd is allowed for the kernel's writes; else huge pages stay huge beside threads."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.syscall(SYS_USERFAULTFD, os.O_CLOEXEC)
    if descriptor >= 0:
        os.close(descriptor)
    return descriptor >= 0 or os.access("/dev/userfaultfd", os.R_OK | os.W_OK)


def free_2mb_pages() -> int:
    """Number of 2MB pages that are free and not reserved."""
    folder = Path("/sys/kernel/mm/hugepages/hugepages-2048kB")
    if not folder.exists():
        return 0
    # Below zero for a moment, while the kernel holds pinned pages of an ended process.
    promised = int((folder / "resv_hugepages").read_text())
    return int((folder / "free_hugepages").read_text()) - (promised if promised < 1 << 63 else 0)


def preloadable(build: Path, library: Path) -> str:
    """The library, or a link to it that LD_PRELOAD can hold; an absolute path, as the loader needs it."""
    argv = [build / "mosalloc-run", "--preload-path", library]
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:  # the launcher has said why
        raise SystemExit(done.returncode)
    return done.stdout.removesuffix("\n")


@dataclass(frozen=True)
class Output:
    """What a process left; notes are its standard error where that may differ."""

    text: str
    status: int
    notes: str = ""

    def same_as(self, other: Output) -> bool:
        return (self.text, self.status) == (other.text, other.status)


def output_of(process: subprocess.Popen, hangs_after_s: int = HANGS_AFTER_S) -> Output:
    """The output of a process. A process that hangs is killed, and the output ends with a note."""
    try:
        text, notes = process.communicate(timeout=hangs_after_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # its children hold the pipe open
        text, notes = process.communicate()
        text += f"hung for {hangs_after_s} s\n"
    return Output(text, process.returncode, notes or "")


@dataclass(frozen=True)
class Subject:
    """The program, and the environment that preloads the library under test."""

    program: Path
    environment: dict[str, str]
    without: tuple[str, ...]
    hangs_after_s: int = HANGS_AFTER_S
    notes_allowed: bool = False  # the library explains on stderr what it refuses

    def repeat(self, argv: list[str]) -> str:
        """The command that runs ``argv`` with the library and prints a trace, for a shell."""
        settings = [f"{key}={shlex.quote(value)}" for key, value in self.environment.items()]
        return " ".join([*settings, shlex.join([*argv, "--trace"])])

    def argv(self, seed: int, operations: int, threads: int) -> list[str]:
        return [str(self.program), str(seed), str(operations), str(threads), *self.without]

    def start(self, argv: list[str], with_library: bool) -> subprocess.Popen:
        env = dict(os.environ) | (self.environment if with_library else {})
        errors = subprocess.PIPE if self.notes_allowed else subprocess.STDOUT
        return subprocess.Popen(
            argv, env=env, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
        )

    def outputs(self, argv: list[str]) -> tuple[Output, Output]:
        """Without and with the library, at the same time."""
        both = [self.start(argv, with_library) for with_library in (False, True)]
        plain, ours = (output_of(process, self.hangs_after_s) for process in both)
        if plain.status != 0:
            raise SystemExit(f"the program fails without the library: {' '.join(argv)}\n{plain.text}")
        return plain, ours

    def differs(self, argv: list[str]) -> bool:
        plain, ours = self.outputs(argv)
        return not plain.same_as(ours)


def by_thread(text: str) -> dict[str, list[str]]:
    """Lines of a trace by the thread (or child) that wrote them; within a thread, their order is fixed."""
    lines: dict[str, list[str]] = {}
    for line in text.splitlines():
        lines.setdefault(line.split(" ", 1)[0], []).append(line)
    return lines


def shorten(plain: str, ours: str) -> str:
    """Both lines up to the first result that differs, and a few before it."""
    words = list(zip_longest(plain.split(), ours.split(), fillvalue="(nothing)"))
    at = next(i for i, (a, b) in enumerate(words) if a != b)
    shown = [a for a, _ in words[: min(at, 3)]] + (["..."] if at > 9 else [])
    shown += [a for a, _ in words[max(3, at - 6) : at]]
    common = " ".join(shown)
    return f"  at:      {common}\n  without: {words[at][0]}\n  with:    {words[at][1]}"


def first_difference(subject: Subject, argv: list[str]) -> str:
    """Trace both runs until they differ; with threads, addresses depend on which thread is first."""
    for _ in range(TRACES):
        found = traced_difference(subject, argv)
        if found:
            return found
    return f"  none of {TRACES} runs with a trace differed; repeat it beside other work"


def traced_difference(subject: Subject, argv: list[str]) -> str | None:
    """The first operation that differs, and the one before it; None if both runs were the same."""
    runs = [subject.start([*argv, "--trace"], with_library) for with_library in (False, True)]
    traces = [by_thread(output_of(process, subject.hangs_after_s).text) for process in runs]
    found: list[tuple[bool, int, str]] = []  # what a parent saw of its child comes last: the child knows more
    for thread, lines in traces[0].items():
        before = ""
        for plain, ours in zip_longest(lines, traces[1].get(thread, []), fillvalue=""):
            if plain != ours:
                operation = int(plain.split()[1]) if plain and thread != "digest" else sys.maxsize
                child = "_ended(" in plain
                found.append((child, operation, f"  before:  {before[:100]}\n{shorten(plain, ours)}"))
                break
            before = plain
    extra = [line for name, lines in traces[1].items() if name not in traces[0] for line in lines]
    found += [(False, sys.maxsize, f"  with the library only: {line}") for line in extra[:1]]
    ended = [process.returncode for process in runs]
    if not found and ended[0] != ended[1]:
        return f"  exit status {ended[0]} without, {ended[1]} with the library"
    return min(found)[2] if found else None
