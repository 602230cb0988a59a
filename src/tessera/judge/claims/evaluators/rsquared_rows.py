"""All rows of MICRO'20 Table 8 at once: how many of the printed R^2 come out within a distance."""

from __future__ import annotations

from functools import cache

from tessera.judge.claims.evaluators.inputs import r_squared
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.judge.claims.selection import aggregate, select
from tessera.record import workloads


@cache
def _row(workload: str) -> str:
    """The published row of our workload, as ``config/workloads`` says; empty without one."""
    if workload not in workloads.names():
        return ""
    return workloads.load(workload).rows.get("micro20", "")


def rsquared_rows_within(claim, evidence, input: str, within: float) -> Outcome:
    """Share of the printed values of one input whose pair obtains a value at most ``within`` away, percent.

    Printed pairs that are not TLB-sensitive here count on neither side.
    """
    selection = select(claim, evidence)
    printed = evidence.rows("table8_rsquared", {"input": input})
    printed = printed.dropna(subset=["value"])
    values = {(row.workload, row.platform): float(row.value) for row in printed.itertuples()}
    keys = {pair: (_row(pair.workload), pair.generation) for pair in selection.pairs}
    hits = [
        abs(r_squared(evidence, pair)[input] - values[key]) <= within
        for pair, key in keys.items()
        if key in values
    ]
    if not hits:
        raise Missing("no pair of this run has a row in Table 8")
    return selection.outcome(100 * sum(hits) / len(hits))


def rsquared_of(claim, evidence, input: str, how: str) -> Outcome:
    """R^2 of one input, ``how`` over the pairs."""
    selection = select(claim, evidence)
    return selection.outcome(aggregate([r_squared(evidence, pair)[input] for pair in selection.pairs], how))


EVALUATORS = {"rsquared_rows_within": rsquared_rows_within, "rsquared_of": rsquared_of}
