#!/usr/bin/env python3
"""Measure what counting costs: region and whole run with tessera-count relative to the plain program.

usage: overhead.py BUILD WORKLOADS [--seconds S | --pairs N] [--program NAME ...] [--events FILE]
BUILD has tessera-count, WORKLOADS the benchmark kernels. Without an events file it counts page faults, task
clock, context switches and migrations, which every machine has. Needs a quiet machine.

- region_percent: change of the program's own time of its region.
- control_percent: the same between two plain runs of a block: what the machine shows where nothing changed.
- cpu_ms: processor time that a run takes more, with launcher and start. The program ``start`` has almost no
  region: only this column means something in it.
- hook_us: the program's time of its region minus region_ns, that is, what the hook does between both clocks.

Runs come in blocks of two pairs, plain-counted-counted-plain or the reverse at random, so that a drift of the
machine cancels. Regions are short: the places of a run's pages in memory change its time, and a longer run
does not average over them, but more runs do. The programs run on one processor, this script on another.
Shown are medians of the pairs; low and high are order statistics around them, with a coverage of at least 95%
for any distribution. The number of pairs does not depend on what they show.
"""

import argparse
import csv
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOFTWARE = {"faults": 2, "clock": 1, "switches": 3, "migrations": 4}
PROGRAMS = {
    "start": ("gups", "--size", "1MB", "--reads", "1000"),
    "gups": ("gups", "--size", "64MB", "--reads", "4000000"),
    "pr": ("pr", "--graph", "kronecker", "--scale", "16", "--degree", "6", "--iterations", "20"),
    "gups-long": ("gups", "--size", "64MB", "--reads", "40000000"),
}
#: Bounds: the region's time in percent, and the run's time in ms.
MOST_PERCENT, MOST_MS = 0.5, 5.0
COLUMNS = "program,pairs,region_percent,low,high,control_percent,low,high,cpu_ms,low,high,hook_us"


def apart() -> int | None:
    """Keep this script on one processor; the other one is for the programs. None if there is only one."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        return None
    os.sched_setaffinity(0, {allowed[0]})
    return allowed[-1]


def run(argv: list[str], processor: int | None) -> tuple[int, float]:
    """The program's own time of its region in ns, and the processor time of all its processes in ms."""
    bind = None if processor is None else lambda: os.sched_setaffinity(0, {processor})
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(argv, stdout=output, preexec_fn=bind)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"{argv}: status {process.returncode}")
        output.seek(0)
        result = json.loads(output.read().splitlines()[-1])
    return result["roi_ns"], (usage.ru_utime + usage.ru_stime) * 1000


def region_ns(counts: Path) -> int:
    with counts.open(newline="") as stream:
        return int({row["event"]: row["value"] for row in csv.DictReader(stream)}["region_ns"])


def interval(values: list[float]) -> tuple[float, float]:
    """Order statistics around the median; all values if there are fewer than 6."""
    ordered, n = sorted(values), len(values)
    tail, low = 0.0, 0
    while low < n // 2 and tail + math.comb(n, low) / 2**n <= 0.025:
        tail += math.comb(n, low) / 2**n
        low += 1
    low = max(low - 1, 0)
    return ordered[low], ordered[n - 1 - low]


def percent(new: int, old: int) -> float:
    return 100 * (new / old - 1)


def measure(plain: list[str], launcher: list[str], counts: Path, options, processor, rng) -> tuple[list, ...]:
    """Blocks until the pairs or the seconds are used up: (region %, control %, more ms, hook us) of each."""
    regions, controls, added, hooks = [], [], [], []
    end = time.monotonic() + options.seconds
    while len(regions) < options.pairs if options.pairs else time.monotonic() < end:
        outer = rng.choice([True, False])  # whether the first and the last run count
        sides: dict[bool, list[tuple[int, float]]] = {True: [], False: []}
        for counted in (outer, not outer, not outer, outer):
            sides[counted].append(run(launcher + plain if counted else plain, processor))
            if counted:
                hooks.append((sides[True][-1][0] - region_ns(counts)) / 1000)
        for with_counts, without in zip(sides[True], sides[False], strict=True):
            regions.append(percent(with_counts[0], without[0]))
            added.append(with_counts[1] - without[1])
        one, other = rng.sample(sides[False], 2)
        controls.append(percent(one[0], other[0]))
    return regions, controls, added, hooks


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", type=Path)
    parser.add_argument("workloads", type=Path)
    parser.add_argument("--seconds", type=float, default=60, help="for each program (default 60)")
    parser.add_argument("--pairs", type=int, help="instead of a time")
    parser.add_argument("--program", action="append", choices=PROGRAMS, help="default: start, gups and pr")
    parser.add_argument("--events", type=Path)
    options = parser.parse_args()
    build, workloads = options.build.resolve(), options.workloads.resolve()
    processor, rng = apart(), random.Random(1)
    print(COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        events, counts = Path(folder, "events.tsv"), Path(folder, "counts.csv")
        rows = (f"{name}\t1\t{config:#x}\t0x0\t0x0\tuk\n" for name, config in SOFTWARE.items())
        events.write_text(options.events.read_text() if options.events else "".join(rows))
        launcher = [str(build / "tessera-count"), "--events", str(events), "--counts", str(counts), "--"]
        for program in options.program or ("start", "gups", "pr"):
            name, *arguments = PROGRAMS[program]
            plain = [str(workloads / name), *arguments]
            run(plain, processor)
            *columns, hooks = measure(plain, launcher, counts, options, processor, rng)
            shown = [f"{v:.3f}" for x in columns for v in (statistics.median(x), *interval(x))]
            hook = f"{statistics.median(hooks):.1f}"
            print(" ".join([name, *arguments]), len(columns[0]), *shown, hook, sep=",", flush=True)
    print(f"bounds: {MOST_PERCENT}% of the region, {MOST_MS} ms a run", file=sys.stderr)


if __name__ == "__main__":
    main()
