"""Settings of frequency and of idle states: recorded. Whether the frequency held is judged from the runs."""

from __future__ import annotations

import struct
from collections import Counter

from tessera.machine.environment.condition import NOTED
from tessera.machine.environment.processor import CPUS
from tessera.machine.environment.rule import Change, Hold, Needs, Reading, Rule, Setting
from tessera.machine.environment.tree import Tree, Unreadable

NO_TURBO = f"{CPUS}/intel_pstate/no_turbo"
BOOST = f"{CPUS}/cpufreq/boost"
DMA_LATENCY = "dev/cpu_dma_latency"
_LATENCY = struct.Struct("=i")


def _governors(tree: Tree) -> list[str]:
    """Files, one for each policy; an offline processor's cannot be read and is left out."""
    found = []
    for name in tree.names(f"{CPUS}/cpufreq/policy*/scaling_governor"):
        try:
            tree.text(name)
        except Unreadable:
            continue
        found.append(name)
    return found


def _governor(tree: Tree, needs: Needs) -> Reading:
    files = _governors(tree)
    if not files:
        raise Unreadable(f"/{CPUS}/cpufreq: no policy (no driver of frequencies)")
    counts = Counter(tree.text(name) for name in files)
    found = ", ".join(f"{name} ({count})" for name, count in sorted(counts.items()))
    return Reading(set(counts) == {"performance"}, found)


def _performance(tree: Tree) -> list[Change]:
    """Only where the driver offers it."""
    found = []
    for name in _governors(tree):
        offered = name.replace("scaling_governor", "scaling_available_governors")
        if tree.has(offered) and "performance" in tree.text(offered).split():
            found.append(Setting(tree.path(name), "performance"))
    return found


def _turbo(tree: Tree, needs: Needs) -> Reading:
    on = _turbo_on(tree)
    return Reading(on, "on" if on else "off")


def _turbo_on(tree: Tree) -> bool:
    if tree.has(NO_TURBO):
        return tree.number(NO_TURBO) == 0
    if tree.has(BOOST):
        return tree.number(BOOST) == 1
    raise Unreadable(f"neither /{NO_TURBO} nor /{BOOST}")


def turbo_off(tree: Tree) -> list[Change]:
    """Changes that turn turbo off: only if asked for, because the machines of MICRO'20 had it on."""
    if tree.has(NO_TURBO):
        return [Setting(tree.path(NO_TURBO), "1")]
    return [Setting(tree.path(BOOST), "0")] if tree.has(BOOST) else []


def _idle(tree: Tree, needs: Needs) -> Reading:
    """The kernel uses only idle states with a latency of at most this limit."""
    if not tree.names(f"{CPUS}/cpu[0-9]*/cpuidle/state*"):
        driver = tree.text(f"{CPUS}/cpuidle/current_driver")
        if driver == "none":
            return Reading(True, "no idle states")
        raise Unreadable(f"/{CPUS}/cpu*/cpuidle: no states, driver {driver}")
    data = tree.bytes(DMA_LATENCY, _LATENCY.size)
    if len(data) != _LATENCY.size:
        raise Unreadable(f"/{DMA_LATENCY}: {len(data)} bytes of {_LATENCY.size}")
    limit_us = _LATENCY.unpack(data)[0]
    return Reading(limit_us == 0, f"latency limit {limit_us} us")


def _awake(tree: Tree) -> list[Change]:
    return [Hold(tree.path(DMA_LATENCY), _LATENCY.pack(0))] if tree.has(DMA_LATENCY) else []


RULES = (
    Rule(
        "governor",
        NOTED,
        "performance",
        "sudo cpupower frequency-set -g performance",
        _governor,
        _performance,
    ),
    Rule("turbo", NOTED, "on, as in MICRO'20", f"echo 0 | sudo tee /{NO_TURBO} (Intel)", _turbo),
    Rule(
        "c-states",
        NOTED,
        "latency limit 0 us (no deep idle states)",
        f"as root: hold /{DMA_LATENCY} open with 0 in it (--fix does), or: sudo cpupower idle-set -D 0",
        _idle,
        _awake,
    ),
)
