"""Measured, simulated and published numbers of a run: three lists of sentences for the summary."""

from __future__ import annotations

from tessera.results.attempts import OUTCOME
from tessera.results.schema.machine import ALLOCATOR, CHASE_SERIES
from tessera.results.status import ok_rows
from tessera.show.report.facts import MACHINE

#: part of the kernel's results -> what it measured
GUEST = {
    "balancing": "Data and page tables of a process that moves to another socket, in a guest.",
    "placement": "Where page tables lie, with and without replication, in a guest.",
    "table4": "Memory of page tables and their replicas, in a guest.",
    "table5": "Instructions of system calls with replicated page tables, in a guest.",
}


def origins(facts) -> list[dict]:
    """In order of strength; a list can be empty."""
    return [
        {"name": "measured", "words": "on this machine", "sentences": _measured(facts)},
        {"name": "simulated", "words": "by tessera-sim", "sentences": _simulated(facts)},
        {"name": "published", "words": "by the papers", "sentences": _published(facts)},
    ]


def _measured(facts) -> list[str]:
    found = []
    hybrid = facts.results.hybrid
    if len(hybrid):
        names = ", ".join(sorted(hybrid["workload"].unique()))
        found.append(f"Clock time of {names} under {len(hybrid)} real mosaics of 2MB pages.")
    if good := len(ok_rows(facts.results.read(CHASE_SERIES, expected=False))):
        found.append(f"{good} series of pointer chases, which show the sizes of the TLBs of this processor.")
    if len(allocator := facts.results.read(ALLOCATOR, expected=False)):
        count = allocator["workload"].nunique()
        found.append(f"Memory and time of {count} program{'s' * (count > 1)} with and without the allocator.")
    found += [words for part, words in GUEST.items() if facts.results.tree.kernel(part, OUTCOME).is_file()]
    machine = facts.provenance.get("machine") or {}
    if machine.get("pmu") is False:
        found.append("No performance counters here: R, H, M, C of real processors come from bundles only.")
    return found


def _simulated(facts) -> list[str]:
    cells = facts.results.simulated
    cells = cells[~cells["platform"].isin(MACHINE)]
    if cells.empty:
        return []
    count = {name: cells[name].nunique() for name in ("workload", "platform", "layout")}
    return [
        f"R, H, M, C of {len(cells)} cells: {count['workload']} workloads, {count['platform']} platforms, "
        f"up to {count['layout']} layouts each.",
        "H and M over all recorded accesses, for some workloads a part of the region (page Workloads); "
        "C and R from samples, with 95% intervals.",
        "Simulated platforms end in -sim: sizes of TLBs and caches are published, other details assumed.",
    ]


def _published(facts) -> list[str]:
    arithmetic = int((facts.claims["kind"] == "arithmetic").sum()) if len(facts.claims) else 0
    found = ["Numbers as the papers print them; reference-results/ has them with paper, section and table."]
    if arithmetic:
        found.append(f"{arithmetic} claims are arithmetic on these numbers and need no run.")
    return found
