"""Is an obtained value close enough to the published one? One function, six rules.

==========  ==========================================================================
exact       equal
absolute    within ``value`` units
relative    within ``value`` times the published value
at-most     not above published + ``value`` units
at-least    not below published - ``value`` units
ordering    named values, ordered as the published ones: where a is published above b, a is not
            below b by more than the fraction ``value``; equal published values say nothing
==========  ==========================================================================

Named values are judged one by one, and all must hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

from tessera.core.errors import unknown_name
from tessera.judge.claims.model import Tolerance, Value

SCALAR_RULES = {
    "exact": lambda got, want, slack: got == want,
    "absolute": lambda got, want, slack: abs(got - want) <= slack,
    "relative": lambda got, want, slack: abs(got - want) <= slack * abs(want),
    "at-most": lambda got, want, slack: got <= want + slack,
    "at-least": lambda got, want, slack: got >= want - slack,
}
RULES = (*SCALAR_RULES, "ordering")


def holds(obtained: Value, published: Value, tolerance: Tolerance) -> bool:
    """Whether ``obtained`` satisfies ``tolerance`` around ``published``."""
    if tolerance.rule not in RULES:
        raise unknown_name("tolerance rule", tolerance.rule, RULES)
    if tolerance.rule == "ordering":
        return _ordered(obtained, published, tolerance.value)
    rule = SCALAR_RULES[tolerance.rule]
    if isinstance(published, Mapping):
        if not isinstance(obtained, Mapping) or set(obtained) != set(published):
            raise ValueError(f"obtained {obtained} lacks the names of {dict(published)}")
        return all(rule(obtained[name], published[name], tolerance.value) for name in published)
    if isinstance(obtained, Mapping):
        raise ValueError(f"obtained {dict(obtained)} where one number was published")
    return rule(obtained, published, tolerance.value)


def _ordered(obtained: Value, published: Value, slack: float) -> bool:
    if not isinstance(obtained, Mapping) or set(obtained) != set(published):
        raise ValueError(f"obtained {obtained} lacks the names of {published}")
    return all(
        obtained[high] >= obtained[low] * (1 - slack)
        for high, low in permutations(published, 2)
        if published[high] > published[low]
    )


def text(value: Value | None) -> str:
    """A value for tables and reasons: ``12.5``, or ``C=0.99 M=0.98``; empty for nothing."""
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return " ".join(f"{name}={number:.6g}" for name, number in value.items())
    return f"{value:.6g}"
