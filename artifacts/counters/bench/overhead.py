#!/usr/bin/env python3
"""Measure what counting costs: region and whole run with tessera-count relative to the plain program.

usage: overhead.py BUILD WORKLOADS [PAIRS [EVENTS]]
BUILD has tessera-count, WORKLOADS the benchmark kernels. A pair runs both in random order. Without EVENTS it
counts page faults, task clock, context switches and migrations, which every machine has.

- region_percent: change of the program's own time of its region. Needs a quiet machine.
- cpu_ms: processor time that a run takes more, with launcher and start. The first row has almost no region:
  only this column means something in it.
- hook_us: the program's time of its region minus region_ns, that is, what the hook does between both clocks.

Medians of the pairs; low and high are order statistics around them with a coverage of at least 95%.
"""

import csv
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SOFTWARE = {"faults": 2, "clock": 1, "switches": 3, "migrations": 4}
PROGRAMS = (
    ("gups", "--size", "1MB", "--reads", "1000"),
    ("gups", "--size", "64MB", "--reads", "10000000"),
    ("pr", "--graph", "kronecker", "--scale", "17", "--degree", "6", "--iterations", "10"),
)
#: Bounds: the region's time in percent, and the run's time in ms.
MOST_PERCENT, MOST_MS = 0.5, 5.0


def run(argv: list[str]) -> tuple[int, float]:
    """The program's own time of its region in ns, and the processor time of all its processes in ms."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(argv, stdout=output)
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


def main() -> None:
    build, workloads = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 15
    rng = random.Random(1)
    print("program,pairs,region_percent,low,high,cpu_ms,low,high,hook_us")
    with tempfile.TemporaryDirectory() as folder:
        events, counts = Path(folder, "events.tsv"), Path(folder, "counts.csv")
        rows = (f"{name}\t1\t{config:#x}\t0x0\t0x0\tuk\n" for name, config in SOFTWARE.items())
        events.write_text(Path(sys.argv[4]).read_text() if len(sys.argv) > 4 else "".join(rows))
        launcher = [str(build / "tessera-count"), "--events", str(events), "--counts", str(counts), "--"]
        for name, *arguments in PROGRAMS:
            plain = [str(workloads / name), *arguments]
            run(plain)
            percents, added, clocks = [], [], []
            for _ in range(pairs):
                sides = {}
                for side in rng.sample(["plain", "counted"], 2):
                    sides[side] = run(launcher + plain if side == "counted" else plain)
                percents.append(100 * (sides["counted"][0] / sides["plain"][0] - 1))
                added.append(sides["counted"][1] - sides["plain"][1])
                clocks.append((sides["counted"][0] - region_ns(counts)) / 1000)
            shown = [f"{v:.3f}" for x in (percents, added) for v in (statistics.median(x), *interval(x))]
            print(
                " ".join([name, *arguments]),
                pairs,
                *shown,
                f"{statistics.median(clocks):.1f}",
                sep=",",
                flush=True,
            )
    print(f"bounds: {MOST_PERCENT}% of the region, {MOST_MS} ms a run", file=sys.stderr)


main()
