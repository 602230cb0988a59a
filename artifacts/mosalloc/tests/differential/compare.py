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
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from judge import Subject, first_difference, free_2mb_pages, holds_all_writers, preloadable

SKIP = 77
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


def compare(name: str, subject: Subject, operations: int, threads: int, seed: int, keep_going: bool) -> int:
    """Run all parts of one case; the number of parts that differ."""
    done, differences, start = 0, 0, time.monotonic()
    while done < operations:
        part = min(CASES[name].part, operations - done)
        argv = subject.argv(seed, part, threads)
        if subject.differs(argv):
            differences += 1
            print(f"DIFFERENT {name}: seed {seed}\n{first_difference(subject, argv)}")
            print(f"  repeat:  {subject.repeat(argv)}", flush=True)
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
    library = preloadable(options.build, options.library or options.build / "libmosalloc.so")
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
        environment = {"LD_PRELOAD": library, "MOSALLOC_LAYOUT": str(layout)} | dict(case.environment)
        without = (*case.without, *(f"--except={name}" for name in options.left_out))
        subject = Subject(options.build / "differential", environment, without)
        for threads in options.threads or [1, 4]:
            if threads > 1 and case.pages_2mb and not holds_all_writers():
                skipped += 1
                reason = f"userfaultfd is not allowed here, so pages stay huge beside {threads} threads"
                print(f"SKIP {name}: {reason}")
                continue
            different += compare(name, subject, options.operations, threads, options.seed, options.keep_going)
    return 1 if different else SKIP if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
