"""How much each of C, M and H explains (``models/rsquared.csv``), and how they go together."""

from __future__ import annotations

from math import nan

import numpy as np

from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.judge.claims.selection import aggregate, select
from tessera.layouts.names import ALL_1GB
from tessera.results.pair import Pair

INPUTS = ("C", "M", "H")


def r_squared(evidence: Evidence, pair: Pair) -> dict[str, float]:
    """R^2 of each input for one pair."""
    rows = evidence.records("rsquared", pair)
    found = {row["input"]: float(row["r_squared"]) for row in rows}
    if len(found) < len(rows):
        raise ValueError(f"{pair}: models/rsquared.csv has an input twice")
    lacking = [name for name in INPUTS if found.get(name, nan) != found.get(name, nan)]
    if lacking:
        raise Missing(f"{pair}: no R^2 of {', '.join(lacking)}")
    return {name: found[name] for name in INPUTS}


def rsquared(claim, evidence, inputs: list) -> Outcome:
    """R^2 by input, mean over the pairs (one pair in Table 8's claims)."""
    selection = select(claim, evidence)
    found = [r_squared(evidence, pair) for pair in selection.pairs]
    value = {name: aggregate([row[name] for row in found], "mean") for name in inputs}
    return selection.outcome(value)


def rsquared_rank(claim, evidence, input: str) -> Outcome:
    """Rank of ``input`` by mean R^2, 1 = smallest."""
    selection = select(claim, evidence)
    found = [r_squared(evidence, pair) for pair in selection.pairs]
    means = {name: aggregate([row[name] for row in found], "mean") for name in INPUTS}
    return selection.outcome(1 + sum(other < means[input] for other in means.values()))


def best_inputs(claim, evidence) -> Outcome:
    """Number of inputs that are strictly the best for some pair."""
    selection = select(claim, evidence)
    best = set()
    for pair in selection.pairs:
        values = r_squared(evidence, pair)
        leaders = [name for name in INPUTS if values[name] == max(values.values())]
        if len(leaders) == 1:
            best.update(leaders)
    return selection.outcome(len(best))


def correlation(claim, evidence, first: str, second: str, how: str) -> Outcome:
    """Correlation of two columns of the cells over the fitted layouts."""

    def of(pair: Pair) -> float:
        table = evidence.samples(pair).drop(index=ALL_1GB, errors="ignore")
        columns = table[[first, second]].dropna()
        if len(columns) < 3 or (columns.std() == 0).any():
            raise Missing(f"{pair}: {first} or {second} doesn't vary over the layouts")
        return float(np.corrcoef(columns[first], columns[second])[0, 1])

    return select(claim, evidence).each(of, how)


EVALUATORS = {
    "rsquared": rsquared,
    "rsquared_rank": rsquared_rank,
    "best_inputs": best_inputs,
    "correlation": correlation,
}
