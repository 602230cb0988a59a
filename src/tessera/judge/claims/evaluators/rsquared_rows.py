"""All rows of MICRO'20 Table 8 at once: how many of the printed R^2 come out within a distance."""

from __future__ import annotations

from functools import cache

from tessera.judge.claims.evaluators.inputs import r_squared
from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.judge.claims.selection import aggregate, select
from tessera.record import workloads


@cache
def _row(workload: str) -> str:
    """The published row of our workload, as ``config/workloads`` says; empty without one."""
    if workload not in workloads.names():
        return ""
    return workloads.load(workload).rows.get("micro20", "")


def _printed(evidence: Evidence, input: str) -> dict[tuple[str, str], float]:
    """(published row, generation) -> printed R^2 of the input."""
    rows = evidence.rows("table8_rsquared", {"input": input}).dropna(subset=["value"])
    return {(row.workload, row.platform): float(row.value) for row in rows.itertuples()}


def rsquared_rows_within(claim, evidence, input: str, within: float) -> Outcome:
    """Share of the printed values of one input whose pair obtains a value at most ``within`` away, percent.

    Printed pairs that are not TLB-sensitive here count on neither side.
    """
    selection = select(claim, evidence)
    values = _printed(evidence, input)
    keys = {pair: (_row(pair.workload), pair.generation) for pair in selection.pairs}
    hits = [
        abs(r_squared(evidence, pair)[input] - values[key]) <= within
        for pair, key in keys.items()
        if key in values
    ]
    if not hits:
        raise Missing("no pair of this run has a row in Table 8")
    return selection.outcome(100 * sum(hits) / len(hits))


def rsquared_where_printed(claim, evidence, input: str, printed: float, how: str) -> Outcome:
    """R^2 of one input, ``how`` over the pairs for which Table 8 prints ``printed``.

    Such pairs that are not TLB-sensitive here are left out.
    """
    selection = select(claim, evidence)
    values = _printed(evidence, input)
    found = [
        r_squared(evidence, pair)[input]
        for pair in selection.pairs
        if values.get((_row(pair.workload), pair.generation)) == printed
    ]
    if not found:
        raise Missing(f"no pair of this run has {input} = {printed:g} in Table 8")
    return selection.outcome(aggregate(found, how))


EVALUATORS = {
    "rsquared_rows_within": rsquared_rows_within,
    "rsquared_where_printed": rsquared_where_printed,
}
