#!/usr/bin/env python3
"""Random lives with and without the library: the same results, and each mechanism was really used.

usage: compare.py BUILD [--operations N] [--layout NAME]... [--seed N] [--min-hits N] [--keep-going]
                  [--jobs N] [--hangs-after S] [--library FILE] [--plain] [--except NAME]...
BUILD is the component's build folder. A life is one process with 1 to 4 threads, its children and the
programs that it starts. Lives run until they made N operations in each layout. The output has a line for
each layout, and one with the number of hits of each mechanism. Exit status 0: no difference, and at least
--min-hits of each; 1: a difference, a hang, or fewer hits; 77: neither, but a layout was skipped.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "differential"))

import counters
from cases import CASES, POOLS, Case
from judge import HANGS_AFTER_S, Output, Subject, first_difference, free_2mb_pages, preloadable
from namespace import without_free_pages

SKIP = 77
REFUSED = 2  # exit status of a program whose windows cannot be had
#: Of a life whose windows are refused: the kernel keeps pages of another life's rings a little after its end.
TRIES = 5
DATA_BYTES = 1 << 20
_ENDED = re.compile(r"^digest \w+ operations (\d+) threads \d+$", re.M)


class Starved(Exception):
    """Other processes took the huge pages while lives ran."""


def _last_line(output: Output) -> str:
    return (output.notes + output.text).strip().rpartition("\n")[2][:200]


@dataclass
class Sum:
    """What the lives of one layout did."""

    operations: int = 0
    lives: int = 0
    differences: int = 0
    counters: Counter[str] = field(default_factory=Counter)
    windows: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Run:
    """How the lives of one layout run."""

    name: str
    case: Case
    subject: Subject
    folder: Path
    options: argparse.Namespace
    names: list[str | int]

    def argv(self, seed: int) -> list[str]:
        return self.subject.argv(seed, self.case.part, (1, 1, 2, 4)[seed % 4])

    def life(self, seed: int) -> tuple[int, str, list[dict[str, int]]]:
        """One pair: operations, the difference or nothing, and the maps of all its programs."""
        maps = self.folder / f"maps-{seed}"
        maps.mkdir()
        environment = {"MOSALLOC_POOL_MAP": str(maps / "first"), "LIVES_MAPS": str(maps)}
        subject = replace(self.subject, environment=self.subject.environment | environment)
        argv = self.argv(seed)
        for _ in range(TRIES):
            plain, ours = subject.outputs(argv)
            if ours.status != REFUSED:
                break
            if reason := missing(self.case, self.options):  # other processes have the pages
                shutil.rmtree(maps)
                raise Starved(reason)
        found = _ENDED.search(plain.text)
        difference = ""
        if not plain.same_as(ours):
            difference = (
                f"DIFFERENT {self.name}: seed {seed}\n"
                f"  status:  {plain.status} without, {ours.status} with the library; {_last_line(ours)}\n"
                f"{first_difference(subject, argv)}\n  repeat:  {self.subject.repeat(argv)}"
            )
        read = [counters.read(path, self.names) for path in maps.iterdir()]
        shutil.rmtree(maps)
        return int(found.group(1)) if found else 0, difference, [map_ for map_ in read if map_]


def run_lives(run: Run) -> Sum:
    """Lives until they made enough operations, or until one differs."""
    total, seed, options = Sum(), run.options.seed, run.options
    with ThreadPoolExecutor(options.jobs) as pool:
        while total.operations < options.operations and (options.keep_going or not total.differences):
            seeds = range(seed, seed + 4 * options.jobs)
            seed = seeds.stop
            for operations, difference, maps in pool.map(run.life, seeds):
                total.operations += operations
                total.lives += 1
                if difference:
                    total.differences += 1
                    print(difference, flush=True)
                for map_ in maps:
                    total.counters.update(map_)
                    total.windows.update(run.case.windows_reached(map_))
                if total.differences and not options.keep_going:
                    break
    return total


def judge(run: Run, total: Sum, seconds: float) -> bool:
    """Print the verdict of one layout; whether it is good."""
    hits = {name: total.counters[key] for name, key in run.case.mechanisms.items()}
    hits |= {name: total.windows[name] for name in run.case.window_names()}
    few = [] if run.options.plain else [name for name, count in hits.items() if count < run.options.min_hits]
    good = not few and not total.differences
    print(
        f"{'PASS' if good else 'FAIL'} {run.name}: {total.operations} operations, {total.lives} lives, "
        f"{total.differences} differences, {seconds:.1f} s"
    )
    print(f"hits {run.name}: " + ", ".join(f"{name} {count}" for name, count in hits.items()))
    if few and not total.differences:
        print(f"  fewer than {run.options.min_hits} hits: {', '.join(few)}")
    sys.stdout.flush()
    return good


def one_layout(name: str, options: argparse.Namespace, folder: Path) -> bool | str:
    """All lives of one layout; whether they are good, or why they could not go on."""
    case = CASES[name]
    layout, data, children = folder / f"{name}.csv", folder / "data", folder / "children.csv"
    layout.write_text(POOLS + case.rows)
    children.write_text(POOLS)
    library = preloadable(options.build, options.library or options.build / "libmosalloc.so")
    environment = {"LD_PRELOAD": library, "MOSALLOC_LAYOUT": str(layout)} | dict(case.environment)
    if case.few:
        environment["LIVES_CHILD_LAYOUT"] = str(children)
    without = (*case.without, f"--data={data}", *(f"--except={word}" for word in options.left_out))
    seen = {} if options.plain else environment
    subject = Subject(options.build / "lives", seen, without, options.hangs_after, notes_allowed=True)
    run = Run(name, case, subject, folder, options, counters.fields())
    start = time.monotonic()
    try:
        return judge(run, run_lives(run), time.monotonic() - start)
    except Starved as starved:
        return str(starved)


def missing(case: Case, options: argparse.Namespace) -> str:
    """Why this layout cannot run here; empty if it can."""
    needed = 0 if options.plain else case.pages_2mb * options.jobs
    for _ in range(50):  # the kernel frees the pages of rings a little after their process
        if free_2mb_pages() >= needed:
            break
        time.sleep(0.1)
    if free_2mb_pages() < needed:
        return (
            f"{needed} pages of 2MB needed, {free_2mb_pages()} free; as root: sysctl vm.nr_hugepages={needed}"
        )
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--operations", type=int, default=200_000, help="for each layout (default 200000)")
    parser.add_argument("--layout", choices=CASES, action="append", help="layout to test (default: 4kb)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--min-hits", type=int, default=1, help="of each mechanism (default 1)")
    parser.add_argument("--keep-going", action="store_true", help="continue after a difference")
    parser.add_argument("--jobs", type=int, default=2, help="lives at a time (default 2)")
    parser.add_argument(
        "--hangs-after", type=int, default=HANGS_AFTER_S, metavar="S", help=f"default {HANGS_AFTER_S} s"
    )
    parser.add_argument(
        "--plain", action="store_true", help="compare runs without the library with each other"
    )
    parser.add_argument("--except", dest="left_out", action="append", default=[], metavar="NAME")
    parser.add_argument("--library", type=Path, help="preload this library instead of BUILD/libmosalloc.so")
    options = parser.parse_args()
    good, skipped = True, 0
    with tempfile.TemporaryDirectory(prefix="lives-") as name:
        folder = Path(name)
        (folder / "data").write_bytes(os.urandom(DATA_BYTES))
        for layout in options.layout or ["4kb"]:
            case = CASES[layout]
            reason = missing(case, options)
            if not reason:
                work = partial(one_layout, layout, options, folder)
                result = without_free_pages(work) if case.few and not options.plain else work()
                reason = result if isinstance(result, str) else ""
                good = good and result is not False
            if reason:
                skipped += 1
                print(f"SKIP {layout}: {reason}", flush=True)
    return 1 if not good else SKIP if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
