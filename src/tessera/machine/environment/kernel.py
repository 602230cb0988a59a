"""Conditions of the kernel: what is counted only with permission, and what disturbs a run."""

from __future__ import annotations

import re

from tessera.machine.environment.condition import (
    BARS,
    NOTED,
    STOP,
    Change,
    ConditionRule,
    KernelSetting,
    Needs,
    Reading,
    Service,
    SystemFiles,
    UnreadableFact,
)

# Conditions without which nothing is counted: permission, and a PMU.

PARANOID = "proc/sys/kernel/perf_event_paranoid"
DEVICES = "sys/bus/event_source/devices"
#: Numbers of the capabilities that lift the limit (linux/capability.h).
CAPABILITIES = {38: "CAP_PERFMON", 21: "CAP_SYS_ADMIN"}
#: Highest value with which a user may count own programs: user mode; user mode and kernel.
HIGHEST = {"u": 2, "uk": 1}


def _permission(tree: SystemFiles, needs: Needs) -> Reading:
    """``perf_event_paranoid``: Debian and Ubuntu add 3 and 4, with which users count nothing."""
    value, held = tree.number(PARANOID), _capability(tree)
    highest = HIGHEST[needs.mode]
    wanted = f"kernel.perf_event_paranoid <= {highest} (mode {needs.mode}), or CAP_PERFMON"
    return Reading(value <= highest or bool(held), f"{value}{f', {held}' if held else ''}", wanted)


def _capability(tree: SystemFiles) -> str:
    """A capability of this process that lifts the limit; empty if it has none, or if that is unknown."""
    try:
        lines = dict(line.partition(":")[::2] for line in tree.text("proc/self/status").splitlines())
        mask = int(lines["CapEff"].strip(), 16)
    except (UnreadableFact, KeyError, ValueError):
        return ""
    return next((name for bit, name in CAPABILITIES.items() if mask >> bit & 1), "")


def _pmu(tree: SystemFiles, needs: Needs) -> Reading:
    """The kernel has one of these folders only if its driver found counters."""
    found = [name for name in ("cpu", "cpu_core", "cpu_atom") if tree.has(f"{DEVICES}/{name}/type")]
    if not found and not tree.has(DEVICES):
        raise UnreadableFact(f"/{DEVICES}: no such folder")
    return Reading(bool(found), ", ".join(found) or "none: software events only")


COUNTING_RULES = (
    ConditionRule(
        "counting",
        STOP,
        "kernel.perf_event_paranoid <= 2, or CAP_PERFMON",
        "sudo sysctl kernel.perf_event_paranoid=1, or give the launcher CAP_PERFMON",
        _permission,
        lambda tree: [KernelSetting(tree.path(PARANOID), "1")],
    ),
    ConditionRule(
        "pmu",
        STOP,
        "a PMU of the cores",
        "run on bare metal, or let the hypervisor give the guest a PMU; then: tessera measure counters check",
        _pmu,
    ),
)


# Conditions of the running kernel: what moves pages or takes time and counters during a run.

KERNEL = "proc/sys/kernel"
KSM = "sys/kernel/mm/ksm"
#: Highest share of time in which a task waited, in % of the last 10 s: a run loses at most 1% (:mod:`runs`).
PRESSURE_PERCENT = 1.0


def _zero(folder: str, name: str):
    """A reader of a setting that shall be 0; a kernel without the feature is as good."""

    def read(tree: SystemFiles, needs: Needs) -> Reading:
        if tree.lacks(folder, name):
            return Reading(True, "this kernel has none")
        value = tree.number(f"{folder}/{name}")
        return Reading(value == 0, str(value))

    return read


def _set_zero(name: str):
    return lambda tree: [KernelSetting(tree.path(name), "0")]


def _load(tree: SystemFiles, needs: Needs) -> Reading:
    """Pressure stall information; needs Linux 4.20, and ``psi=1`` on some distributions."""
    shares = {}
    for resource in ("cpu", "memory"):
        found = re.search(r"^some avg10=([\d.]+)", tree.text(f"proc/pressure/{resource}"), re.MULTILINE)
        if not found:
            raise UnreadableFact(f"/proc/pressure/{resource}: no line 'some avg10='")
        shares[resource] = float(found.group(1))
    text = ", ".join(f"{resource} {share:g}%" for resource, share in shares.items())
    return Reading(max(shares.values()) <= PRESSURE_PERCENT, text)


def _irqbalance(tree: SystemFiles, needs: Needs) -> Reading:
    commands = tree.names("proc/[0-9]*/comm")
    if not commands:
        raise UnreadableFact("/proc: no processes")
    for name in commands:
        try:
            if tree.text(name) == "irqbalance":
                return Reading(False, f"process {name.split('/')[1]}")
        except UnreadableFact:
            continue  # it has ended meanwhile
    return Reading(True, "not running")


def _stop_irqbalance(tree: SystemFiles) -> list[Change]:
    found = any(tree.has(place) for place in ("usr/bin/systemctl", "bin/systemctl"))
    return [Service("irqbalance")] if found else []


def _aslr(tree: SystemFiles, needs: Needs) -> Reading:
    return Reading(True, str(tree.number(f"{KERNEL}/randomize_va_space")))


KERNEL_RULES = (
    ConditionRule(
        "numa-balancing",
        BARS,
        "0",
        "sudo sysctl kernel.numa_balancing=0",
        _zero(KERNEL, "numa_balancing"),
        _set_zero(f"{KERNEL}/numa_balancing"),
    ),
    ConditionRule(
        "load",
        BARS,
        f"tasks waited at most {PRESSURE_PERCENT:g}% of the last 10 s for a processor or memory",
        "stop other programs, wait 10 s; if the file is missing: boot option psi=1",
        _load,
    ),
    ConditionRule(
        "watchdog",
        NOTED,
        "0: it takes a counter",
        "sudo sysctl kernel.nmi_watchdog=0",
        _zero(KERNEL, "nmi_watchdog"),
        _set_zero(f"{KERNEL}/nmi_watchdog"),
    ),
    ConditionRule(
        "irqbalance",
        NOTED,
        "not running",
        "sudo systemctl stop irqbalance",
        _irqbalance,
        _stop_irqbalance,
    ),
    ConditionRule(
        "ksm", NOTED, "0", f"echo 0 | sudo tee /{KSM}/run", _zero(KSM, "run"), _set_zero(f"{KSM}/run")
    ),
    ConditionRule(
        "aslr",
        NOTED,
        "any: offsets in the pools do not depend on it",
        f"setarch -R PROGRAM; its setting: cat /{KERNEL}/randomize_va_space",
        _aslr,
    ),
)
