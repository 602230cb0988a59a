"""A machine's `sys` with energy counters, and a perf and taskset that count by a formula."""

from __future__ import annotations

from pathlib import Path

RANGE_UJ = 262_143_328_850  #: of a Haswell server
PERF = """#!/usr/bin/python3
import pathlib, subprocess, sys
words = sys.argv[1:]
log, events = pathlib.Path(words[words.index("-o") + 1]), words[words.index("-e") + 1].split(",")
program = words[words.index("--") + 1:]
energy = "--per-socket" in words
value = {VALUE}
done = subprocess.run(program)
threads = next((int(word) for word in reversed(program) if word.isdigit()), 1)
with log.open("w") as out:
    for event in events:
        if energy:
            out.write(f"S0;1;{{30.0 + threads:.2f}};Joules;{{event}};1000;100.00;;\\n")
            out.write(f"S1;1;7.00;Joules;{{event}};1000;100.00;;\\n")
        else:
            out.write(f"{{value(event, threads)}};;{{event}}:u;1000;100.00;;\\n")
sys.exit(done.returncode)
"""
VALUE = 'lambda event, n: {"instructions": 1000 * n, "LLC-loads": 100, "LLC-load-misses": 10 * n}[event]'


def zone(root: Path, name: str, words: str, uj: int | str = 1000, limit: int | str = RANGE_UJ) -> Path:
    """One folder of powercap."""
    folder = root / "sys/class/powercap" / name
    folder.mkdir(parents=True)
    for file, text in (("name", words), ("energy_uj", uj), ("max_energy_range_uj", limit)):
        (folder / file).write_text(f"{text}\n")
    return folder


def two_sockets(root: Path) -> None:
    """Two packages with their parts, the platform's zone, and four processors on each socket."""
    zone(root, "intel-rapl:0", "package-0")
    zone(root, "intel-rapl:0:0", "core")
    zone(root, "intel-rapl:0:1", "dram")
    zone(root, "intel-rapl:1", "package-1", 5)
    zone(root, "intel-rapl:2", "psys", 6)
    zone(root, "intel-rapl-mmio:0", "package-0", 7)
    (root / "sys/class/powercap/intel-rapl").mkdir()
    for number in range(8):
        folder = root / f"sys/devices/system/cpu/cpu{number}/topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text(f"{number // 4}\n")


def programs(folder: Path, value: str = VALUE) -> None:
    """perf, and a taskset that only starts its command."""
    folder.mkdir(exist_ok=True)
    for name, text in (("perf", PERF.format(VALUE=value)), ("taskset", '#!/bin/sh\nshift 2\nexec "$@"\n')):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
