"""A Broadwell server as files, a checkout with two small workloads, and the fake launcher of tests/fakes."""

from __future__ import annotations

import csv
from pathlib import Path

from tessera.measure.counted.request import MeasurementOptions
from tessera.measure.rounds import StoppingRule

ROOT = Path(__file__).resolve().parents[3]
LAUNCHER = ROOT / "tests/fakes/tessera-count"
ID = "0123456789abcdef0123456789abcdef"
_POOLS = "sys/kernel/mm/hugepages"
_CPU = "sys/devices/system/cpu"
_PMU = "sys/bus/event_source/devices/cpu"
_PRESSURE = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n"
_PROCESSOR = """processor : {n}
vendor_id : GenuineIntel
cpu family : 6
model : 79
stepping : 1
microcode : 0xb000040
physical id : 0
core id : {n}
flags : fpu avx2 bmi2 fma
"""

#: A machine on which every condition that bars a bundle is met.
FILES = {
    "proc/cpuinfo": "\n".join(_PROCESSOR.format(n=n) for n in range(2)),
    "proc/meminfo": "MemTotal:       16384000 kB\n",
    "proc/sys/kernel/osrelease": "6.1.0-test",
    "proc/buddyinfo": "Node 0, zone Normal 1 1 1 1 1 1 1 1 1 4000 0",
    "proc/pressure/cpu": _PRESSURE,
    "proc/pressure/memory": _PRESSURE,
    "proc/self/status": "CapEff:\t0000000000000000\n",
    "proc/1/comm": "systemd",
    "proc/sys/kernel/perf_event_paranoid": "1",
    "proc/sys/kernel/numa_balancing": "0",
    "proc/sys/kernel/nmi_watchdog": "0",
    "proc/sys/kernel/randomize_va_space": "2",
    f"{_PMU}/type": "4",
    f"{_PMU}/format/event": "config:0-7",
    f"{_PMU}/format/umask": "config:8-15",
    f"{_PMU}/format/cmask": "config:24-31",
    f"{_POOLS}/hugepages-2048kB/nr_hugepages": "4096",
    f"{_POOLS}/hugepages-2048kB/free_hugepages": "4096",
    f"{_POOLS}/hugepages-2048kB/resv_hugepages": "0",
    f"{_POOLS}/hugepages-2048kB/nr_overcommit_hugepages": "0",
    f"{_POOLS}/hugepages-1048576kB/nr_hugepages": "4",
    f"{_POOLS}/hugepages-1048576kB/free_hugepages": "4",
    f"{_POOLS}/hugepages-1048576kB/resv_hugepages": "0",
    f"{_POOLS}/hugepages-1048576kB/nr_overcommit_hugepages": "0",
    "sys/kernel/mm/transparent_hugepage/enabled": "always madvise [never]",
    "sys/kernel/mm/transparent_hugepage/defrag": "always defer defer+madvise madvise [never]",
    "sys/kernel/mm/ksm/run": "0",
    f"{_CPU}/smt/active": "0",
    f"{_CPU}/smt/control": "off",
    f"{_CPU}/vulnerabilities/meltdown": "Mitigation: PTI",
    f"{_CPU}/cpu0/thermal_throttle/core_throttle_count": "3",
    "sys/devices/system/node/node0/cpulist": "0-1",
    "cpuid.csv": "0x4,0x0,0x1c004121,0x1c0003f,0x3f,0x0\n",
    "machine-id": ID,
}
#: SMT on halves the counters: loads and stores have a pass each.
TWO_PASSES = {f"{_CPU}/smt/active": "1", f"{_CPU}/smt/control": "on"}

_WORKLOAD = """name: {name}
executable: {name}
description: a workload of the tests
source: tests
{more}sizes:
  default:
    args: [--size, 16MB]
    footprint: 8MB
    heap_pool: 2MB
    anon_pool: 32MB
"""

LAYOUTS = [*(f"growing-{n}" for n in range(9)), "1gb", *(f"random-{n}" for n in range(9)),
           *(f"sliding-{p}-{n}" for p in (20, 40, 60, 80) for n in range(9))]  # fmt: skip


def engine_cells(path: Path, workloads=("alpha", "beta")) -> dict[tuple[str, str], dict[str, int]]:
    """What an engine computed: R falls with the index of the layout, and C exceeds R under 4KB pages."""
    cells = {}
    for shift, workload in enumerate(workloads):
        for at, layout in enumerate(LAYOUTS):
            share = 1 - min(at, 9) / 10
            cells[workload, layout] = {
                "runtime_cycles": 400_000_000 + round(100_000_000 * share) + 7 * at + shift,
                "stlb_hits": 1_000_003 + at,
                "stlb_misses": round(5_000_001 * share) + 13,
                "walk_cycles": round(600_000_007 * share) + 1,
                "instructions": 700_000_000,
            }
    with path.open("w", newline="") as stream:
        columns = ["workload", "layout", *next(iter(cells.values()))]
        writer = csv.DictWriter(stream, columns)
        writer.writeheader()
        for (workload, layout), cell in cells.items():
            writer.writerow({"workload": workload, "layout": layout, **cell})
    return cells


class World:
    """Folders of one test; ``environment`` is what the command line needs."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.machine, self.checkout, self.fake = folder / "machine", folder / "checkout", folder / "fake"
        self.fake.mkdir()
        self.change(FILES)
        for name in ("alpha", "beta"):
            self.workload(name)
        for name in ("config/claims.yaml", "config/proof-reading.yaml", "reference-results", "workflow"):
            (self.checkout / name).symlink_to(ROOT / name)
        self.cells = engine_cells(folder / "engine.csv")
        self.environment = {
            "TESSERA_ROOT": str(self.checkout),
            "TESSERA_ENGINE": "none",
            "TESSERA_LAUNCHER": str(LAUNCHER),
            "TESSERA_MACHINE_ROOT": str(self.machine),
            "TESSERA_FAKE_CELLS": str(folder / "engine.csv"),
            "TESSERA_FAKE_DIR": str(self.fake),
        }
        self.said: list[str] = []

    def change(self, files: dict[str, str]) -> None:
        """Write files of the machine."""
        for name, text in files.items():
            path = self.machine / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def workload(self, name: str, more: str = "") -> None:
        """A workload file and its program, which never runs."""
        for path, text in (
            (self.checkout / "config/workloads" / f"{name}.yaml", _WORKLOAD.format(name=name, more=more)),
            (self.checkout / "build/workloads" / name, f"the program {name}\n"),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def request(self, **changes) -> MeasurementOptions:
        """Two rounds of the layouts ``core``, unless changed."""
        values = {"out": self.folder / "bundle", "layouts": "core", "rule": StoppingRule(0.005, 2, 2)}
        return MeasurementOptions(**values | changes)

    def lines(self, name: str) -> list[str]:
        """Starts or ends that the launcher noted."""
        path = self.fake / name
        return path.read_text().splitlines() if path.exists() else []
