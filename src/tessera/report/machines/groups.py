"""Which machines decide a claim together, and what a part of a claim's scope decides."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from tessera.core.results.loader import GENERATIONS, Pair
from tessera.report.claims.claim import Claim, class_matches
from tessera.report.claims.evidence import Evidence
from tessera.report.claims.selection import lacking

# A *machine* is a platform with measured cells, for example ``broadwell-0123abcd``. A claim about several
# generations needs one machine of each: every such choice is a group. A group is whole if it covers the
# claim's scope. A machine that belongs to no whole group with a value is a part, alone.

Machines = Mapping[str, Sequence[Pair]]  #: platform -> its measured pairs


@dataclass(frozen=True)
class MachineGroup:
    """``claim`` has the scope that the machines cover; ``coverage`` says which part of the whole it is."""

    machines: tuple[str, ...]
    claim: Claim
    whole: bool
    coverage: str

    def __str__(self) -> str:
        return " + ".join(self.machines)


@dataclass(frozen=True)
class Coverage:
    """Measured pairs ``here``, of those of a claim's scope; ``whole`` is None if it names no workloads."""

    here: int
    whole: int | None

    def __str__(self) -> str:
        if self.whole is None:
            return f"{self.here} pairs; the claim names no workloads"
        return f"{self.here} of {self.whole} pairs"


def known_machines(evidence: Evidence) -> Machines:
    """Every machine of a known class, with its measured pairs."""
    found: dict[str, list[Pair]] = {}
    for pair, kind in evidence.provenances.items():
        if kind == "measured" and pair.generation in GENERATIONS:
            found.setdefault(pair.platform, []).append(pair)
    return found


def whole_groups(claim: Claim, here: Machines) -> list[MachineGroup]:
    """Every choice of machines that covers the claim's scope."""
    usable = _usable(claim, here)
    return [
        MachineGroup(names, claim, True, str(scope_coverage(claim, _pairs(usable, names))))
        for names in _choices(claim, usable)
        if not lacking(claim, _pairs(usable, names))
    ]


def part_groups(claim: Claim, here: Machines, without: Collection[str]) -> list[MachineGroup]:
    """Each machine of the claim's class and scope alone, but those of ``without``."""
    return [
        single_group(claim, name, pairs)
        for name, pairs in _usable(claim, here).items()
        if name not in without
    ]


def single_group(claim: Claim, name: str, pairs: Sequence[Pair]) -> MachineGroup:
    """One machine, with the scope that it covers."""
    workloads = tuple(w for w in claim.scope.workloads if w in {pair.workload for pair in pairs})
    platforms = (pairs[0].generation,) if claim.scope.platforms else ()
    scope = replace(claim.scope, workloads=workloads, platforms=platforms)
    return MachineGroup((name,), replace(claim, scope=scope), False, str(scope_coverage(claim, pairs)))


def _usable(claim: Claim, here: Machines) -> Machines:
    """Machines of the claim's class and scope, with their pairs in it."""
    return {name: pairs for name, all_pairs in here.items() if (pairs := in_scope(claim, all_pairs))}


def is_about(claim: Claim, generation: str) -> bool:
    """Whether a claim is about processors of this class."""
    scope = claim.scope
    return class_matches(claim.hardware_class, generation) and (
        not scope.platforms or generation in scope.platforms
    )


def in_scope(claim: Claim, pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs of one machine that a claim is about; empty if it is about other classes or workloads."""
    return with_workloads(claim, pairs) if pairs and is_about(claim, pairs[0].generation) else []


def with_workloads(claim: Claim, pairs: Sequence[Pair]) -> list[Pair]:
    """Pairs with a workload of the claim's scope."""
    return [pair for pair in pairs if not claim.scope.workloads or pair.workload in claim.scope.workloads]


def _choices(claim: Claim, usable: Machines) -> list[tuple[str, ...]]:
    """One machine of each generation of the scope; each machine alone if the scope names none."""
    if not claim.scope.platforms:
        return [(name,) for name in usable]
    by_generation = [
        [name for name, pairs in usable.items() if pairs[0].generation == generation]
        for generation in claim.scope.platforms
    ]
    return list(product(*by_generation))


def _pairs(usable: Machines, names: Sequence[str]) -> list[Pair]:
    return [pair for name in names for pair in usable[name]]


def scope_coverage(claim: Claim, pairs: Sequence[Pair]) -> Coverage:
    """How much of a claim's scope these pairs of it are; two machines of one class are the same part."""
    here, scope = len({(pair.workload, pair.generation) for pair in pairs}), claim.scope
    whole = len(scope.workloads) * max(1, len(scope.platforms))
    return Coverage(here, whole if scope.workloads else None)


# What a part of a claim's scope decides: an extreme over pairs can only grow with more pairs.
#
# =========  ==================  ==================
# aggregate  at-most             at-least
# =========  ==================  ==================
# max        can refute          can confirm
# min        can confirm         can refute
# =========  ==================  ==================
#
# Every other claim needs its whole scope.

CONFIRMS, REFUTES = "confirms", "refutes"
_ONE_WAY = {
    ("max", "at-most"): REFUTES,
    ("min", "at-least"): REFUTES,
    ("max", "at-least"): CONFIRMS,
    ("min", "at-most"): CONFIRMS,
}


def part_decides(over_pairs: str, rule: str, holds: bool) -> bool:
    """Whether a part decides the whole claim.

    Args:
        over_pairs: the aggregate over pairs (:class:`tessera.report.claims.claim.Outcome`).
        rule: rule of the claim's tolerance.
        holds: whether the claim holds for the part.
    """
    return _ONE_WAY.get((over_pairs, rule)) == (CONFIRMS if holds else REFUTES)
