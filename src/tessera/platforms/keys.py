"""The simulator's parameters as Python knows them: key, unit, bounds and sentence of each.

``keys.csv`` is what ``tessera-sim keys`` prints, kept so that a platform can be checked without a built
simulator; tests/platforms/test_keys.py compares it with the C++ table. Rules between keys live in the
simulator only (``tessera-sim check``).
"""

from __future__ import annotations

import csv
import functools
import re
from dataclasses import dataclass
from pathlib import Path

WORD = re.compile(r"[A-Za-z0-9_-]{1,64}")  #: as in the simulator's base/platform_rules.cpp


@dataclass(frozen=True)
class Key:
    """One row of ``tessera-sim keys``; ``unit`` "name" means that the value is a component's name."""

    key: str
    unit: str
    least: int
    most: int
    description: str

    def rule_broken_by(self, value: object) -> str | None:
        """What is wrong with ``value``, or None."""
        if self.unit == "name":
            if isinstance(value, str) and WORD.fullmatch(value):
                return None
            return f"{shown(value)} is not a name of 1 to 64 letters, digits, - and _"
        rule = f"a whole number of {self.unit} from {self.least} to {self.most}"
        if type(value) is not int:  # bool is an int to isinstance
            return f"{shown(value)} is {_kind(value)}, not {rule}"
        if not self.least <= value <= self.most:
            return f"{value} is not {rule}"
        return None


@functools.cache
def all_keys() -> dict[str, Key]:
    """Every key by its dotted name, in the simulator's order."""
    with Path(__file__).with_name("keys.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        r["key"]: Key(r["key"], r["unit"], int(r["least"]), int(r["most"]), r["description"]) for r in rows
    }


def shown(value: object) -> str:
    """A value in a message: quoted, and never longer than a line."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _kind(value: object) -> str:
    names = {bool: "a boolean", str: "text", float: "a fraction", type(None): "nothing", list: "a list"}
    return names.get(type(value), f"a {type(value).__name__}")
