"""The values behind an extreme: a maximum over pairs says nothing about the other pairs.

``median 3.1, 90% 12, max 31.8 of 56 pairs``: nine of ten values are at most 12. For a minimum, nine of ten
are at least the middle number. Units are those of the claim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

PAIRS = "pairs"
#: aggregate -> share of the values below the number in the middle
SHARES = {"max": 0.9, "min": 0.1}


def describe(values: Sequence[float], how: str, what: str = PAIRS) -> str:
    """The distribution in words; empty for other aggregates than extremes, and for fewer than two values."""
    return f"{_numbers(values, how)} of {len(values)} {what}" if how in SHARES and len(values) > 1 else ""


def describe_each(values: Mapping[str, Sequence[float]], how: str, what: str = PAIRS) -> str:
    """The same for several named extremes over the same pairs."""
    count = min((len(numbers) for numbers in values.values()), default=0)
    if how not in SHARES or count < 2:
        return ""
    parts = [f"{name}: {_numbers(numbers, how)}" for name, numbers in values.items()]
    return f"{'; '.join(parts)} of {count} {what}"


def _numbers(values: Sequence[float], how: str) -> str:
    share = SHARES[how]
    inner = float(np.quantile(values, share))
    extreme = max(values) if how == "max" else min(values)
    return f"median {float(np.median(values)):.3g}, {share:.0%} {inner:.3g}, {how} {float(extreme):.3g}"
