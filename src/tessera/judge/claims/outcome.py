"""The result of an evaluator: a value with its provenance, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from tessera.judge.claims.model import Value

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
    """

    value: Value
    provenance: str
    hardware_class: str = ""
    quantity: str = ""
    distribution: str = ""
    over_pairs: str = ""


class Missing(Exception):
    """An input of an evaluator is missing. ``reason`` names it; ``command`` creates it."""

    def __init__(self, reason: str, command: str = REPRODUCE):
        super().__init__(reason)
        self.reason = reason
        self.command = command

    def __str__(self) -> str:
        return f"{self.reason}{TO_MEASURE}{self.command}"
