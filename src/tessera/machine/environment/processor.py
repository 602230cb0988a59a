"""Conditions of the processor that decide claims: bare metal, one thread on a core, one node."""

from __future__ import annotations

from tessera.machine.environment.condition import BARS
from tessera.machine.environment.rule import Change, Needs, Reading, Rule, Setting
from tessera.machine.environment.tree import Tree, Unreadable

CPUS = "sys/devices/system/cpu"
NODES = "sys/devices/system/node"


def _guest(tree: Tree, needs: Needs) -> Reading:
    guest = "hypervisor" in tree.cpu_flags()
    return Reading(not guest, "a guest (flag hypervisor): page walks are nested" if guest else "bare metal")


def _smt(tree: Tree, needs: Needs) -> Reading:
    """Kernels before 4.19 have no ``smt/active``: the lists of sibling threads say the same."""
    if tree.lacks(CPUS, "smt"):
        lists = tree.names(f"{CPUS}/cpu[0-9]*/topology/thread_siblings_list")
        if not lists:
            raise Unreadable(f"/{CPUS}: neither smt/active nor topology/thread_siblings_list")
        shared = any(separator in tree.text(name) for name in lists for separator in ",-")
        return Reading(not shared, "on" if shared else "off", remedy="turn it off in the firmware")
    active = tree.number(f"{CPUS}/smt/active")
    return Reading(active == 0, "on" if active else "off")


def _smt_off(tree: Tree) -> list[Change]:
    """``on`` brings all processors online, so those that were offline before are recorded, too."""
    if not tree.has(f"{CPUS}/smt/control") or tree.text(f"{CPUS}/smt/control") != "on":
        return []
    offline = [name for name in tree.names(f"{CPUS}/cpu[0-9]*/online") if tree.text(name) == "0"]
    return [
        *(Setting(tree.path(name), "0") for name in offline),
        Setting(tree.path(f"{CPUS}/smt/control"), "off"),
    ]


def _socket(tree: Tree, needs: Needs) -> Reading:
    """With several nodes, the harness binds a run to one processor, and reserves huge pages on its node."""
    if tree.lacks("sys/devices/system", "node"):
        return Reading(True, "this kernel has no NUMA nodes")
    nodes = tree.names(f"{NODES}/node[0-9]*")
    if not nodes:
        raise Unreadable(f"/{NODES}: no node")
    if len(nodes) == 1:
        return Reading(True, "1 node")
    found = any(tree.has(place) for place in ("usr/bin/taskset", "bin/taskset", "usr/local/bin/taskset"))
    return Reading(found, f"{len(nodes)} nodes, {'taskset' if found else 'no taskset'}")


RULES = (
    Rule("guest", BARS, "bare metal", "run on bare metal", _guest),
    Rule(
        "smt", BARS, "off: one thread on a core", f"echo off | sudo tee /{CPUS}/smt/control", _smt, _smt_off
    ),
    Rule(
        "socket", BARS, "1 node, or taskset to bind a run to one", "sudo apt-get install util-linux", _socket
    ),
)
