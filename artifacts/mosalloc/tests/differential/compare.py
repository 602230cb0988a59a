#!/usr/bin/env python3
"""Randomized differential test: the same calls with and without the library must have the same results.

usage: compare.py BUILD [--operations N] [--threads N] [--layout NAME]... [--seed N] [--keep-going]
                  [--library FILE] [--except OPERATION]...
BUILD is the component's build folder. The operations are divided into parts, each with its own seed. The
first part whose outputs differ runs again with a trace. The program then prints the first operation that
differs, both results, and the command that repeats it. Exit status 0: no difference, 1: different, 77: no
difference, but a layout was skipped because its huge pages are missing.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

SKIP = 77
TRACES = 20  # runs to find the operation that differs
HANGS_AFTER_S = 60  # a part takes about one second at most
POOLS = "type,pageSize,startOffset,endOffset\nbrk,-1,0,256MB\nmmap,-1,0,1000MB\n"


@dataclass(frozen=True)
class Case:
    """A layout, the library's settings, and the operations without an exact result under it."""

    rows: str = ""
    environment: tuple[tuple[str, str], ...] = ()
    without: tuple[str, ...] = ()
    pages_2mb: int = 0
    part: int = 250_000  # operations of one process


# Forks are left out, because under windows a child needs its own huge pages for its writes. Parts are short,
# because calls that move or protect pages split huge pages, and only a new process has its windows again.
_2MB = "brk,2MB,0,4MB\nmmap,2MB,0,4MB\nmmap,2MB,6MB,10MB\n"
_ALONE = ("--no-forks", "--no-locks")


def windows(protections: str, *without: str) -> Case:
    """The layout with 2MB windows under one of the policies for protections."""
    environment = (("MOSALLOC_PROTECTIONS", protections),)
    return Case(_2MB, environment, (*without, *_ALONE), pages_2mb=6, part=500)


CASES = {
    "4kb": Case(),
    "2mb": windows("guards", "--no-faults"),
    "2mb-exact": windows("exact", "--no-hole-faults"),
    "2mb-soft": windows("soft", "--no-faults", "--no-foreign"),
}


def free_2mb_pages() -> int:
    """Number of 2MB pages that are free and not reserved."""
    folder = Path("/sys/kernel/mm/hugepages/hugepages-2048kB")
    if not folder.exists():
        return 0
    return int((folder / "free_hugepages").read_text()) - int((folder / "resv_hugepages").read_text())


def output_of(process: subprocess.Popen) -> str:
    """The output of a process. A process that hangs is killed, and the output ends with a note."""
    try:
        return process.communicate(timeout=HANGS_AFTER_S)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return f"{process.communicate()[0]}hung for {HANGS_AFTER_S} s\n"


@dataclass(frozen=True)
class Subject:
    """The program, and the environment that preloads the library under test."""

    program: Path
    environment: dict[str, str]
    without: tuple[str, ...]

    def argv(self, seed: int, operations: int, threads: int) -> list[str]:
        return [str(self.program), str(seed), str(operations), str(threads), *self.without]

    def start(self, argv: list[str], with_library: bool) -> subprocess.Popen:
        env = dict(os.environ) | (self.environment if with_library else {})
        return subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def differs(self, argv: list[str]) -> bool:
        both = [self.start(argv, with_library) for with_library in (False, True)]
        outputs = [(output_of(process), process.returncode) for process in both]
        if outputs[0][1] != 0:
            raise SystemExit(f"the program fails without the library: {' '.join(argv)}\n{outputs[0][0]}")
        return outputs[0] != outputs[1]


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
    traces = [by_thread(output_of(process)) for process in runs]
    found: list[tuple[int, str]] = []
    for thread, lines in traces[0].items():
        before = ""
        for plain, ours in zip_longest(lines, traces[1].get(thread, []), fillvalue=""):
            if plain != ours:
                operation = int(plain.split()[1]) if plain and thread != "digest" else sys.maxsize
                found.append((operation, f"  before:  {before[:100]}\n{shorten(plain, ours)}"))
                break
            before = plain
    extra = [line for name, lines in traces[1].items() if name not in traces[0] for line in lines]
    found += [(sys.maxsize, f"  with the library only: {line}") for line in extra[:1]]
    ended = [process.returncode for process in runs]
    if not found and ended[0] != ended[1]:
        return f"  exit status {ended[0]} without, {ended[1]} with the library"
    return min(found)[1] if found else None


def compare(name: str, subject: Subject, operations: int, threads: int, seed: int, keep_going: bool) -> int:
    """Run all parts of one case; the number of parts that differ."""
    done, differences, start = 0, 0, time.monotonic()
    while done < operations:
        part = min(CASES[name].part, operations - done)
        argv = subject.argv(seed, part, threads)
        if subject.differs(argv):
            differences += 1
            settings = " ".join(f"{key}={value}" for key, value in subject.environment.items())
            print(f"DIFFERENT {name}: seed {seed}\n{first_difference(subject, argv)}")
            print(f"  repeat:  {settings} {' '.join(argv)} --trace", flush=True)
        done, seed = done + part, seed + 1
        if differences and not keep_going:
            break
    seconds = time.monotonic() - start
    verdict = "FAIL" if differences else "PASS"
    print(
        f"{verdict} {name}: {done} operations, {threads} threads, {differences} differences, {seconds:.1f} s",
        flush=True,
    )
    return differences


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument(
        "--operations",
        type=int,
        default=200_000,
        help="operations for each layout and number of threads (default 200000)",
    )
    parser.add_argument("--threads", type=int, action="append", help="number of threads (default: 1 and 4)")
    parser.add_argument("--layout", choices=CASES, action="append", help="layout to test (default: 4kb)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep-going", action="store_true", help="continue after a difference")
    parser.add_argument("--except", dest="left_out", action="append", default=[], metavar="OPERATION")
    parser.add_argument("--library", type=Path, help="preload this library instead of BUILD/libmosalloc.so")
    options = parser.parse_args()
    # An absolute path, because the loader searches other folders for a bare name.
    library = (options.library or options.build / "libmosalloc.so").resolve()
    folder = options.build.resolve() / "differential-layouts"
    folder.mkdir(exist_ok=True)
    different = skipped = 0
    for name in options.layout or ["4kb"]:
        case = CASES[name]
        if free_2mb_pages() < case.pages_2mb:
            skipped += 1
            print(
                f"SKIP {name}: {case.pages_2mb} pages of 2MB needed, {free_2mb_pages()} free;"
                f" as root: sysctl vm.nr_hugepages={case.pages_2mb}"
            )
            continue
        layout = folder / f"{name}.csv"
        layout.write_text(POOLS + case.rows)
        environment = {"LD_PRELOAD": str(library), "MOSALLOC_LAYOUT": str(layout)} | dict(case.environment)
        without = (*case.without, *(f"--except={name}" for name in options.left_out))
        subject = Subject(options.build / "differential", environment, without)
        for threads in options.threads or [1, 4]:
            different += compare(name, subject, options.operations, threads, options.seed, options.keep_going)
    return 1 if different else SKIP if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
