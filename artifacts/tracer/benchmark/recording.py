#!/usr/bin/env python3
"""Measure the speed of recording: seconds of the region of interest natively, under QEMU, recorded, counted.

    artifacts/tracer/benchmark/recording.py build [runs]

`build` is the folder with workloads/ and tracer/. The times come from the program (`roi_ns` of its JSON
line), without start-up and verification; the script keeps the best of `runs` (default 3). It needs
qemu-x86_64. The ratio to QEMU without the plugin is the cost of recording itself.
`M counted` are the accesses of the region as gaps between windows count them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

KERNELS = {
    "gups": ["--size", "128MB", "--reads", "10000000"],
    "graph500": ["--scale", "17", "--roots", "1"],
    "bfs": ["--graph", "road", "--scale", "20"],
    "hashjoin": ["--elements", "1048576", "--probes", "2097152"],
    "pr": ["--scale", "19", "--degree", "6", "--iterations", "1", "--tolerance", "0"],
}


def roi_seconds(command: list[str], runs: int) -> float:
    """Best region-of-interest time of several runs."""

    def once() -> float:
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return json.loads(out.splitlines()[-1])["roi_ns"] / 1e9

    return min(once() for _ in range(runs))


#: Lines of the plugin's settings by what is measured. `gap`: a window of one access and then the gap to one
#: that never comes; `counted`: behind the last window, where nothing compares the position.
MEASURED = {
    "recorded": "",
    "gap": f"count_region=1\nwindows=2\nwindow_accesses=1\ngap_accesses={1 << 50}\n",
    "counted": "count_region=1\nwindows=0\n",
}


def header(build: Path, trace: Path) -> dict:
    """The header of a trace."""
    tool = [str(build / "tracer" / "tessera-trace"), "info", str(trace), "--json"]
    return json.loads(subprocess.run(tool, capture_output=True, text=True, check=True).stdout)


def main() -> int:
    """Print one row for each kernel."""
    if len(sys.argv) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    build, runs = Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 3
    columns = ("native", "QEMU", *MEASURED)
    heads = ["kernel", "M accesses", "M counted", *(f"{name} s" for name in columns)]
    heads += [*(f"{name} M/s" for name in columns[1:]), "bytes/access"]
    print(("{:>13} " * len(heads)).format(*heads))
    for name, arguments in KERNELS.items():
        program = [str(build / "workloads" / name), *arguments]
        with tempfile.TemporaryDirectory() as folder:
            seconds = {"native": roi_seconds(program, runs)}
            seconds["QEMU"] = roi_seconds(["qemu-x86_64", "-cpu", "max", *program], runs)
            found = {}
            for what, lines in MEASURED.items():
                trace, settings = Path(folder) / f"{what}.tst", Path(folder) / what
                settings.write_text(f"out={trace}\nprogram={name}\nroi=markers\n{lines}")
                plugin = f"{build}/tracer/libtessera-trace.so,settings={settings}"
                seconds[what] = roi_seconds(["qemu-x86_64", "-cpu", "max", "-plugin", plugin, *program], runs)
                found[what] = header(build, trace)
        million = found["recorded"]["accesses"] / 1e6
        counted = found["counted"]["region_accesses_seen"] / 1e6
        row = [million, counted, *seconds.values(), *(million / seconds[one] for one in columns[1:])]
        row.append(found["recorded"]["file_bytes"] / found["recorded"]["accesses"])
        print(f"{name:>13} " + " ".join(f"{number:13.2f}" for number in row))
    return 0


if __name__ == "__main__":
    sys.exit(main())
