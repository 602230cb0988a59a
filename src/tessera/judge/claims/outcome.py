"""The result of an evaluator: a value with its provenance, or the reason why there is none.

A claim whose sentence can be read in several ways has an outcome for each; :func:`together` joins them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tessera.judge.claims.model import Value
from tessera.judge.claims.tolerance import text

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
    (:mod:`tessera.judge.claims.distribution`); empty if there is one value.
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
        return said(self.readings) if self.readings else text(self.value)


def said(readings: Mapping[str, Value]) -> str:
    """Values by reading: ``ours=2.5 authors=1.4``; of named values ``ours: a=1 b=2; authors: a=3 b=4``."""
    if any(isinstance(value, Mapping) for value in readings.values()):
        return "; ".join(f"{name}: {text(value)}" for name, value in readings.items())
    return text(readings)


def together(readings: Mapping[str, Outcome]) -> Outcome:
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
