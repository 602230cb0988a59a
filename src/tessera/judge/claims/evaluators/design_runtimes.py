"""Runtimes of translation designs (``studies/designs/.../cells.csv``).

Park normalizes performance, the inverse of R, to 4KB pages with conventional TLBs: a gain of 43% is
R of ``baseline`` = 1.43 x R.
"""

from __future__ import annotations

from tessera.judge.claims import distribution
from tessera.judge.claims.design_rows import PROVENANCE, number
from tessera.judge.claims.outcome import Outcome

BASELINE, IDEAL, RUNTIME = "baseline", "ideal", "runtime_cycles"


def gains_of(claim, evidence, design: str, mapping: str, workloads: dict) -> Outcome:
    """Gain in performance over ``baseline``, percent. ``workloads``: published name -> workload."""
    return Outcome(
        {name: _gain(evidence, workload, design, BASELINE, mapping) for name, workload in workloads.items()},
        PROVENANCE,
    )


def gap_to_ideal(claim, evidence, design: str, mapping: str) -> Outcome:
    """How much faster ``ideal`` is, percent: the largest over the workloads of the scope."""
    gaps = [_gain(evidence, name, IDEAL, design, mapping) for name in claim.scope.workloads]
    return Outcome(max(gaps), PROVENANCE, distribution=distribution.describe(gaps, "max", "workloads"))


def _gain(evidence, workload: str, design: str, base: str, mapping: str) -> float:
    ours, theirs = (number(evidence, workload, name, mapping, RUNTIME) for name in (design, base))
    return 100 * (theirs / ours - 1)


EVALUATORS = {"gains_of": gains_of, "gap_to_ideal": gap_to_ideal}
