"""Conditions of the processor: SMT and nodes, frequency and idle states, and what the firmware decides."""

from __future__ import annotations

import struct
from collections import Counter

from tessera.machine.counters.event import INTEL
from tessera.machine.environment.condition import (
    BARS,
    NOTED,
    Change,
    ConditionRule,
    Hold,
    KernelSetting,
    Needs,
    Reading,
    SystemFiles,
    UnreadableFact,
)

# Conditions of the processor that decide claims: bare metal, one thread on a core, one node.

CPUS = "sys/devices/system/cpu"
NODES = "sys/devices/system/node"


def _guest(tree: SystemFiles, needs: Needs) -> Reading:
    guest = "hypervisor" in tree.cpu_flags()
    return Reading(not guest, "a guest (flag hypervisor): page walks are nested" if guest else "bare metal")


def _smt(tree: SystemFiles, needs: Needs) -> Reading:
    """Kernels before 4.19 have no ``smt/active``: the lists of sibling threads say the same."""
    if tree.lacks(CPUS, "smt"):
        lists = tree.names(f"{CPUS}/cpu[0-9]*/topology/thread_siblings_list")
        if not lists:
            raise UnreadableFact(f"/{CPUS}: neither smt/active nor topology/thread_siblings_list")
        shared = any(separator in tree.text(name) for name in lists for separator in ",-")
        return Reading(not shared, "on" if shared else "off", remedy="turn it off in the firmware")
    active = tree.number(f"{CPUS}/smt/active")
    return Reading(active == 0, "on" if active else "off")


def _smt_off(tree: SystemFiles) -> list[Change]:
    """``on`` brings all processors online, so those that were offline before are recorded, too."""
    if not tree.has(f"{CPUS}/smt/control") or tree.text(f"{CPUS}/smt/control") != "on":
        return []
    offline = [name for name in tree.names(f"{CPUS}/cpu[0-9]*/online") if tree.text(name) == "0"]
    return [
        *(KernelSetting(tree.path(name), "0") for name in offline),
        KernelSetting(tree.path(f"{CPUS}/smt/control"), "off"),
    ]


def _socket(tree: SystemFiles, needs: Needs) -> Reading:
    """With several nodes, the harness binds a run to one processor, and reserves huge pages on its node."""
    if tree.lacks("sys/devices/system", "node"):
        return Reading(True, "this kernel has no NUMA nodes")
    nodes = tree.names(f"{NODES}/node[0-9]*")
    if not nodes:
        raise UnreadableFact(f"/{NODES}: no node")
    if len(nodes) == 1:
        return Reading(True, "1 node")
    found = any(tree.has(place) for place in ("usr/bin/taskset", "bin/taskset", "usr/local/bin/taskset"))
    return Reading(found, f"{len(nodes)} nodes, {'taskset' if found else 'no taskset'}")


PROCESSOR_RULES = (
    ConditionRule("guest", BARS, "bare metal", "run on bare metal", _guest),
    ConditionRule(
        "smt", BARS, "off: one thread on a core", f"echo off | sudo tee /{CPUS}/smt/control", _smt, _smt_off
    ),
    ConditionRule(
        "socket", BARS, "1 node, or taskset to bind a run to one", "sudo apt-get install util-linux", _socket
    ),
)


# Settings of frequency and of idle states: recorded. Whether the frequency held is judged from the runs.

NO_TURBO = f"{CPUS}/intel_pstate/no_turbo"
BOOST = f"{CPUS}/cpufreq/boost"
DMA_LATENCY = "dev/cpu_dma_latency"
_LATENCY = struct.Struct("=i")


def _governors(tree: SystemFiles) -> list[str]:
    """Files, one for each policy; an offline processor's cannot be read and is left out."""
    found = []
    for name in tree.names(f"{CPUS}/cpufreq/policy*/scaling_governor"):
        try:
            tree.text(name)
        except UnreadableFact:
            continue
        found.append(name)
    return found


def _governor(tree: SystemFiles, needs: Needs) -> Reading:
    files = _governors(tree)
    if not files:
        raise UnreadableFact(f"/{CPUS}/cpufreq: no policy (no driver of frequencies)")
    counts = Counter(tree.text(name) for name in files)
    found = ", ".join(f"{name} ({count})" for name, count in sorted(counts.items()))
    return Reading(set(counts) == {"performance"}, found)


def _performance(tree: SystemFiles) -> list[Change]:
    """Only where the driver offers it."""
    found = []
    for name in _governors(tree):
        offered = name.replace("scaling_governor", "scaling_available_governors")
        if tree.has(offered) and "performance" in tree.text(offered).split():
            found.append(KernelSetting(tree.path(name), "performance"))
    return found


def _turbo(tree: SystemFiles, needs: Needs) -> Reading:
    on = _turbo_on(tree)
    return Reading(on, "on" if on else "off")


def _turbo_on(tree: SystemFiles) -> bool:
    if tree.has(NO_TURBO):
        return tree.number(NO_TURBO) == 0
    if tree.has(BOOST):
        return tree.number(BOOST) == 1
    raise UnreadableFact(f"neither /{NO_TURBO} nor /{BOOST}")


def turbo_off(tree: SystemFiles) -> list[Change]:
    """Changes that turn turbo off: only if asked for, because the machines of MICRO'20 had it on."""
    if tree.has(NO_TURBO):
        return [KernelSetting(tree.path(NO_TURBO), "1")]
    return [KernelSetting(tree.path(BOOST), "0")] if tree.has(BOOST) else []


def _idle(tree: SystemFiles, needs: Needs) -> Reading:
    """The kernel uses only idle states with a latency of at most this limit."""
    if not tree.names(f"{CPUS}/cpu[0-9]*/cpuidle/state*"):
        driver = tree.text(f"{CPUS}/cpuidle/current_driver")
        if driver == "none":
            return Reading(True, "no idle states")
        raise UnreadableFact(f"/{CPUS}/cpu*/cpuidle: no states, driver {driver}")
    data = tree.bytes(DMA_LATENCY, _LATENCY.size)
    if len(data) != _LATENCY.size:
        raise UnreadableFact(f"/{DMA_LATENCY}: {len(data)} bytes of {_LATENCY.size}")
    limit_us = _LATENCY.unpack(data)[0]
    return Reading(limit_us == 0, f"latency limit {limit_us} us")


def _awake(tree: SystemFiles) -> list[Change]:
    return [Hold(tree.path(DMA_LATENCY), _LATENCY.pack(0))] if tree.has(DMA_LATENCY) else []


TUNING_RULES = (
    ConditionRule(
        "governor",
        NOTED,
        "performance",
        "sudo cpupower frequency-set -g performance",
        _governor,
        _performance,
    ),
    ConditionRule("turbo", NOTED, "on, as in MICRO'20", f"echo 0 | sudo tee /{NO_TURBO} (Intel)", _turbo),
    ConditionRule(
        "c-states",
        NOTED,
        "latency limit 0 us (no deep idle states)",
        f"as root: hold /{DMA_LATENCY} open with 0 in it (--fix does), or: sudo cpupower idle-set -D 0",
        _idle,
        _awake,
    ),
)


# Conditions that the firmware and the command line of the kernel decide: recorded, never changed.

VULNERABILITIES = f"{CPUS}/vulnerabilities"
MSR = "dev/cpu/0/msr"
_PREFETCH_CONTROL = 0x1A4  #: MSR; bits 0 to 3 disable L2, L2 adjacent line, L1, L1 by instruction pointer


def _kpti(tree: SystemFiles, needs: Needs) -> Reading:
    """Page-table isolation: user mode and kernel have tables of their own."""
    text = tree.text(f"{VULNERABILITIES}/meltdown")
    return Reading("PTI" not in text, text)


def _mitigations(tree: SystemFiles, needs: Needs) -> Reading:
    names = tree.names(f"{VULNERABILITIES}/*")
    if not names:
        raise UnreadableFact(f"/{VULNERABILITIES}: no files")
    active = [n.rsplit("/", 1)[1] for n in names if tree.text(n).startswith("Mitigation")]
    return Reading(not active, ", ".join(active) or "none")


def _levels(tree: SystemFiles, needs: Needs) -> Reading:
    """The kernel clears the flag la57 if it uses four levels."""
    five = "la57" in tree.cpu_flags()
    return Reading(not five, "5" if five else "4")


def _prefetchers(tree: SystemFiles, needs: Needs) -> Reading:
    vendor = tree.cpu_facts().get("vendor_id", "")
    if vendor != INTEL:
        raise UnreadableFact(f"MSR 1A4h is Intel's; this processor is of {vendor or 'an unknown vendor'}")
    data = tree.bytes(MSR, 8, _PREFETCH_CONTROL)
    if len(data) != 8:
        raise UnreadableFact(f"/{MSR}: {len(data)} bytes of 8 at 1A4h")
    disabled = struct.unpack("=Q", data)[0] & 0xF
    return Reading(disabled == 0, f"MSR 1A4h bits 3:0 = {disabled:04b}b")


FIRMWARE_RULES = (
    ConditionRule("kpti", NOTED, "no page-table isolation", "boot option nopti", _kpti),
    ConditionRule(
        "mitigations",
        NOTED,
        "none",
        "boot option mitigations=off, on a machine without other users",
        _mitigations,
    ),
    ConditionRule("la57", NOTED, "4 levels of page tables", "boot option no5lvl", _levels),
    ConditionRule(
        "prefetchers",
        NOTED,
        "all on: MSR 1A4h bits 3:0 = 0000b",
        "to read it: sudo modprobe msr, as root; to set it: wrmsr -a 0x1a4 0, or the firmware",
        _prefetchers,
    ),
)
