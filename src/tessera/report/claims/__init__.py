"""The claims of the papers: ``judged_claims`` gives the table, ``failing_claims`` required ones that fail.

Bottom-up: ``claim`` (claim, tolerance, outcome) < ``verdicts`` (the one judgement) < ``evidence`` (inputs
of evaluators) < ``selection`` (which pairs decide) < :mod:`tessera.report.evaluators` (how a value is
obtained) < ``registry`` < ``load`` < the module ``evaluate``.
"""

from tessera.report.claims.claim import Claim
from tessera.report.claims.evaluate import failing_claims, judged_claims, unexplained
from tessera.report.claims.load import load_claims
from tessera.report.claims.verdicts import VERDICTS, Verdict, judge_value

__all__ = [
    "VERDICTS",
    "Claim",
    "Verdict",
    "failing_claims",
    "judged_claims",
    "load_claims",
    "unexplained",
    "judge_value",
]
