"""Which processors a row is for: vendor, family, model and stepping as CPUID and /proc/cpuinfo give them.

Forms in the table: ``06_4F 06_56``, ``06_55 stepping 0-4``, ``AuthenticAMD family 19h models 00-0F 20-2F``,
``AuthenticAMD family 19h other models``, ``any``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

INTEL, AMD = "GenuineIntel", "AuthenticAMD"

#: Models of family 1Ah that are Zen 5; the others are Zen 6 (Linux 6.12.117, arch/x86/kernel/cpu/amd.c).
ZEN5_MODELS = frozenset([*range(0x30), *range(0x40, 0x50), *range(0x60, 0x80), *range(0xD0, 0xD8)])
_EXCEPT_ZEN6 = "(models of Zen 6 excepted: see the kernel)"


@dataclass(frozen=True)
class Cpu:
    """A processor; all numbers as CPUID gives them (family and model with their extended parts)."""

    vendor: str
    family: int
    model: int
    stepping: int = 0

    @classmethod
    def from_cpuinfo(cls, facts: Mapping[str, str]) -> Cpu | None:
        """From keys of /proc/cpuinfo; None if they are missing or not numbers."""
        try:
            numbers = (int(facts[key]) for key in ("cpu family", "model", "stepping"))
            return cls(facts["vendor_id"], *numbers)
        except (KeyError, ValueError):
            return None

    def cell(self) -> str:
        """``cpuid`` of a row for this processor, all its steppings; empty if the table has no form for it."""
        if (self.vendor, self.family) == (INTEL, 6):
            return f"06_{self.model:02X}"
        return f"{AMD} family {self.family:X}h models {self.model:02X}-{self.model:02X}" * (
            self.vendor == AMD
        )

    def __str__(self) -> str:
        if self.vendor == INTEL:
            return f"{self.family:02X}_{self.model:02X} stepping {self.stepping:X}"
        return f"{self.vendor} family {self.family:X}h model {self.model:02X} stepping {self.stepping:X}"


@dataclass(frozen=True)
class Rule:
    """Processors of one family. ``models`` None: those that no other rule of the family names."""

    vendor: str
    family: int
    models: frozenset[int] | None
    steppings: frozenset[int] | None = None

    def names(self, cpu: Cpu) -> bool:
        """Whether the rule names this processor itself (:attr:`models` is not None)."""
        return (
            (cpu.vendor, cpu.family) == (self.vendor, self.family)
            and self.models is not None
            and cpu.model in self.models
            and (self.steppings is None or cpu.stepping in self.steppings)
        )

    def takes_the_rest(self, cpu: Cpu) -> bool:
        return self.models is None and (cpu.vendor, cpu.family) == (self.vendor, self.family)


def rules(text: str) -> tuple[Rule, ...]:
    """The rules of a ``cpuid`` cell; () for ``any``.

    Raises:
        ValueError: the text has another form.
    """
    if text == "any":
        return ()
    if text.startswith(AMD):
        return (_amd(text),)
    if not re.fullmatch(r"06_[0-9A-F]{2}( 06_[0-9A-F]{2}| stepping [0-9A-F]-[0-9A-F])*", text):
        raise ValueError(f"cpuid '{text}'")
    found = []
    for model, first, last in re.findall(r"06_(\w\w)(?: stepping (\w)-(\w))?", text):
        steppings = frozenset(range(int(first, 16), int(last, 16) + 1)) if first else None
        found.append(Rule(INTEL, 6, frozenset({int(model, 16)}), steppings))
    return tuple(found)


def _amd(text: str) -> Rule:
    match = re.fullmatch(rf"{AMD} family (\w+)h (.*)", text)
    if match is None:
        raise ValueError(f"cpuid '{text}'")
    family, which = int(match[1], 16), match[2]
    if which == "other models":
        return Rule(AMD, family, None)
    if which == _EXCEPT_ZEN6:
        return Rule(AMD, family, ZEN5_MODELS)
    if not re.fullmatch(r"models [0-9A-F]{2}-[0-9A-F]{2}( [0-9A-F]{2}-[0-9A-F]{2})*", which):
        raise ValueError(f"cpuid '{text}'")
    spans = re.findall(r"(\w\w)-(\w\w)", which)
    return Rule(AMD, family, frozenset(m for a, b in spans for m in range(int(a, 16), int(b, 16) + 1)))
