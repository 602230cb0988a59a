"""What explains runtimes: R^2 of C, M and H, and the terms of fitted models.

From ``models/rsquared.csv`` (MICRO'20 Table 8) and ``models/coefficients.csv``.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from math import nan

import numpy as np

from tessera.core.layouts.layout import ALL_1GB
from tessera.core.results.loader import Pair
from tessera.record import workloads
from tessera.report.claims.claim import Missing, Outcome
from tessera.report.claims.evidence import Evidence
from tessera.report.claims.registry import evaluator
from tessera.report.claims.selection import aggregate, deciding_pairs

# How much each of C, M and H explains (``models/rsquared.csv``), and how they go together.

INPUTS = ("C", "M", "H")


def r_squared_of_pair(evidence: Evidence, pair: Pair) -> dict[str, float]:
    """R^2 of each input for one pair."""
    rows = evidence.records("rsquared", pair)
    found = {row["input"]: float(row["r_squared"]) for row in rows}
    if len(found) < len(rows):
        raise ValueError(f"{pair}: models/rsquared.csv has an input twice")
    lacking = [name for name in INPUTS if found.get(name, nan) != found.get(name, nan)]
    if lacking:
        raise Missing(f"{pair}: no R^2 of {', '.join(lacking)}")
    return {name: found[name] for name in INPUTS}


@evaluator
def rsquared(claim, evidence, inputs: list) -> Outcome:
    """R^2 by input, mean over the pairs (one pair in Table 8's claims)."""
    selection = deciding_pairs(claim, evidence)
    found = [r_squared_of_pair(evidence, pair) for pair in selection.pairs]
    value = {name: aggregate([row[name] for row in found], "mean") for name in inputs}
    return selection.outcome(value)


@evaluator
def rsquared_rank(claim, evidence, input: str) -> Outcome:
    """Rank of ``input`` by mean R^2, 1 = smallest."""
    selection = deciding_pairs(claim, evidence)
    found = [r_squared_of_pair(evidence, pair) for pair in selection.pairs]
    means = {name: aggregate([row[name] for row in found], "mean") for name in INPUTS}
    return selection.outcome(1 + sum(other < means[input] for other in means.values()))


@evaluator
def best_inputs(claim, evidence) -> Outcome:
    """Number of inputs that are strictly the best for some pair."""
    selection = deciding_pairs(claim, evidence)
    best = set()
    for pair in selection.pairs:
        values = r_squared_of_pair(evidence, pair)
        leaders = [name for name in INPUTS if values[name] == max(values.values())]
        if len(leaders) == 1:
            best.update(leaders)
    return selection.outcome(len(best))


@evaluator
def correlation(claim, evidence, first: str, second: str, how: str) -> Outcome:
    """Correlation of two columns of the cells over the fitted layouts."""

    def of(pair: Pair) -> float:
        table = evidence.samples(pair).drop(index=ALL_1GB, errors="ignore")
        columns = table[[first, second]].dropna()
        if len(columns) < 3 or (columns.std() == 0).any():
            raise Missing(f"{pair}: {first} or {second} doesn't vary over the layouts")
        return float(np.corrcoef(columns[first], columns[second])[0, 1])

    return deciding_pairs(claim, evidence).each(of, how)


# All rows of MICRO'20 Table 8 at once: how many of the printed R^2 come out within a distance.


@cache
def _rsquared_row(workload: str) -> str:
    """The published row of our workload, as ``config/workloads`` says; empty without one."""
    if workload not in workloads.workload_names():
        return ""
    return workloads.load_workload(workload).rows.get("micro20", "")


def _printed_rsquared(evidence: Evidence, input: str) -> dict[tuple[str, str], float]:
    """(published row, generation) -> printed R^2 of the input."""
    rows = evidence.rows("table8_rsquared", {"input": input}).dropna(subset=["value"])
    return {(row.workload, row.platform): float(row.value) for row in rows.itertuples()}


@evaluator
def rsquared_rows_within(claim, evidence, input: str, within: float) -> Outcome:
    """Share of the printed values of one input whose pair obtains a value at most ``within`` away, percent.

    Printed pairs that are not TLB-sensitive here count on neither side.
    """
    selection = deciding_pairs(claim, evidence)
    values = _printed_rsquared(evidence, input)
    keys = {pair: (_rsquared_row(pair.workload), pair.generation) for pair in selection.pairs}
    hits = [
        abs(r_squared_of_pair(evidence, pair)[input] - values[key]) <= within
        for pair, key in keys.items()
        if key in values
    ]
    if not hits:
        raise Missing("no pair of this run has a row in Table 8")
    return selection.outcome(100 * sum(hits) / len(hits))


@evaluator
def rsquared_where_printed(claim, evidence, input: str, printed: float, how: str) -> Outcome:
    """R^2 of one input, ``how`` over the pairs for which Table 8 prints ``printed``.

    Such pairs that are not TLB-sensitive here are left out.
    """
    selection = deciding_pairs(claim, evidence)
    values = _printed_rsquared(evidence, input)
    found = [
        r_squared_of_pair(evidence, pair)[input]
        for pair in selection.pairs
        if values.get((_rsquared_row(pair.workload), pair.generation)) == printed
    ]
    if not found:
        raise Missing(f"no pair of this run has {input} = {printed:g} in Table 8")
    return selection.outcome(aggregate(found, how))


# Shape of fitted models (``models/coefficients.csv``): slope, curvature, intercept.


def coefficient(evidence: Evidence, pair: Pair, model: str, term: str) -> float:
    """One coefficient, in raw units."""
    return float(evidence.record("coefficients", pair, model=model, term=term)["coefficient"])


@evaluator
def workloads_above_slope(claim, evidence, model: str, above) -> Outcome:
    """Number of workloads whose slope is above a bound on each platform that analyses them."""
    selection, bound = deciding_pairs(claim, evidence), evidence.number(above)
    lowest: dict[str, float] = {}
    for pair in selection.pairs:
        found = coefficient(evidence, pair, model, "C")
        lowest[pair.workload] = min(found, lowest.get(pair.workload, found))
    return selection.outcome(sum(slope > bound for slope in lowest.values()))


@evaluator
def most_common_inputs(claim, evidence, model: str) -> Outcome:
    """Share of pairs whose terms use the set of inputs (of H, M, C) that most pairs use, percent."""
    selection = deciding_pairs(claim, evidence)
    found: Counter[frozenset[str]] = Counter()
    for pair in selection.pairs:
        rows = evidence.records("coefficients", pair, model=model)
        terms = [row["term"] for row in rows if row["coefficient"] != 0]
        found[frozenset(symbol for term in terms for symbol in term if symbol in "HMC")] += 1
    return selection.outcome(100 * max(found.values()) / len(selection.pairs))
