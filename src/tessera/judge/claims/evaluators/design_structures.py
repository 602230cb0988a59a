"""Structures of translation designs (``studies/designs/.../structures.csv``): shares, rates, CPI, power."""

from __future__ import annotations

import numpy as np

from tessera import platforms
from tessera.judge.claims.design_rows import PLATFORM, PROVENANCE, number, structure
from tessera.judge.claims.outcome import Outcome
from tessera.judge.studies.designs import energy

BASELINE, MISSES, HITS = "baseline", "stlb_misses", "stlb_hits"
#: An L1 TLB for 4KB pages (Park, Table 3.3) has the size and ways of the synonym TLB.
L1_TLB = ("synonym-tlb", 64)


def entry_shares(
    claim, evidence, design: str, mapping: str, workload: str, hits: dict, misses: str
) -> Outcome:
    """Accesses that missed L1, by what served them, percent.

    ``hits``: published name -> structure; ``misses``: published name of M.
    """
    served, missed = (number(evidence, workload, design, mapping, name) for name in (HITS, MISSES))
    whole = served + missed
    shares = {
        name: 100 * structure(evidence, workload, design, mapping, part)["hits"] / whole
        for name, part in hits.items()
    }
    return Outcome(shares | {misses: 100 * missed / whole}, PROVENANCE)


def structure_misses(claim, evidence, design: str, mapping: str, part: str, workloads: dict) -> Outcome:
    """Look-ups of a structure that miss, percent. ``workloads``: published name -> workload."""

    def share(workload: str) -> float:
        row = structure(evidence, workload, design, mapping, part)
        return 100 * (1 - row["hits"] / row["accesses"]) if row["accesses"] else 0.0

    return Outcome({name: share(workload) for name, workload in workloads.items()}, PROVENANCE)


def cpi_saved(
    claim, evidence, design: str, mapping: str, special: str, cycles: dict, workloads: dict
) -> Outcome:
    """Cycles of translation for each instruction, ``baseline`` minus ``design``, by published name (3.5.2).

    CPI = (hit x H of pages + special_hit x H of ``special`` + miss x M) / instructions, with the latencies
    ``cycles``, each a number or a printed one.
    """
    hit, special_hit, miss = (evidence.number(cycles[name]) for name in ("hit", "special_hit", "miss"))

    def cpi(workload: str, name: str) -> float:
        counts = [number(evidence, workload, name, mapping, c) for c in (HITS, MISSES, "instructions")]
        own = (
            0.0 if name == BASELINE else float(structure(evidence, workload, name, mapping, special)["hits"])
        )
        return (hit * (counts[0] - own) + special_hit * own + miss * counts[1]) / counts[2]

    saved = {name: cpi(workload, BASELINE) - cpi(workload, design) for name, workload in workloads.items()}
    return Outcome(saved, PROVENANCE)


def power_saved(claim, evidence, design: str, mapping: str) -> Outcome:
    """Power of translation that a design without L1 TLBs saves over ``baseline``, percent; average (2.6.3).

    Power is energy / R. To the energy of ``baseline`` comes that of its L1 TLB for 4KB pages: a read for each
    access, and leakage.
    """
    platform = platforms.load(PLATFORM)
    frequency = int(platform.values[energy.FREQUENCY].value)
    l1 = energy.costs()[L1_TLB]

    def watts(workload: str, name: str) -> float:
        nj, runtime, accesses = (
            number(evidence, workload, name, mapping, c) for c in ("energy_nj", "runtime_cycles", "accesses")
        )
        seconds = runtime / frequency
        if name == BASELINE:
            nj += accesses * l1.read_pj * 1e-3 + l1.leakage_mw * seconds * 1e6
        return nj * 1e-9 / seconds

    saved = [100 * (1 - watts(w, design) / watts(w, BASELINE)) for w in claim.scope.workloads]
    return Outcome(float(np.mean(saved)), PROVENANCE)


EVALUATORS = {
    "entry_shares": entry_shares,
    "structure_misses": structure_misses,
    "cpi_saved": cpi_saved,
    "power_saved": power_saved,
}
