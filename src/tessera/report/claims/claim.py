"""A claim of a paper: its published value, its tolerance, and the outcome of its evaluator.

Claims are read from ``config/claims.yaml`` (:mod:`tessera.report.claims.load`), never built by hand
outside tests. ``published`` holds the numbers already looked up in ``reference-results/``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import permutations

from tessera.core.errors import unknown_name
from tessera.core.results.loader import GENERATIONS
from tessera.machine.counters.event_table import counter_classes

#: One number, or named numbers that are judged together (all of them must hold).
Value = float | Mapping[str, float]

KINDS = ("arithmetic", "invariant", "finding")

OURS = "ours"  #: name of the first reading of a claim that has several: its evaluator's own parameters


@dataclass(frozen=True)
class Tolerance:
    """How far obtained may be from published; the rules stand above :data:`SCALAR_RULES`."""

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
    cause: str = ""  #: what the explanation names (:data:`tessera.report.verdicts.CAUSES`)
    implementation: str = ""  #: whose kernel or allocator the obtained value comes from
    readings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    beside: tuple[Beside, ...] = ()


def class_matches(wanted: str, machine: str) -> bool:
    """Does a machine of class ``machine`` decide a claim about class ``wanted``?"""
    if wanted in ("any", machine):
        return True
    if machine not in GENERATIONS:
        return False
    return wanted == ("intel-pmu" if counter_classes()[machine].intel else "other-pmu")


# Is an obtained value close enough to the published one? One function, six rules.
#
# ==========  ==========================================================================
# exact       equal
# absolute    within ``value`` units
# relative    within ``value`` times the published value
# at-most     not above published + ``value`` units
# at-least    not below published - ``value`` units
# ordering    named values, ordered as the published ones: where a is published above b, a is not
#             below b by more than the fraction ``value``; equal published values say nothing
# ==========  ==========================================================================
#
# Named values are judged one by one, and all must hold.

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
        return _ordering_holds(obtained, published, tolerance.value)
    rule = SCALAR_RULES[tolerance.rule]
    if isinstance(published, Mapping):
        if not isinstance(obtained, Mapping) or set(obtained) != set(published):
            raise ValueError(f"obtained {obtained} lacks the names of {dict(published)}")
        return all(rule(obtained[name], published[name], tolerance.value) for name in published)
    if isinstance(obtained, Mapping):
        raise ValueError(f"obtained {dict(obtained)} where one number was published")
    return rule(obtained, published, tolerance.value)


def _ordering_holds(obtained: Value, published: Value, slack: float) -> bool:
    if not isinstance(obtained, Mapping) or set(obtained) != set(published):
        raise ValueError(f"obtained {obtained} lacks the names of {published}")
    return all(
        obtained[high] >= obtained[low] * (1 - slack)
        for high, low in permutations(published, 2)
        if published[high] > published[low]
    )


def value_text(value: Value | None) -> str:
    """A value for tables and reasons: ``12.5``, or ``C=0.99 M=0.98``; empty for nothing."""
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return " ".join(f"{name}={number:.6g}" for name, number in value.items())
    return f"{value:.6g}"


# The result of an evaluator: a value with its provenance, or the reason why there is none.
#
# A claim whose sentence can be read in several ways has an outcome for each; :func:`join_readings` joins
# them.

REPRODUCE = "./run reproduce"
TO_MEASURE = "; to measure it: "  #: between the reason and the command in a reason of claims.csv
GUEST = "guest"  #: hardware class of a virtual machine with our kernel
PLACEMENT = "placement of page tables"  #: quantity that is the same in a guest and on a machine


@dataclass(frozen=True)
class Outcome:
    """An obtained value.

    ``provenance`` is ``published`` (computed from printed numbers or algebra), ``measured``, or
    ``simulated`` (as soon as one simulated number went into it).
    ``hardware_class`` is the class of the machine that measured; empty otherwise.
    ``quantity`` is what a guest counted; empty otherwise.
    ``distribution`` describes the values of which ``value`` is an extreme
    (:mod:`tessera.report.claims.selection`); empty if there is one value.
    ``over_pairs`` is the aggregate (``max``, ``median``, ...) if ``value`` is that of a number of each pair.
    ``protocol`` says with which folds, seed and selection a model was cross-validated; else empty.
    ``readings`` has the value of each reading, ``value`` is then that of the first; empty for one reading.
    """

    value: Value
    provenance: str
    hardware_class: str = ""
    quantity: str = ""
    distribution: str = ""
    over_pairs: str = ""
    protocol: str = ""
    readings: Mapping[str, Value] = field(default_factory=dict)

    def __str__(self) -> str:
        """The value as tables show it; with several readings ``ours=2.5 authors=1.4``."""
        return readings_text(self.readings) if self.readings else value_text(self.value)


def readings_text(readings: Mapping[str, Value]) -> str:
    """Values by reading: ``ours=2.5 authors=1.4``; of named values ``ours: a=1 b=2; authors: a=3 b=4``."""
    if any(isinstance(value, Mapping) for value in readings.values()):
        return "; ".join(f"{name}: {value_text(value)}" for name, value in readings.items())
    return value_text(readings)


def join_readings(readings: Mapping[str, Outcome]) -> Outcome:
    """One outcome of several readings, in their order.

    Raises:
        ValueError: their numbers come from different kinds of data (a mistake in the claims file).
    """
    first = next(iter(readings.values()))
    origin = {(one.provenance, one.hardware_class, one.quantity) for one in readings.values()}
    if len(origin) > 1:
        raise ValueError(f"readings of one claim have different origins: {sorted(origin)}")
    words = {
        key: "; ".join(f"{name}: {getattr(one, key)}" for name, one in readings.items() if getattr(one, key))
        for key in ("distribution", "protocol")
    }
    return replace(first, readings={name: one.value for name, one in readings.items()}, **words)


class Missing(Exception):
    """An input of an evaluator is missing. ``reason`` names it; ``command`` creates it."""

    def __init__(self, reason: str, command: str = REPRODUCE):
        super().__init__(reason)
        self.reason = reason
        self.command = command

    def __str__(self) -> str:
        return f"{self.reason}{TO_MEASURE}{self.command}"
