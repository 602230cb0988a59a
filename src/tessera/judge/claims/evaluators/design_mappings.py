"""Translation designs under two mappings, or of two sizes: a guest over its host, misses by instruction."""

from __future__ import annotations

import numpy as np

from tessera.judge.claims import distribution
from tessera.judge.claims.design_rows import PROVENANCE, number, saving
from tessera.judge.claims.outcome import Outcome

MISSES, RUNTIME = "stlb_misses", "runtime_cycles"


def saving_under(claim, evidence, design: str, mapping: str, than: str) -> Outcome:
    """Average saving of misses under ``mapping`` minus that under the mapping ``than``, points."""
    changes = [
        saving(evidence, name, design, mapping) - saving(evidence, name, design, than)
        for name in claim.scope.workloads
    ]
    return Outcome(float(np.mean(changes)), PROVENANCE)


def least_misses_ratio(claim, evidence, of: dict, over: dict) -> Outcome:
    """Smallest ratio of M over the workloads; ``of`` and ``over`` have a design and a mapping each."""
    ratios = [
        number(evidence, name, of["design"], of["mapping"], MISSES)
        / number(evidence, name, over["design"], over["mapping"], MISSES)
        for name in claim.scope.workloads
    ]
    return Outcome(min(ratios), PROVENANCE, distribution=distribution.describe(ratios, "min", "workloads"))


def misses_left(claim, evidence, design: str, than: str, mapping: str, workloads: dict) -> Outcome:
    """M of ``design``, percent of that of the design ``than``, by published name."""
    return Outcome(
        {
            name: 100
            * number(evidence, workload, design, mapping, MISSES)
            / number(evidence, workload, than, mapping, MISSES)
            for name, workload in workloads.items()
        },
        PROVENANCE,
    )


def misses_per_instructions(
    claim, evidence, design: str, mapping: str, instructions: int, workloads: dict
) -> Outcome:
    """M for each so many instructions, by published name."""
    return Outcome(
        {
            name: instructions
            * number(evidence, workload, design, mapping, MISSES)
            / number(evidence, workload, design, mapping, "instructions")
            for name, workload in workloads.items()
        },
        PROVENANCE,
    )


def mean_gains(claim, evidence, of: dict, over: str) -> Outcome:
    """Average gain in performance over the design ``over``, percent; ``of``: name -> design and mapping."""

    def gain(design: str, mapping: str) -> float:
        ratios = [
            number(evidence, name, over, mapping, RUNTIME) / number(evidence, name, design, mapping, RUNTIME)
            for name in claim.scope.workloads
        ]
        return 100 * (float(np.mean(ratios)) - 1)

    return Outcome({name: gain(**each) for name, each in of.items()}, PROVENANCE)


EVALUATORS = {
    "saving_under": saving_under,
    "least_misses_ratio": least_misses_ratio,
    "misses_left": misses_left,
    "misses_per_instructions": misses_per_instructions,
    "mean_gains": mean_gains,
}
