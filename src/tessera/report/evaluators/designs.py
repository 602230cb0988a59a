"""The study of translation designs (``studies/designs``): misses, mappings, runtimes, structures, probes.

A row must be there and ok; misses are relative to 4KB pages under the same mapping.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tessera.core.results.outcomes import FAILED, is_ok
from tessera.core.results.study_tables import DESIGN_CELLS, DESIGN_STRUCTURES, PROBES
from tessera.lab.studies.design_catalogue import BASELINE_DESIGN
from tessera.report.claims.claim import REPRODUCE, Missing, Outcome
from tessera.report.claims.evidence import Evidence
from tessera.report.claims.registry import evaluator

PLATFORM = "park-haswell"
PROVENANCE = "simulated"  #: of every row
HITS, MISSES, RUNTIME = "stlb_hits", "stlb_misses", "runtime_cycles"


def design_cell(evidence: Evidence, workload: str, design: str, mapping: str) -> pd.Series:
    """The row of a design under a mapping.

    Raises:
        Missing: the study lacks the workload, the mapping or the design, or the row is not ok.
    """
    found = evidence.table(DESIGN_CELLS)
    found = found[found["platform"] == PLATFORM]
    for column, wanted in (("workload", workload), ("mapping", mapping), ("design", design)):
        found = found[found[column] == wanted]
        if found.empty:
            add = f"./run reproduce with a configuration that has {wanted} in studies.designs"
            raise Missing(
                f"the study of designs has no {column} {wanted}{_of_workload(column, workload)}", add
            )
    row = found.iloc[0]
    if not is_ok(row["status"]):
        again = (
            REPRODUCE if row["status"] == FAILED else "tessera lab run designs with a mapping that it accepts"
        )
        raise Missing(f"{workload}, {design}, {mapping}: {row['status']}: {row['message']}", again)
    return row


def design_number(evidence: Evidence, workload: str, design: str, mapping: str, column: str) -> float:
    """One number of that row; :class:`Missing` if it is empty (for example the change of a count of 0)."""
    value = float(design_cell(evidence, workload, design, mapping)[column])
    if value != value:
        raise Missing(f"{workload}, {design}, {mapping}: no {column}")
    return value


def design_structure(evidence: Evidence, workload: str, design: str, mapping: str, name: str) -> pd.Series:
    """Counts of a structure of the design, if its cell is ok.

    Raises:
        Missing: there is no such cell, or the design has no such structure.
    """
    design_cell(evidence, workload, design, mapping)
    rows = evidence.table(DESIGN_STRUCTURES, REPRODUCE)
    wanted = {
        "platform": PLATFORM,
        "workload": workload,
        "design": design,
        "mapping": mapping,
        "structure": name,
    }
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    if rows.empty:
        raise Missing(f"{workload}, {design}, {mapping}: no structure {name}", REPRODUCE)
    return rows.iloc[0]


def miss_saving(evidence: Evidence, workload: str, design: str, mapping: str) -> float:
    """Misses of the design ``baseline`` that a design saves under the same mapping, percent."""
    return -design_number(evidence, workload, design, mapping, "misses_to_baseline_percent")


def _of_workload(column: str, workload: str) -> str:
    return "" if column == "workload" else f" of {workload}"


# Misses of translation designs (``studies/designs/.../cells.csv``), relative to 4KB pages, same mapping.
#
# Park averages over his programs, and so do we over the workloads of a claim's scope. A design that one of
# them lacks has no average. Performance is the inverse of R: a gain of 43% is R of ``over`` = 1.43 x R.


@evaluator
def design_lead(claim, evidence, design: str, others: list, mappings: list | dict) -> Outcome:
    """By mapping: average saving of ``design`` minus the largest average of ``others``, points.

    ``mappings``: names that are published, or published name -> mapping.
    """
    named = mappings if isinstance(mappings, dict) else {mapping: mapping for mapping in mappings}
    leads = {
        name: _mean_saving(claim, evidence, design, mapping)
        - max(_mean_saving(claim, evidence, other, mapping) for other in others)
        for name, mapping in named.items()
    }
    return Outcome(leads, PROVENANCE)


def _mean_saving(claim, evidence, design: str, mapping: str) -> float:
    return float(np.mean([miss_saving(evidence, name, design, mapping) for name in claim.scope.workloads]))


@evaluator
def mean_gains(claim, evidence, of: dict, over: str) -> Outcome:
    """Average gain in performance over the design ``over``, percent; ``of``: name -> design and mapping."""

    def gain(design: str, mapping: str) -> float:
        ratios = [
            design_number(evidence, name, over, mapping, RUNTIME)
            / design_number(evidence, name, design, mapping, RUNTIME)
            for name in claim.scope.workloads
        ]
        return 100 * (float(np.mean(ratios)) - 1)

    return Outcome({name: gain(**each) for name, each in of.items()}, PROVENANCE)


# Structures of translation designs (``studies/designs/.../structures.csv``): shares, rates, CPI, power.


@evaluator
def entry_shares(
    claim, evidence, design: str, mapping: str, workload: str, hits: dict, misses: str
) -> Outcome:
    """Accesses that missed L1, by what served them, percent.

    ``hits``: published name -> structure; ``misses``: published name of M.
    """
    served, missed = (design_number(evidence, workload, design, mapping, name) for name in (HITS, MISSES))
    whole = served + missed
    shares = {
        name: 100 * design_structure(evidence, workload, design, mapping, part)["hits"] / whole
        for name, part in hits.items()
    }
    return Outcome(shares | {misses: 100 * missed / whole}, PROVENANCE)


@evaluator
def structure_misses(claim, evidence, design: str, mapping: str, part: str, workloads: dict) -> Outcome:
    """Look-ups of a structure that miss, percent. ``workloads``: published name -> workload."""

    def share(workload: str) -> float:
        row = design_structure(evidence, workload, design, mapping, part)
        return 100 * (1 - row["hits"] / row["accesses"]) if row["accesses"] else 0.0

    return Outcome({name: share(workload) for name, workload in workloads.items()}, PROVENANCE)


@evaluator
def cpi_saved(
    claim, evidence, design: str, mapping: str, special: str, cycles: dict, workloads: dict
) -> Outcome:
    """Cycles of translation for each instruction, ``baseline`` minus ``design``, by published name (3.5.2).

    CPI = (hit x H of pages + special_hit x H of ``special`` + miss x M) / instructions, with the latencies
    ``cycles``, each a number or a printed one.
    """
    hit, special_hit, miss = (evidence.number(cycles[name]) for name in ("hit", "special_hit", "miss"))

    def cpi(workload: str, name: str) -> float:
        counts = [design_number(evidence, workload, name, mapping, c) for c in (HITS, MISSES, "instructions")]
        own = (
            0.0
            if name == BASELINE_DESIGN
            else float(design_structure(evidence, workload, name, mapping, special)["hits"])
        )
        return (hit * (counts[0] - own) + special_hit * own + miss * counts[1]) / counts[2]

    saved = {
        name: cpi(workload, BASELINE_DESIGN) - cpi(workload, design) for name, workload in workloads.items()
    }
    return Outcome(saved, PROVENANCE)


@evaluator
def power_saved(claim, evidence, design: str, mapping: str, over: str) -> Outcome:
    """Power of translation that a design saves over the design ``over``, percent; average (2.6.3).

    Power is energy / R.
    """

    def power(workload: str, name: str) -> float:
        nj, runtime = (design_number(evidence, workload, name, mapping, c) for c in ("energy_nj", RUNTIME))
        return nj / runtime

    saved = [100 * (1 - power(w, design) / power(w, over)) for w in claim.scope.workloads]
    return Outcome(float(np.mean(saved)), PROVENANCE)


# Single structures of Park's designs under accesses from a formula (``studies/probes/probes.csv``).


@evaluator
def probe_values(claim, evidence, probe: str, quantity: str, cases: dict) -> Outcome:
    """One quantity, percent. ``cases``: published name -> case of the probe."""
    return Outcome(
        {name: _probe_value(evidence, probe, case, quantity) for name, case in cases.items()}, PROVENANCE
    )


def _probe_value(evidence, probe: str, case: str, quantity: str) -> float:
    rows = evidence.table(PROBES, REPRODUCE)
    rows = rows[(rows["platform"] == PLATFORM) & (rows["probe"] == probe) & (rows["case"] == case)]
    failed = [row["message"] for _, row in rows.iterrows() if not is_ok(row["status"])]
    rows = rows[rows["quantity"] == quantity]
    if rows.empty or failed:
        why = failed[0] if failed else "the table has no such row"
        raise Missing(f"probe {probe}, {case}, {quantity}: {why}", "tessera lab run probes")
    return float(rows["value"].iloc[0])
