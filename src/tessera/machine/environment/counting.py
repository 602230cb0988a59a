"""Conditions without which nothing is counted: permission, and a PMU."""

from __future__ import annotations

from tessera.machine.environment.condition import STOP
from tessera.machine.environment.rule import Needs, Reading, Rule, Setting
from tessera.machine.environment.tree import Tree, Unreadable

PARANOID = "proc/sys/kernel/perf_event_paranoid"
DEVICES = "sys/bus/event_source/devices"
#: Numbers of the capabilities that lift the limit (linux/capability.h).
CAPABILITIES = {38: "CAP_PERFMON", 21: "CAP_SYS_ADMIN"}
#: Highest value with which a user may count own programs: user mode; user mode and kernel.
HIGHEST = {"u": 2, "uk": 1}


def _permission(tree: Tree, needs: Needs) -> Reading:
    """``perf_event_paranoid``: Debian and Ubuntu add 3 and 4, with which users count nothing."""
    value, held = tree.number(PARANOID), _capability(tree)
    highest = HIGHEST[needs.mode]
    wanted = f"kernel.perf_event_paranoid <= {highest} (mode {needs.mode}), or CAP_PERFMON"
    return Reading(value <= highest or bool(held), f"{value}{f', {held}' if held else ''}", wanted)


def _capability(tree: Tree) -> str:
    """A capability of this process that lifts the limit; empty if it has none, or if that is unknown."""
    try:
        lines = dict(line.partition(":")[::2] for line in tree.text("proc/self/status").splitlines())
        mask = int(lines["CapEff"].strip(), 16)
    except (Unreadable, KeyError, ValueError):
        return ""
    return next((name for bit, name in CAPABILITIES.items() if mask >> bit & 1), "")


def _pmu(tree: Tree, needs: Needs) -> Reading:
    """The kernel has one of these folders only if its driver found counters."""
    found = [name for name in ("cpu", "cpu_core", "cpu_atom") if tree.has(f"{DEVICES}/{name}/type")]
    if not found and not tree.has(DEVICES):
        raise Unreadable(f"/{DEVICES}: no such folder")
    return Reading(bool(found), ", ".join(found) or "none: software events only")


RULES = (
    Rule(
        "counting",
        STOP,
        "kernel.perf_event_paranoid <= 2, or CAP_PERFMON",
        "sudo sysctl kernel.perf_event_paranoid=1, or give the launcher CAP_PERFMON",
        _permission,
        lambda tree: [Setting(tree.path(PARANOID), "1")],
    ),
    Rule(
        "pmu",
        STOP,
        "a PMU of the cores",
        "run on bare metal, or let the hypervisor give the guest a PMU; then: tessera counters check",
        _pmu,
    ),
)
