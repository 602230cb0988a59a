"""Misses of translation designs (``studies/designs/.../cells.csv``), relative to 4KB pages, same mapping.

Park averages over his programs, and so do we over the workloads of a claim's scope. A design that one of them
lacks has no average.
"""

from __future__ import annotations

import numpy as np

from tessera.judge.claims.design_rows import PROVENANCE, number, saving
from tessera.judge.claims.outcome import Outcome


def mean_savings(claim, evidence, of: dict) -> Outcome:
    """Average saving of misses, percent. ``of``: published name -> design and mapping."""
    return Outcome({name: _mean(claim, evidence, **each) for name, each in of.items()}, PROVENANCE)


def design_lead(claim, evidence, design: str, others: list, mappings: list) -> Outcome:
    """By mapping: average saving of ``design`` minus the largest average of ``others``, points."""
    leads = {
        mapping: _mean(claim, evidence, design, mapping)
        - max(_mean(claim, evidence, other, mapping) for other in others)
        for mapping in mappings
    }
    return Outcome(leads, PROVENANCE)


def savings_of(claim, evidence, design: str, mapping: str, workloads: dict) -> Outcome:
    """Saving of misses of single workloads, percent. ``workloads``: published name -> workload."""
    return Outcome(
        {name: saving(evidence, workload, design, mapping) for name, workload in workloads.items()},
        PROVENANCE,
    )


def miss_shares(claim, evidence, design: str, mapping: str, workloads: dict) -> Outcome:
    """Share of misses in the accesses that missed L1, M / (H + M), percent, by published name."""

    def share(workload: str) -> float:
        hits, misses = (
            number(evidence, workload, design, mapping, name) for name in ("stlb_hits", "stlb_misses")
        )
        return 100 * misses / (hits + misses)

    return Outcome({name: share(workload) for name, workload in workloads.items()}, PROVENANCE)


def _mean(claim, evidence, design: str, mapping: str) -> float:
    return float(np.mean([saving(evidence, name, design, mapping) for name in claim.scope.workloads]))


EVALUATORS = {
    "mean_savings": mean_savings,
    "design_lead": design_lead,
    "savings_of": savings_of,
    "miss_shares": miss_shares,
}
