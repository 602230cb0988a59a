"""Models under the protocols of ``models/protocols.csv`` and along ``models/learning_curve.csv``."""

from __future__ import annotations

from tessera.judge.claims.evaluators.model_errors import ALL_SAMPLES, error_percent
from tessera.judge.claims.evaluators.model_rules import judged
from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.judge.claims.selection import select
from tessera.results.pair import Pair

ANCHORS = 2  #: the 4KB and the 2MB run


def _row(evidence: Evidence, pair: Pair, model: str, protocol: str, setting: str):
    rows = evidence.of_pair("protocols", pair, model=model, protocol=protocol)
    rows = rows[rows["setting"] == setting]
    if rows.empty:
        raise Missing(f"{pair}: models/protocols.csv has no {model} under {protocol} {setting}".rstrip())
    return rows.iloc[0]


def setting_worse_pairs(claim, evidence, model: str, protocol: str, setting: str, base: str) -> Outcome:
    """Share of pairs for which ``setting`` gives the larger maximal error of the two, percent.

    A training set that does not determine the model counts as an error without bound.
    """
    selection = select(claim, evidence)
    worse = 0
    for pair in selection.pairs:
        rows = [_row(evidence, pair, model, protocol, name) for name in (setting, base)]
        untested = [row for row in rows if not row["train_samples"] > 0]
        if untested:
            raise Missing(f"{pair}: {protocol} {untested[0]['setting']}: {untested[0]['message']}")
        asked, other = (
            float("inf") if row["max_error"] != row["max_error"] else row["max_error"] for row in rows
        )
        worse += asked > other
    return selection.outcome(100 * worse / len(selection.pairs))


def error_changed_by_training(claim, evidence, models: list) -> Outcome:
    """Largest change of a maximal error (a fraction) when ``models`` see only the two anchor runs."""
    table = evidence.models("protocols")
    table = table[table["model"].isin(models) & (table["protocol"] == ALL_SAMPLES)].dropna(
        subset=["max_error"]
    )
    table = table[table["train_samples"] == ANCHORS]
    pairs, changes = set(), []
    for row in table.itertuples():
        pair = Pair(row.workload, row.platform)
        pairs.add(pair)
        changes.append(abs(row.max_error - error_percent(evidence, pair, row.model, ALL_SAMPLES) / 100))
    if not changes:
        raise Missing(f"none of {', '.join(models)} was fitted to its two anchor runs alone")
    return judged(evidence, max(changes), sorted(pairs))


def learning_ratio(claim, evidence, model: str, how: str) -> Outcome:
    """Maximal error with the fewest layouts that determine ``model`` over that with all of them."""

    def of(pair: Pair) -> float:
        rows = evidence.of_pair("learning_curve", pair, model=model).dropna(subset=["max_error"])
        rows = rows.sort_values("train_samples")
        if len(rows) < 2 or rows["max_error"].iloc[-1] == 0:
            raise Missing(f"{pair}: the learning curve of {model} has fewer than two points")
        return float(rows["max_error"].iloc[0] / rows["max_error"].iloc[-1])

    return select(claim, evidence).each(of, how)


EVALUATORS = {
    "setting_worse_pairs": setting_worse_pairs,
    "error_changed_by_training": error_changed_by_training,
    "learning_ratio": learning_ratio,
}
