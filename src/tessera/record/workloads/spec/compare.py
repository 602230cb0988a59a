"""Compare an output with the expected one, as SPEC's ``specdiff`` does: words, and numbers with tolerances.

SPEC sets tolerances per benchmark; here one pair covers the rows of this artifact, whose integer programs
agree to the last digit and whose floating-point ones (omnetpp, cactusADM) are allowed 1e-5.
"""

from __future__ import annotations

from itertools import zip_longest

RELATIVE, ABSOLUTE = 1e-5, 1e-6


def first_difference(expected: str, found: str) -> str | None:
    """Where the texts differ (``line 3: 'a', expected 'b'``); None if they are the same."""
    pairs = zip_longest(expected.splitlines(), found.splitlines())
    for number, (theirs, ours) in enumerate(pairs, start=1):
        if theirs is None:
            return f"line {number}: {ours!r}, expected the end"
        if ours is None:
            return f"line {number}: the end, expected {theirs!r}"
        words = list(zip_longest(theirs.split(), ours.split(), fillvalue=""))
        if not all(_same(a, b) for a, b in words):
            return f"line {number}: {ours!r}, expected {theirs!r}"
    return None


def _same(expected: str, found: str) -> bool:
    if expected == found:
        return True
    try:
        a, b = float(expected), float(found)
    except ValueError:
        return False
    return abs(a - b) <= max(ABSOLUTE, RELATIVE * abs(a))
