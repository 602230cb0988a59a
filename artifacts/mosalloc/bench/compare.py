#!/usr/bin/env python3
"""Cost with the library as a ratio to cost without it, from interleaved runs; lowest of each counts.

usage: compare.py BUILD [ROUNDS]
The library runs with 4KB pages only, so the ratio is what catching the calls costs, not what huge pages gain.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def costs(build: Path, environment: dict[str, str]) -> dict[str, float]:
    done = subprocess.run([build / "costs"], env=environment, capture_output=True, text=True, check=True)
    return {name: float(ns) for name, ns in (line.split() for line in done.stdout.splitlines())}


def main() -> None:
    build, rounds = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as folder:
        layout = Path(folder) / "4kb.csv"
        layout.write_text("type,pageSize,startOffset,endOffset\n")
        plain = dict(os.environ)
        ours = plain | {"LD_PRELOAD": str(build / "libmosalloc.so"), "MOSALLOC_LAYOUT": str(layout)}
        runs = [(costs(build, plain), costs(build, ours)) for _ in range(rounds)]
    print("operation,without_ns,with_ns,ratio")
    for name in runs[0][0]:
        without, with_library = (min(run[side][name] for run in runs) for side in (0, 1))
        print(f"{name},{without:.2f},{with_library:.2f},{with_library / without:.3f}")


main()
