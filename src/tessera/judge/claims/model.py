"""A claim: a statement, a published value, the evaluator of our value, and a tolerance.

Claims are read from ``config/claims.yaml`` (:mod:`tessera.judge.claims.load`), never built by hand
outside tests. ``published`` holds the numbers already looked up in ``reference-results/``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tessera.counters.classes import classes
from tessera.results.pair import GENERATIONS

#: One number, or named numbers that are judged together (all of them must hold).
Value = float | Mapping[str, float]

KINDS = ("arithmetic", "invariant", "finding")
#: Kinds that need no hardware to be decided; only they may be required.
DECIDED_ANYWHERE = ("arithmetic", "invariant")

OURS = "ours"  #: name of the first reading of a claim that has several: its evaluator's own parameters

HARDWARE_CLASSES = ("any", "intel-pmu", "other-pmu", *GENERATIONS)


@dataclass(frozen=True)
class Tolerance:
    """How far obtained may be from published; rules are in :mod:`tessera.judge.claims.tolerance`."""

    rule: str
    value: float
    why: str

    def __str__(self) -> str:
        return f"{self.rule} {self.value:g}" if self.value else self.rule


@dataclass(frozen=True)
class Scope:
    """What a claim is about; empty tuples mean everything that the run has."""

    workloads: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()  #: generations: ``broadwell`` is met by ``broadwell-sim``
    about: str = ""

    def __str__(self) -> str:
        workloads = ", ".join(self.workloads) or "all workloads"
        platforms = ", ".join(self.platforms) or "all platforms"
        return f"{workloads} on {platforms}: {self.about}" if self.about else workloads


@dataclass(frozen=True)
class Beside:
    """A number shown in a claim's row that decides nothing; ``says`` names its folds, seed and selection."""

    says: str
    evaluator: str
    parameters: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """One checkable sentence of a paper, or one rule of ours.

    ``readings``: what the sentence can mean beside ``parameters``, which is then the reading :data:`OURS`.
    Name -> all parameters. A finding with readings holds if it holds by each of them.
    """

    id: str
    paper: str
    section: str
    statement: str
    kind: str
    published: Value
    published_source: str
    unit: str
    tolerance: Tolerance
    evaluator: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    scope: Scope = Scope()
    hardware_class: str = "any"
    required: bool = False
    figure: str = ""
    explanation: str = ""  #: why it deviates or fails, in a person's words
    implementation: str = ""  #: whose kernel or allocator the obtained value comes from
    readings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    beside: tuple[Beside, ...] = ()


def class_matches(wanted: str, machine: str) -> bool:
    """Does a machine of class ``machine`` decide a claim about class ``wanted``?"""
    if wanted in ("any", machine):
        return True
    if machine not in GENERATIONS:
        return False
    return wanted == ("intel-pmu" if classes()[machine].intel else "other-pmu")
