"""Evaluate every claim against a results tree: one row a claim (docs/contracts.md, "Claims").

An evaluator without its input gives NOT-MEASURABLE-HERE. So does an evaluator that raises an exception; its
reason starts with :data:`BROKEN`. For a required claim, :func:`failing_claims` treats that as a failure,
so no claim passes because its check crashed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from tessera.core.results.report_tables import CLAIMS
from tessera.core.results.table_io import frame_of
from tessera.lab.walk_cost import DEPENDS_ON, dependent
from tessera.report.claims import registry
from tessera.report.claims.claim import OURS, Beside, Claim, Missing, Outcome, join_readings, value_text
from tessera.report.claims.evidence import Evidence
from tessera.report.claims.load import load_claims
from tessera.report.claims.verdicts import BAD, UNDECIDED, Verdict, judge_value

BROKEN = "the check broke"


def judged_claims(
    results_dir: Path | str,
    claims_path: Path | str | None = None,
    reference_dir: Path | str | None = None,
) -> pd.DataFrame:
    """The claims table, in the order of the claims file.

    Raises:
        TesseraError: a broken claims file or published table; never because of results.
    """
    claims = load_claims(claims_path, reference_dir)
    evidence = Evidence(results_dir, reference_dir)
    rows = [
        claim_row(claim, *judge_claim(claim, evidence), undecided_numbers(claim, evidence))
        for claim in claims
    ]
    return frame_of(CLAIMS, rows)


def failing_claims(claims: pd.DataFrame) -> list[dict]:
    """Rows of required claims that don't hold, as dictionaries; empty when all is well."""
    required = claims["required"].map(lambda value: str(value).lower() == "true")
    bad = claims["verdict"].isin(BAD)
    broken = claims["reason"].fillna("").str.startswith(BROKEN)
    return claims[required & (bad | broken)].to_dict("records")


def unexplained(claims: pd.DataFrame) -> list[str]:
    """Ids of the rows that deviate or fail and carry no explanation."""
    bad = claims["verdict"].isin(BAD)
    return list(claims.loc[bad & (claims["explanation"].fillna("") == ""), "id"])


def claim_row(claim: Claim, outcome: Outcome | None, judged: Verdict, others: str = "") -> dict:
    """The claim's row of ``claims.csv``; ``others``: :func:`undecided_numbers`."""
    explained = judged.name in (*BAD, UNDECIDED)
    return {
        "id": claim.id,
        "paper": claim.paper,
        "section": claim.section,
        "statement": claim.statement,
        "kind": claim.kind,
        "published": value_text(claim.published),
        "obtained": str(outcome) if outcome else "",
        "distribution": outcome.distribution if outcome else "",
        "protocol": outcome.protocol if outcome else "",
        "beside": others,
        "unit": claim.unit,
        "tolerance": str(claim.tolerance),
        "verdict": judged.name,
        "reason": judged.reason,
        "evaluator": claim.evaluator,
        "scope": str(claim.scope),
        "provenance": outcome.provenance if outcome else "",
        "hardware_class": claim.hardware_class,
        "implementation": claim.implementation,
        "required": claim.required,
        "figure": claim.figure,
        "explanation": claim.explanation if explained else "",
        "cause": claim.cause if explained else "",
        "depends_on": _depends_on(claim, outcome),
    }


def _depends_on(claim: Claim, outcome: Outcome | None) -> str:
    """The assumption that a simulated verdict depends on; measured and printed values depend on none."""
    simulated = outcome is None or outcome.provenance == "simulated"
    return DEPENDS_ON if simulated and claim.id in dependent() else ""


def judge_claim(claim: Claim, evidence: Evidence) -> tuple[Outcome | None, Verdict]:
    """The obtained value, None if there is none, and the verdict."""
    try:
        outcome = _obtain(claim, evidence)
        judged = judge_value(
            claim,
            outcome.value,
            outcome.provenance,
            outcome.hardware_class,
            quantity=outcome.quantity,
            readings=outcome.readings,
        )
        return outcome, judged
    except Missing as missing:
        return None, judge_value(claim, None, "", "", str(missing))
    except Exception as error:  # a claim that can't be judged must not stop the others
        detail = f"{BROKEN}: evaluator '{claim.evaluator}': {type(error).__name__}: {error}"
        return None, judge_value(claim, None, "", "", detail)


def _obtain(claim: Claim, evidence: Evidence) -> Outcome:
    """The evaluator's outcome; with several readings, those of all, joined."""
    outcome = _call(claim, evidence, claim.evaluator, claim.parameters)
    if not claim.readings:
        return outcome
    others = {name: _call(claim, evidence, claim.evaluator, p) for name, p in claim.readings.items()}
    return join_readings({OURS: outcome, **others})


def _call(claim: Claim, evidence: Evidence, name: str, parameters: Mapping[str, object]) -> Outcome:
    return registry.find_evaluator(name, parameters)(claim, evidence, **parameters)


def undecided_numbers(claim: Claim, evidence: Evidence) -> str:
    """The claim's numbers that decide nothing, each with what it is; or why it is absent."""
    return "; ".join(f"{one.says}: {_shown(claim, evidence, one)}" for one in claim.beside)


def _shown(claim: Claim, evidence: Evidence, one: Beside) -> str:
    try:
        return str(_call(claim, evidence, one.evaluator, one.parameters))
    except Missing as missing:
        return f"none, {missing.reason}"
    except Exception as error:  # as in judge(): the others go on, and the row says so
        return f"none, {BROKEN}: {type(error).__name__}: {error}"
