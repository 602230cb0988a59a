"""Shape of fitted models (``models/coefficients.csv``): slope, curvature, intercept."""

from __future__ import annotations

from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.outcome import Outcome
from tessera.judge.claims.selection import select
from tessera.layouts.names import ALL_4KB
from tessera.results.pair import Pair


def coefficient(evidence: Evidence, pair: Pair, model: str, term: str) -> float:
    """One coefficient, in raw units."""
    row = evidence.of_pair("coefficients", pair, model=model, term=term).iloc[0]
    return float(row["coefficient"])


def slope(claim, evidence, model: str, how: str) -> Outcome:
    """Runtime cycles per walk cycle."""
    return select(claim, evidence).each(lambda p: coefficient(evidence, p, model, "C"), how)


def curvature(claim, evidence, model: str, how: str) -> Outcome:
    """Coefficient of C^2, per cycle."""
    return select(claim, evidence).each(lambda p: coefficient(evidence, p, model, "C^2"), how)


def intercept_over_runtime(claim, evidence, model: str, how: str) -> Outcome:
    """The ideal runtime as a fraction of the 4KB run's."""
    return select(claim, evidence).each(
        lambda p: coefficient(evidence, p, model, "1") / evidence.cell(p, ALL_4KB, "runtime_cycles"),
        how,
    )


def input_sets(claim, evidence, model: str) -> Outcome:
    """How many different sets of inputs (H, M, C) the terms of ``model`` use over the pairs."""
    selection = select(claim, evidence)
    found = set()
    for pair in selection.pairs:
        rows = evidence.of_pair("coefficients", pair, model=model)
        terms = rows.loc[rows["coefficient"] != 0, "term"].astype(str)
        found.add(frozenset(symbol for term in terms for symbol in term if symbol in "HMC"))
    return selection.outcome(len(found - {frozenset()}))


EVALUATORS = {
    "slope": slope,
    "curvature": curvature,
    "intercept_over_runtime": intercept_over_runtime,
    "input_sets": input_sets,
}
