"""Invariants of fitted models, over every pair in the models' tables."""

from __future__ import annotations

import pandas as pd

from tessera.judge.claims.evaluators.bias import fitted
from tessera.judge.claims.evaluators.model_errors import ALL_SAMPLES
from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.model import Value
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.layouts.names import ALL_1GB
from tessera.results.pair import Pair, pairs_of

#: Below this share of the runtimes' squares, a squared error is rounding.
NEGLIGIBLE = 1e-18


def judged(evidence: Evidence, value: Value, pairs: list[Pair]) -> Outcome:
    """An outcome over ``pairs``: measured if all of them are, else simulated."""
    kinds = {evidence.provenances.get(pair, "simulated") for pair in pairs}
    return Outcome(value, "measured" if kinds == {"measured"} else "simulated", "any")


def _terms(evidence: Evidence, model: str) -> tuple[pd.Series, list[Pair]]:
    """Nonzero coefficients of each pair, intercept not counted; and the pairs."""
    table = evidence.models("coefficients")
    table = table[(table["model"] == model) & (table["term"] != "1")]
    if table.empty:
        raise Missing(f"no coefficients of {model}")
    counts = (table["coefficient"] != 0).groupby([table["workload"], table["platform"]]).sum()
    return counts, pairs_of(table)


def nonzero_coefficients(claim, evidence, model: str) -> Outcome:
    """Largest number of nonzero coefficients, intercept not counted."""
    counts, pairs = _terms(evidence, model)
    return judged(evidence, int(counts.max()), pairs)


def term_counts(claim, evidence, model: str) -> Outcome:
    """Least and largest number of nonzero coefficients over the pairs, intercept not counted."""
    counts, pairs = _terms(evidence, model)
    return judged(evidence, {"least": int(counts.min()), "most": int(counts.max())}, pairs)


def anchor_error(claim, evidence, anchors: dict) -> Outcome:
    """Largest relative error of each model at the layouts that it must pass through."""
    table = evidence.models("predictions")
    worst = []
    for pair in pairs_of(table):
        present = {row["model"] for row in evidence.records("predictions", pair)}
        for model in sorted(present & set(anchors)):
            errors = fitted(evidence, pair, model)["optimism"].abs()
            worst += [float(errors[layout]) for layout in anchors[model] if layout in errors.index]
    if not worst:
        raise Missing("no model predicts its anchors")
    return judged(evidence, max(worst), pairs_of(table))


def nested_squared_errors(claim, evidence, models: list) -> Outcome:
    """Largest ratio of squared errors, a model over the one before it (a special case of it)."""
    table = evidence.models("predictions")
    ratios = []
    for pair in pairs_of(table[table["model"].isin(models)]):
        errors = []
        for model in models:
            rows = fitted(evidence, pair, model)
            total = ((rows["predicted"] - rows["runtime_cycles"]) ** 2).sum()
            errors.append(max(float(total / (rows["runtime_cycles"] ** 2).sum()), NEGLIGIBLE))
        ratios += [after / before for before, after in zip(errors, errors[1:], strict=False)]
    if not ratios:
        raise Missing(f"no predictions of {', '.join(models)}")
    return judged(evidence, max(ratios), pairs_of(table))


def geomean_over_max(claim, evidence) -> Outcome:
    """Largest ratio of geometric mean error to largest error."""
    table = evidence.models("errors").dropna(subset=["max_error", "geomean_error"])
    table = table[table["max_error"] > 0]
    if table.empty:
        raise Missing("no errors of models")
    ratio = float((table["geomean_error"] / table["max_error"]).max())
    return judged(evidence, ratio, pairs_of(table))


def samples_in_excess(claim, evidence) -> Outcome:
    """Largest excess of fitted samples over the good cells without the 1GB layout."""
    table = evidence.models("errors").dropna(subset=["samples"])
    table = table[table["protocol"] == ALL_SAMPLES]
    excess = []
    for pair in pairs_of(table):
        good = len(evidence.samples(pair).index.difference([ALL_1GB]))
        rows = pair.rows(table)
        excess.append(int(rows["samples"].max()) - good)
    if not excess:
        raise Missing("no model was fitted")
    return judged(evidence, max(excess), pairs_of(table))


def hybrid_pairs_fitted(claim, evidence) -> Outcome:
    """Number of pairs with hybrid cells among those that models were fitted to."""
    pairs = pairs_of(evidence.models("errors"))
    hybrid = [pair for pair in pairs if evidence.provenances.get(pair) == "hybrid"]
    return judged(evidence, len(hybrid), pairs)


EVALUATORS = {
    "nonzero_coefficients": nonzero_coefficients,
    "term_counts": term_counts,
    "anchor_error": anchor_error,
    "nested_squared_errors": nested_squared_errors,
    "geomean_over_max": geomean_over_max,
    "samples_in_excess": samples_in_excess,
    "hybrid_pairs_fitted": hybrid_pairs_fitted,
}
