"""Check the claims of the papers: ``evaluate`` gives the table, ``failing_claims`` required ones that fail.

Bottom-up: ``model`` (what a claim is) < ``tolerance`` < ``outcome`` < ``verdicts`` (the one judgement)
< ``distribution`` < ``evidence`` (inputs of evaluators) < ``selection`` (which pairs decide)
< ``evaluators/`` (how a value is obtained) < ``registry`` < ``load`` < ``evaluate``.
"""

from tessera.judge.claims.evaluate import evaluate, failing_claims, unexplained
from tessera.judge.claims.load import load_claims
from tessera.judge.claims.model import Claim
from tessera.judge.claims.verdicts import VERDICTS, Verdict, verdict

__all__ = [
    "VERDICTS",
    "Claim",
    "Verdict",
    "failing_claims",
    "evaluate",
    "load_claims",
    "unexplained",
    "verdict",
]
