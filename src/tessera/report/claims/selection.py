"""Which pairs of workload and platform decide a claim, and how their numbers become one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tessera.core.errors import unknown_name
from tessera.core.results.loader import Pair
from tessera.report.claims.claim import Claim, Missing, Outcome, Value, class_matches
from tessera.report.claims.evidence import Evidence

# The values behind an extreme: a maximum over pairs says nothing about the other pairs.
#
# ``median 3.1, 90% 12, max 31.8 of 56 pairs``: nine of ten values are at most 12. For a minimum, nine of ten
# are at least the middle number. Units are those of the claim.

PAIRS = "pairs"
#: aggregate -> share of the values below the number in the middle
MIDDLE_SHARES = {"max": 0.9, "min": 0.1}


def describe_distribution(values: Sequence[float], how: str, what: str = PAIRS) -> str:
    """The distribution in words; empty for other aggregates than extremes, and for fewer than two values."""
    return (
        f"{_distribution_numbers(values, how)} of {len(values)} {what}"
        if how in MIDDLE_SHARES and len(values) > 1
        else ""
    )


def describe_distributions(values: Mapping[str, Sequence[float]], how: str, what: str = PAIRS) -> str:
    """The same for several named extremes over the same pairs."""
    count = min((len(numbers) for numbers in values.values()), default=0)
    if how not in MIDDLE_SHARES or count < 2:
        return ""
    parts = [f"{name}: {_distribution_numbers(numbers, how)}" for name, numbers in values.items()]
    return f"{'; '.join(parts)} of {count} {what}"


def _distribution_numbers(values: Sequence[float], how: str) -> str:
    share = MIDDLE_SHARES[how]
    inner = float(np.quantile(values, share))
    extreme = max(values) if how == "max" else min(values)
    return f"median {float(np.median(values)):.3g}, {share:.0%} {inner:.3g}, {how} {float(extreme):.3g}"


# Which pairs of workload and platform decide a claim, and with what provenance.
#
# Measured data of the claim's hardware class comes first, if it covers the whole scope; otherwise the
# simulated platforms of the named generations, if those cover it. Kinds are never mixed, and hybrid
# pairs are never selected. As in the paper, pairs that are not TLB-sensitive are left out
# (:mod:`tessera.core.results.loader`), except for claims about sensitivity itself; they still count as
# covered.

NAMED = 3  #: a reason names at most so many missing pairs
AGGREGATES: dict[str, Callable[[list[float]], float]] = {
    "max": max,
    "min": min,
    "mean": lambda values: float(np.mean(values)),
    "median": lambda values: float(np.median(values)),
    "sum": sum,
    "product": lambda values: float(np.prod(values)),
    "count": lambda values: float(len(values)),
}


def aggregate(values: Iterable[float], how: str) -> float:
    """One number out of several (at least one)."""
    if how not in AGGREGATES:
        raise unknown_name("aggregate", how, list(AGGREGATES))
    numbers = [float(value) for value in values]
    if not numbers:
        raise Missing("no value to aggregate")
    return float(AGGREGATES[how](numbers))


@dataclass(frozen=True)
class Selection:
    """Pairs of one provenance."""

    pairs: tuple[Pair, ...]
    provenance: str
    hardware_class: str

    def outcome(self, value: Value, spread: str = "") -> Outcome:
        return Outcome(value, self.provenance, self.hardware_class, distribution=spread)

    def each(self, function: Callable[[Pair], float], how: str) -> Outcome:
        """The aggregate of ``function`` over the pairs; a maximum or minimum with its distribution."""
        values = [function(pair) for pair in self.pairs]
        found = self.outcome(aggregate(values, how), describe_distribution(values, how))
        return replace(found, over_pairs=how)


def deciding_pairs(claim: Claim, evidence: Evidence, *, insensitive: bool = False) -> Selection:
    """The pairs that decide ``claim``.

    Args:
        insensitive: keep pairs that are not TLB-sensitive.

    Raises:
        Missing: neither measured nor simulated data cover the claim's scope, or no pair of it is sensitive.
    """
    measured = [
        pair
        for pair, kind in evidence.provenances.items()
        if kind == "measured" and class_matches(claim.hardware_class, pair.generation)
    ]
    simulated = [pair for pair, kind in evidence.provenances.items() if kind == "simulated"]
    for kind, pairs in (("measured", measured), ("simulated", simulated)):
        pairs = [pair for pair in pairs if _in_scope(claim, pair, kind)]
        if pairs and not lacking(claim, pairs):
            kept = pairs if insensitive else [pair for pair in pairs if pair not in evidence.dropped]
            if not kept:
                raise Missing(f"not TLB-sensitive: {'; '.join(f'{p}: {evidence.dropped[p]}' for p in pairs)}")
            return Selection(tuple(kept), kind, _class(claim, kept) if kind == "measured" else "")
    in_scope = [pair for pair in simulated if _in_scope(claim, pair, "simulated")]
    raise Missing(f"no good cells for {_listed(lacking(claim, in_scope))}")


def _in_scope(claim: Claim, pair: Pair, kind: str) -> bool:
    workloads, platforms = claim.scope.workloads, claim.scope.platforms
    if workloads and pair.workload not in workloads:
        return False
    if not platforms:
        return True
    if kind == "simulated" and pair.platform != f"{pair.generation}-sim":
        return False
    return pair.generation in platforms


def lacking(claim: Claim, pairs: list[Pair]) -> list[str]:
    """Combinations of workload and generation in the scope that no pair covers."""
    covered = {(pair.workload, pair.generation) for pair in pairs}
    workloads = claim.scope.workloads or sorted({w for w, _ in covered}) or ("any workload",)
    platforms = claim.scope.platforms
    if not platforms:
        present = {w for w, _ in covered}
        return [w for w in claim.scope.workloads if w not in present]
    return [f"{w} on {p}" for w in workloads for p in platforms if (w, p) not in covered]


def _listed(pairs: list[str]) -> str:
    """Pairs in one line: the first :data:`NAMED` of a longer list, and the number of the others."""
    if len(pairs) <= NAMED:
        return ", ".join(pairs) or "any platform"
    return f"{len(pairs)} pairs: {', '.join(pairs[:NAMED])} and {len(pairs) - NAMED} more"


def _class(claim: Claim, pairs: list[Pair]) -> str:
    """Class of the machines that measured: the generation if there is one, else the claim's class."""
    generations = {pair.generation for pair in pairs}
    return generations.pop() if len(generations) == 1 else claim.hardware_class
