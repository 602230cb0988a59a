"""Arithmetic on numbers of any published table: ratio, difference, aggregate, rank, logarithm."""

from __future__ import annotations

from math import log10

from tessera.judge.claims.outcome import Outcome
from tessera.judge.claims.selection import aggregate


def reference_ratio(claim, evidence, numerator, denominator, log10: bool = False) -> Outcome:
    """One printed number over another; with ``log10`` in orders of magnitude."""
    ratio = evidence.number(numerator) / evidence.number(denominator)
    return Outcome(_orders(ratio) if log10 else ratio, "published")


def reference_difference(claim, evidence, minuend, subtrahend) -> Outcome:
    """One printed number minus another."""
    return Outcome(evidence.number(minuend) - evidence.number(subtrahend), "published")


def reference_aggregate(claim, evidence, table: str, where: dict, how: str) -> Outcome:
    """Sum, product, count, minimum, maximum, mean or median of printed numbers."""
    return Outcome(aggregate(evidence.rows(table, where)["value"], how), "published")


def reference_rank(claim, evidence, table: str, by: str, item: str, how: str) -> Outcome:
    """Rank of ``item`` among the groups of key ``by``, 1 = smallest."""
    groups = evidence.rows(table).groupby(by)["value"]
    values = {name: aggregate(numbers, how) for name, numbers in groups}
    return Outcome(1 + sum(other < values[item] for other in values.values()), "published")


def reference_log10(claim, evidence, **numbers) -> Outcome:
    """Orders of magnitude of printed numbers, by name."""
    return Outcome({name: _orders(evidence.number(n)) for name, n in numbers.items()}, "published")


def _orders(number: float) -> float:
    return log10(number)


EVALUATORS = {
    "reference_ratio": reference_ratio,
    "reference_difference": reference_difference,
    "reference_aggregate": reference_aggregate,
    "reference_rank": reference_rank,
    "reference_log10": reference_log10,
}
