"""Conditions that the firmware and the command line of the kernel decide: recorded, never changed."""

from __future__ import annotations

import struct

from tessera.counters.cpuid import INTEL
from tessera.machine.environment.condition import NOTED
from tessera.machine.environment.processor import CPUS
from tessera.machine.environment.rule import Needs, Reading, Rule
from tessera.machine.environment.tree import Tree, Unreadable

VULNERABILITIES = f"{CPUS}/vulnerabilities"
MSR = "dev/cpu/0/msr"
_PREFETCH_CONTROL = 0x1A4  #: MSR; bits 0 to 3 disable L2, L2 adjacent line, L1, L1 by instruction pointer


def _kpti(tree: Tree, needs: Needs) -> Reading:
    """Page-table isolation: user mode and kernel have tables of their own."""
    text = tree.text(f"{VULNERABILITIES}/meltdown")
    return Reading("PTI" not in text, text)


def _mitigations(tree: Tree, needs: Needs) -> Reading:
    names = tree.names(f"{VULNERABILITIES}/*")
    if not names:
        raise Unreadable(f"/{VULNERABILITIES}: no files")
    active = [n.rsplit("/", 1)[1] for n in names if tree.text(n).startswith("Mitigation")]
    return Reading(not active, ", ".join(active) or "none")


def _levels(tree: Tree, needs: Needs) -> Reading:
    """The kernel clears the flag la57 if it uses four levels."""
    five = "la57" in tree.cpu_flags()
    return Reading(not five, "5" if five else "4")


def _prefetchers(tree: Tree, needs: Needs) -> Reading:
    vendor = tree.cpu_facts().get("vendor_id", "")
    if vendor != INTEL:
        raise Unreadable(f"MSR 1A4h is Intel's; this processor is of {vendor or 'an unknown vendor'}")
    data = tree.bytes(MSR, 8, _PREFETCH_CONTROL)
    if len(data) != 8:
        raise Unreadable(f"/{MSR}: {len(data)} bytes of 8 at 1A4h")
    disabled = struct.unpack("=Q", data)[0] & 0xF
    return Reading(disabled == 0, f"MSR 1A4h bits 3:0 = {disabled:04b}b")


RULES = (
    Rule("kpti", NOTED, "no page-table isolation", "boot option nopti", _kpti),
    Rule(
        "mitigations",
        NOTED,
        "none",
        "boot option mitigations=off, on a machine without other users",
        _mitigations,
    ),
    Rule("la57", NOTED, "4 levels of page tables", "boot option no5lvl", _levels),
    Rule(
        "prefetchers",
        NOTED,
        "all on: MSR 1A4h bits 3:0 = 0000b",
        "to read it: sudo modprobe msr, as root; to set it: wrmsr -a 0x1a4 0, or the firmware",
        _prefetchers,
    ),
)
