#!/usr/bin/env python3
"""Measure the cost of calls with the library relative to the cost without it: median of interleaved pairs.

usage: compare.py BUILD [ROUNDS]
It measures only calls and prints no intervals, because it needs only Python; `tessera lab allocator bench`
prints the whole table with its bounds. The library runs with 4KB pages only, so the ratio is the cost of
interception.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "differential"))

from judge import preloadable

ROWS = (
    "malloc_small_1_thread",
    "malloc_small_4_threads",
    "malloc_256KB",
    "malloc_512KB",
    "malloc_1MB",
    "malloc_2MB",
    "mmap_4KB",
    "mmap_64KB",
    "mmap_1MB",
    "mmap_4KB_20000_holes",
    "mmap_64KB_20000_holes",
    "malloc_small_20000_holes",
)


def cost_ns(build: Path, row: str, environment: dict[str, str]) -> float:
    argv = [str(build / "costs"), row, "5"]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[1])


def main() -> None:
    build, rounds = Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as folder:
        layout = Path(folder) / "4kb.csv"
        layout.write_text("type,pageSize,startOffset,endOffset\n")
        plain = dict(os.environ)
        ours = plain | {
            "LD_PRELOAD": preloadable(build, build / "libmosalloc.so"),
            "MOSALLOC_LAYOUT": str(layout),
        }
        print("operation,without_ns,with_ns,ratio")
        for row in ROWS:
            pairs = [(cost_ns(build, row, plain), cost_ns(build, row, ours)) for _ in range(rounds)]
            ratio = statistics.median(with_library / without for without, with_library in pairs)
            lowest = [min(pair[side] for pair in pairs) for side in (0, 1)]
            print(f"{row},{lowest[0]:.2f},{lowest[1]:.2f},{ratio:.3f}", flush=True)


main()
