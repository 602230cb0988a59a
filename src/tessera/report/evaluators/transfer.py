"""Does a model of P survive a new design? From the tables of the study of transfer (``studies/transfer``)."""

from __future__ import annotations

import pandas as pd

from tessera.core.results import transfer_tables
from tessera.core.results.outcomes import ok_rows
from tessera.lab.transfer import rules
from tessera.lab.transfer.points import COUNTED
from tessera.lab.transfer.predictions import CONSTANT
from tessera.lab.transfer.verdicts import survivors
from tessera.report.claims import selection
from tessera.report.claims.claim import Missing, Outcome
from tessera.report.claims.registry import evaluator

PROVENANCE = "simulated"  #: of every row
PERCENT = 100


@evaluator
def transfer_pass_share(claim, evidence, inputs: str, group: str, model: str) -> Outcome:
    """Judged points that pass, percent: of all, and in the worst workload. Of platforms, the worst."""
    rows = _verdicts(evidence, group, inputs, model)
    worst = {"all": rows["pass_share"].min(), "least_workload": rows["least_workload_share"].min()}
    return Outcome({name: PERCENT * float(share) for name, share in worst.items()}, PROVENANCE)


@evaluator
def transfer_largest_gap(claim, evidence, group: str) -> Outcome:
    """Largest g of points with an exact twin, percent."""
    rows = evidence.table(transfer_tables.TWINS)
    rows = rows[(rows["group"] == group) & (rows["inputs"] == COUNTED) & (rows["kind"] == "exact")]
    if rows.empty:
        raise Missing(f"the study of transfer has no exact twin in class {group}")
    gaps = [PERCENT * float(g) for g in rows["gap"]]
    return Outcome(max(gaps), PROVENANCE, distribution=selection.describe_distribution(gaps, "max", "points"))


@evaluator
def transfer_survivors(claim, evidence, inputs: str, group: str) -> Outcome:
    """Number of models that survive a class on every platform; the rival `constant` is none."""
    found = survivors(_verdicts(evidence, group, inputs), group, inputs)
    return Outcome(float(len(set(found) - {CONSTANT})), PROVENANCE)


@evaluator
def transfer_rescued(claim, evidence, inputs: str, group: str) -> Outcome:
    """Number of models that survive by ``inputs`` and not by `counted`."""
    by_counted = survivors(_verdicts(evidence, group, COUNTED), group, COUNTED)
    found = survivors(_verdicts(evidence, group, inputs), group, inputs)
    return Outcome(float(len(set(found) - set(by_counted))), PROVENANCE)


@evaluator
def transfer_intercept_error(claim, evidence, model: str) -> Outcome:
    """|intercept / R_ideal - 1| of a model, percent: the least over the workloads."""
    rows = ok_rows(evidence.table(transfer_tables.FITS))
    rows = rows[(rows["model"] == model) & rows["intercept_cycles"].notna()]
    if rows.empty:
        raise Missing(f"the study of transfer has no fit of {model}")
    errors = [PERCENT * abs(r.intercept_cycles / r.ideal_runtime_cycles - 1) for r in rows.itertuples()]
    return Outcome(
        min(errors), PROVENANCE, distribution=selection.describe_distribution(errors, "min", "workloads")
    )


@evaluator
def transfer_counterexamples(claim, evidence, inputs: str, groups: list, cell: str) -> Outcome:
    """Workloads in one cell of the 2 x 2 tables, over models and classes."""
    rows = [_verdicts(evidence, group, inputs) for group in groups]
    return Outcome(float(sum(part[cell].fillna(0).sum() for part in rows)), PROVENANCE)


@evaluator
def transfer_control_error(claim, evidence, variant: str) -> Outcome:
    """Largest difference between R of a control and R of P, percent."""
    rows = ok_rows(evidence.table(transfer_tables.POINTS))
    rows = rows[rows["variant"] == variant]
    if rows.empty:
        raise Missing(f"the study of transfer has no variant {variant}")
    off = PERCENT * (rows["base_runtime_cycles"] / rows["runtime_cycles"] - 1).abs()
    return Outcome(float(off.max()), PROVENANCE)


@evaluator
def transfer_ladder_remainder(claim, evidence) -> Outcome:
    """Largest |sum of steps - gap| / R of P over the ladders without a rejected step."""
    table = evidence.table(transfer_tables.LADDER)
    keys = ["workload", "platform", "ladder", "layout"]
    found = []
    for _, rows in table.groupby(keys, sort=False):
        if len(ok_rows(rows)) == len(rows):
            off = rows["step_cycles"].sum() - rows["gap_cycles"].iloc[0]
            found.append(abs(float(off)) / float(rows["runtime_cycles"].iloc[0]))
    if not found:
        raise Missing("the study of transfer has no whole ladder")
    return Outcome(max(found), PROVENANCE)


def _verdicts(evidence, group: str, inputs: str, model: str | None = None) -> pd.DataFrame:
    """Rows with judged points; :class:`Missing` if there are none."""
    rows = evidence.table(transfer_tables.VERDICTS)
    rows = rows[(rows["group"] == group) & (rows["inputs"] == inputs)]
    rows = rows[rows["verdict"] != rules.NOT_JUDGED]
    if model is not None:
        rows = rows[rows["model"] == model]
    if rows.empty:
        raise Missing(f"the study of transfer has no judged point of class {group} by {inputs}")
    return rows
