"""A machine as files: a quiet server with two sockets, on which every condition is met."""

from __future__ import annotations

import os
import struct
from pathlib import Path

POOL = "sys/kernel/mm/hugepages/hugepages-2048kB"
CPUINFO = """processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 79
stepping\t: 1
flags\t\t: fpu vme avx2 bmi2

processor\t: 1
flags\t\t: fpu hypervisor la57
"""
#: Order 9 of DMA32: 5 blocks of 2MB, order 10: 7 of 4MB. 5 + 2 x 7 = 19 on node 0; DMA is not counted.
BUDDYINFO = """Node 0, zone      DMA 0 0 0 0 0 0 0 0 1 1 3
Node 0, zone    DMA32      4      4      3      5      6      4      4      6      4      5      7
Node 0, zone   Normal    795     64   1493    980    589    509    245    136    995      0      0
Node 1, zone   Normal      1      1      1      1      1      1      1      1      1    100      0
"""
PRESSURE = (
    "some avg10=0.20 avg60=9.51 avg300=21.51 total=15622445736\nfull avg10=77.00 avg60=0 avg300=0 total=0"
)

FILES = {
    "proc/cpuinfo": CPUINFO,
    "proc/buddyinfo": BUDDYINFO,
    "proc/pressure/cpu": PRESSURE,
    "proc/pressure/memory": PRESSURE,
    "proc/self/status": "Name:\tpython\nCapEff:\t0000000000000000\n",
    "proc/1/comm": "systemd",
    "proc/sys/kernel/perf_event_paranoid": "1",
    "proc/sys/kernel/numa_balancing": "0",
    "proc/sys/kernel/nmi_watchdog": "0",
    "proc/sys/kernel/randomize_va_space": "2",
    "proc/sys/vm/drop_caches": "0",
    "proc/sys/vm/compact_memory": "0",
    "sys/bus/event_source/devices/cpu/type": "4",
    f"{POOL}/nr_hugepages": "12",
    f"{POOL}/free_hugepages": "10",
    f"{POOL}/resv_hugepages": "3",
    f"{POOL}/nr_overcommit_hugepages": "0",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
    "sys/kernel/mm/transparent_hugepage/defrag": "always defer defer+madvise [madvise] never",
    "sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled": "always inherit madvise [never]",
    "sys/kernel/mm/ksm/run": "0",
    "sys/devices/system/cpu/smt/active": "0",
    "sys/devices/system/cpu/smt/control": "off",
    "sys/devices/system/cpu/intel_pstate/no_turbo": "0",
    "sys/devices/system/cpu/cpu0/cpuidle/state0/name": "POLL",
    "sys/devices/system/cpu/vulnerabilities/meltdown": "Not affected",
    "sys/devices/system/cpu/vulnerabilities/spectre_v2": "Vulnerable",
    "usr/bin/taskset": "",
}
for _node in (0, 1):
    FILES[f"sys/devices/system/node/node{_node}/hugepages/hugepages-2048kB/nr_hugepages"] = "6"
    FILES[f"sys/devices/system/node/node{_node}/hugepages/hugepages-2048kB/free_hugepages"] = "5"
for _cpu in (0, 1):
    _policy = f"sys/devices/system/cpu/cpufreq/policy{_cpu}"
    FILES[f"{_policy}/scaling_governor"] = "performance"
    FILES[f"{_policy}/scaling_available_governors"] = "performance powersave"
    for _kind in ("core", "package"):
        FILES[f"sys/devices/system/cpu/cpu{_cpu}/thermal_throttle/{_kind}_throttle_count"] = "4"


def write(root: Path, changes: dict[str, str | None] | None = None) -> Path:
    """The machine below ``root``; a change to None removes a file, a folder stays."""
    for name, text in {**FILES, **(changes or {})}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.unlink(missing_ok=True)
        else:
            path.write_text(text + "\n")
    latency = root / "dev/cpu_dma_latency"
    latency.parent.mkdir(parents=True, exist_ok=True)
    latency.write_bytes(struct.pack("=i", 0))
    msr = root / "dev/cpu/0/msr"
    msr.parent.mkdir(parents=True, exist_ok=True)
    with msr.open("wb") as stream:
        os.pwrite(stream.fileno(), struct.pack("=Q", 0xF0), 0x1A4)
    return root


#: A machine as distributions set it up: what each condition that can be set starts from.
LOUD = {
    "proc/sys/kernel/perf_event_paranoid": "4",
    "proc/sys/kernel/numa_balancing": "1",
    "proc/sys/kernel/nmi_watchdog": "1",
    f"{POOL}/nr_overcommit_hugepages": "64",
    "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never",
    "sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled": "[always] inherit madvise never",
    "sys/kernel/mm/ksm/run": "1",
    "sys/devices/system/cpu/smt/active": "1",
    "sys/devices/system/cpu/smt/control": "on",
    "sys/devices/system/cpu/cpu3/online": "0",
    "sys/devices/system/cpu/cpu2/online": "1",
    "sys/devices/system/cpu/cpufreq/policy0/scaling_governor": "powersave",
    "sys/devices/system/cpu/cpufreq/policy1/scaling_governor": "powersave",
    "proc/812/comm": "irqbalance",
}
#: The settings in it, and the value that --fix writes.
SET = {
    "proc/sys/kernel/perf_event_paranoid": "1",
    "proc/sys/kernel/numa_balancing": "0",
    "proc/sys/kernel/nmi_watchdog": "0",
    f"{POOL}/nr_overcommit_hugepages": "0",
    "sys/kernel/mm/transparent_hugepage/enabled": "never",
    "sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled": "never",
    "sys/kernel/mm/ksm/run": "0",
    "sys/devices/system/cpu/cpufreq/policy0/scaling_governor": "performance",
    "sys/devices/system/cpu/cpufreq/policy1/scaling_governor": "performance",
    "sys/devices/system/cpu/cpu3/online": "0",
    "sys/devices/system/cpu/smt/control": "off",
}


def values(root: Path) -> dict[str, str]:
    """The chosen value of every setting of :data:`SET`."""
    found = {}
    for name in SET:
        text = (root / name).read_text().strip()
        found[name] = text.split("[")[1].split("]")[0] if "[" in text else text
    return found
