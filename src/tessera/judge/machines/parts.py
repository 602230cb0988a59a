"""What a part of a claim's scope decides: an extreme over pairs can only grow with more pairs.

=========  ==================  ==================
aggregate  at-most             at-least
=========  ==================  ==================
max        can refute          can confirm
min        can confirm         can refute
=========  ==================  ==================

Every other claim needs its whole scope.
"""

from __future__ import annotations

CONFIRMS, REFUTES = "confirms", "refutes"
_ONE_WAY = {
    ("max", "at-most"): REFUTES,
    ("min", "at-least"): REFUTES,
    ("max", "at-least"): CONFIRMS,
    ("min", "at-most"): CONFIRMS,
}


def way(over_pairs: str, rule: str) -> str:
    """What a part can do to the whole claim: :data:`CONFIRMS`, :data:`REFUTES`, or empty for nothing.

    Args:
        over_pairs: the aggregate over pairs (:class:`tessera.judge.claims.outcome.Outcome`).
        rule: rule of the claim's tolerance.
    """
    return _ONE_WAY.get((over_pairs, rule), "")


def decides(over_pairs: str, rule: str, holds: bool) -> bool:
    """Whether a part decides the whole claim (:func:`way`); ``holds``: whether it holds for the part."""
    return way(over_pairs, rule) == (CONFIRMS if holds else REFUTES)
