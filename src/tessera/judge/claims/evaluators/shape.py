"""Shape of fitted models (``models/coefficients.csv``): slope, curvature, intercept."""

from __future__ import annotations

from collections import Counter

from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.outcome import Outcome
from tessera.judge.claims.selection import select
from tessera.layouts.names import ALL_4KB
from tessera.results.pair import Pair


def coefficient(evidence: Evidence, pair: Pair, model: str, term: str) -> float:
    """One coefficient, in raw units."""
    return float(evidence.record("coefficients", pair, model=model, term=term)["coefficient"])


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


def workloads_above_slope(claim, evidence, model: str, above) -> Outcome:
    """Number of workloads whose slope is above a bound on each platform that analyses them."""
    selection, bound = select(claim, evidence), evidence.number(above)
    lowest: dict[str, float] = {}
    for pair in selection.pairs:
        found = coefficient(evidence, pair, model, "C")
        lowest[pair.workload] = min(found, lowest.get(pair.workload, found))
    return selection.outcome(sum(slope > bound for slope in lowest.values()))


def most_common_inputs(claim, evidence, model: str) -> Outcome:
    """Share of pairs whose terms use the set of inputs (of H, M, C) that most pairs use, percent."""
    selection = select(claim, evidence)
    found: Counter[frozenset[str]] = Counter()
    for pair in selection.pairs:
        rows = evidence.records("coefficients", pair, model=model)
        terms = [row["term"] for row in rows if row["coefficient"] != 0]
        found[frozenset(symbol for term in terms for symbol in term if symbol in "HMC")] += 1
    return selection.outcome(100 * max(found.values()) / len(selection.pairs))


EVALUATORS = {
    "slope": slope,
    "curvature": curvature,
    "intercept_over_runtime": intercept_over_runtime,
    "workloads_above_slope": workloads_above_slope,
    "most_common_inputs": most_common_inputs,
}
