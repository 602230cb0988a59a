"""Evaluate every claim against a results tree: one row a claim (docs/contracts.md, "Claims").

An evaluator without its input gives NOT-MEASURABLE-HERE. So does an evaluator that raises an exception; its
reason starts with :data:`BROKEN`. For a required claim, :func:`failing_claims` treats that as a failure,
so no claim passes because its check crashed.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tessera.judge.claims import registry
from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.load import load_claims
from tessera.judge.claims.model import Claim
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.judge.claims.tolerance import text
from tessera.judge.claims.verdicts import BAD, Verdict, verdict
from tessera.judge.walk_cost.verdicts import DEPENDS_ON, dependent
from tessera.results.schema.shown import CLAIMS
from tessera.results.write import frame_of

BROKEN = "the check broke"


def evaluate(
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
    rows = [row_of(claim, *judge(claim, evidence)) for claim in claims]
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


def row_of(claim: Claim, outcome: Outcome | None, judged: Verdict) -> dict:
    """The claim's row of ``claims.csv``."""
    return {
        "id": claim.id,
        "paper": claim.paper,
        "section": claim.section,
        "statement": claim.statement,
        "kind": claim.kind,
        "published": text(claim.published),
        "obtained": text(outcome.value) if outcome else "",
        "distribution": outcome.distribution if outcome else "",
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
        "explanation": claim.explanation if judged.name in BAD else "",
        "depends_on": _depends_on(claim, outcome),
    }


def _depends_on(claim: Claim, outcome: Outcome | None) -> str:
    """The assumption that a simulated verdict depends on; measured and printed values depend on none."""
    simulated = outcome is None or outcome.provenance == "simulated"
    return DEPENDS_ON if simulated and claim.id in dependent() else ""


def judge(claim: Claim, evidence: Evidence) -> tuple[Outcome | None, Verdict]:
    """The obtained value, None if there is none, and the verdict."""
    try:
        evaluator = registry.find(claim.evaluator, claim.parameters)
        outcome = evaluator(claim, evidence, **claim.parameters)
        judged = verdict(
            claim,
            outcome.value,
            outcome.provenance,
            outcome.hardware_class,
            quantity=outcome.quantity,
        )
        return outcome, judged
    except Missing as missing:
        return None, verdict(claim, None, "", "", str(missing))
    except Exception as error:  # a claim that can't be judged must not stop the others
        detail = f"{BROKEN}: evaluator '{claim.evaluator}': {type(error).__name__}: {error}"
        return None, verdict(claim, None, "", "", detail)
