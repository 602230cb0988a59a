#!/usr/bin/env python3
"""Measure the speed of recording: seconds of the region of interest natively, under QEMU, and recorded.

    artifacts/tracer/benchmark/recording.py build [runs]

`build` is the folder with workloads/ and tracer/. The times come from the program (`roi_ns` of its JSON
line), without start-up and verification; the script keeps the best of `runs` (default 3). It needs
qemu-x86_64. The ratio to QEMU without the plugin is the cost of recording itself.
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


def main() -> int:
    """Print one row for each kernel."""
    if len(sys.argv) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    build, runs = Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 3
    heads = ("kernel", "M accesses", "native s", "QEMU s", "recorded s", "M accesses/s", "bytes/access")
    print(("{:>13} " * len(heads)).format(*heads))
    for name, arguments in KERNELS.items():
        program = [str(build / "workloads" / name), *arguments]
        with tempfile.TemporaryDirectory() as folder:
            trace, settings = Path(folder) / "t.tst", Path(folder) / "settings"
            settings.write_text(f"out={trace}\nprogram={name}\nroi=markers\n")
            plugin = f"{build}/tracer/libtessera-trace.so,settings={settings}"
            native = roi_seconds(program, runs)
            emulated = roi_seconds(["qemu-x86_64", "-cpu", "max", *program], runs)
            recorded = roi_seconds(["qemu-x86_64", "-cpu", "max", "-plugin", plugin, *program], runs)
            tool = [str(build / "tracer" / "tessera-trace"), "info", str(trace), "--json"]
            info = json.loads(subprocess.run(tool, capture_output=True, text=True, check=True).stdout)
        million = info["accesses"] / 1e6
        size = info["file_bytes"] / info["accesses"]
        print(
            f"{name:>13} {million:13.1f} {native:13.2f} {emulated:13.2f} {recorded:13.2f} "
            f"{million / recorded:13.1f} {size:13.2f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
