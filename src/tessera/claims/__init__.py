"""Claims of the papers, checked: ``evaluate`` gives the table, ``check`` the required ones that fail.

Bottom-up: ``model`` (what a claim is) < ``tolerance`` < ``verdicts`` (the one judgement) < ``outcome``
< ``evidence`` (what may be read) < ``selection`` (which pairs decide) < ``protocols/`` (how a value is
obtained) < ``registry`` < ``load`` < ``evaluate``.
"""

from tessera.claims.evaluate import COLUMNS, check, evaluate, unexplained
from tessera.claims.load import load_claims
from tessera.claims.model import Claim
from tessera.claims.verdicts import VERDICTS, Verdict, verdict

__all__ = [
    "COLUMNS",
    "VERDICTS",
    "Claim",
    "Verdict",
    "check",
    "evaluate",
    "load_claims",
    "unexplained",
    "verdict",
]
