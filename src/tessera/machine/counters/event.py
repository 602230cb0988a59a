"""One event of the counters, and which processors it is for: a row of ``pmu-events.csv``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

# Which processors a row is for: vendor, family, model and stepping as CPUID and /proc/cpuinfo give them.
#
# Forms in the table: ``06_4F 06_56``, ``06_55 stepping 0-4``, ``AuthenticAMD family 19h models 00-0F
# 20-2F``, ``AuthenticAMD family 19h other models``, ``any``.

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
class ProcessorRange:
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


def cpu_rules(text: str) -> tuple[ProcessorRange, ...]:
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
        found.append(ProcessorRange(INTEL, 6, frozenset({int(model, 16)}), steppings))
    return tuple(found)


def _amd(text: str) -> ProcessorRange:
    match = re.fullmatch(rf"{AMD} family (\w+)h (.*)", text)
    if match is None:
        raise ValueError(f"cpuid '{text}'")
    family, which = int(match[1], 16), match[2]
    if which == "other models":
        return ProcessorRange(AMD, family, None)
    if which == _EXCEPT_ZEN6:
        return ProcessorRange(AMD, family, ZEN5_MODELS)
    if not re.fullmatch(r"models [0-9A-F]{2}-[0-9A-F]{2}( [0-9A-F]{2}-[0-9A-F]{2})*", which):
        raise ValueError(f"cpuid '{text}'")
    spans = re.findall(r"(\w\w)-(\w\w)", which)
    return ProcessorRange(
        AMD, family, frozenset(m for a, b in spans for m in range(int(a, 16), int(b, 16) + 1))
    )


# One event of one class of processors.
#
# The table lists events of intel/perfmon and of Linux (``source``), sums of unit masks that no source names
# (``constructed``), and what a class does not count (``absent``).

#: Where a row's numbers come from.
STATUSES = {
    "source": "the named source has it",
    "constructed": "own sum of unit masks or own counter mask; no source names it",
    "verify": "not read in the source of this class: check it on the machine",
    "experimental": "named by public lists only, some fields unknown: no pass contains it",
    "absent": "the class does not count this",
    "rehearsal": "for tests without a PMU: never in a cell",
}
ROLES = (
    "all", "loads", "stores", "any", "by-size", "walker", "caches", "code", "optional", "guest", "sampling",
    "none", "tests",
)  # fmt: skip

#: Events that the kernel names by itself: (type, config) of perf_event_attr, and the name in perf.
GENERIC = {
    "PERF_COUNT_HW_CPU_CYCLES": (0, 0, "cycles"),
    "PERF_COUNT_HW_INSTRUCTIONS": (0, 1, "instructions"),
    "PERF_COUNT_HW_REF_CPU_CYCLES": (0, 9, "ref-cycles"),
    "PERF_COUNT_SW_TASK_CLOCK": (1, 1, "task-clock"),
    "PERF_COUNT_SW_PAGE_FAULTS": (1, 2, "page-faults"),
    "PERF_COUNT_SW_CONTEXT_SWITCHES": (1, 3, "context-switches"),
    "PERF_COUNT_SW_CPU_MIGRATIONS": (1, 4, "cpu-migrations"),
}
#: A count may miss this time (ns), or this share of the time that it was enabled, because members of a group
#: start one after the other. Only what exceeds both is wrong.
LATE_NS, LATE_SHARE = 10_000, 0.001
TYPE_RAW = 4  #: perf_event_attr.type of the PMU ``cpu``
_PMU_TYPE_SHIFT = 32  #: hybrid: bits 63:32 of a generic event's config hold the type of the PMU


@dataclass(frozen=True)
class Event:
    """A row. Counters are names: ``0`` to ``9`` general, ``F0`` to ``F2`` fixed, ``L3:0`` of the L3 PMU.

    ``name`` is the source's name, ``quantity`` ours (``H loads``). ``walkers`` and ``general`` (general
    counters of a logical processor with SMT on and off) are facts of the class, None where unknown.
    """

    class_name: str
    variant: str
    cpuid: str
    pmus: tuple[str, ...]
    walkers: int | None
    general: tuple[int, int] | None
    quantity: str
    role: str
    name: str
    code: int | None
    umask: int | None
    cmask: int
    inv: int
    edge: int
    any_thread: int
    msr: str
    counters_smt_on: frozenset[str]
    counters_smt_off: frozenset[str]
    precise: str
    data_address: bool
    perf_event: str
    status: str
    caveat: str
    source: str

    @property
    def usable(self) -> bool:
        """Whether a pass may contain it: it exists, its code is known, and it counts per program."""
        core = any(pmu.startswith("cpu") for pmu in self.pmus)
        known = self.status in ("source", "constructed", "verify") and self.code is not None
        return core and known and bool(self.counters_smt_on)

    def counters(self, smt: bool) -> frozenset[str]:
        """Counters that can count it, with SMT on or off."""
        return self.counters_smt_on if smt else self.counters_smt_off

    @property
    def config(self) -> int:
        """The raw code of perf (``rNNN``); AMD's event bits 11:8 are bits 35:32 (Linux, amd/core.c).

        Raises:
            ValueError: the row has no code.
        """
        if self.code is None or self.umask is None:
            raise ValueError(f"{self.class_name}: {self.name} has no code")
        bits = self.edge << 18 | self.any_thread << 21 | self.inv << 23 | self.cmask << 24
        return (self.code & 0xFF) | self.umask << 8 | bits | (self.code >> 8) << 32

    def attribute(self, pmu_type: int = TYPE_RAW) -> tuple[int, int]:
        """(type, config) of perf_event_attr.

        Args:
            pmu_type: number of the PMU in sysfs; other than 4 on hybrid machines.
        """
        if self.perf_event in GENERIC:
            kind, config, _ = GENERIC[self.perf_event]
            hybrid = kind == 0 and pmu_type != TYPE_RAW
            return kind, config | pmu_type << _PMU_TYPE_SHIFT if hybrid else config
        return pmu_type, self.config

    def alias(self, mode: str = "") -> str:
        """Our name of it in perf's ``name=``: ``H_loads_u`` for ``H loads`` counted in user mode."""
        words = re.sub(r"[^A-Za-z0-9]+", "_", self.quantity).strip("_")
        return f"{words}_{mode}" if mode else words

    def term(self, mode: str, pmu: str = "") -> str:
        """The event for ``perf stat -e``, with our name. ``mode`` is ``u`` or ``uk``.

        Args:
            pmu: one of ``pmus``; the first if empty.
        """
        pmu = pmu or self.pmus[0]
        if self.perf_event in GENERIC:
            name = GENERIC[self.perf_event][2]
            return f"{name}:{mode}" if pmu in ("cpu", "software") else f"{pmu}/{name}/{mode}"
        inside = self.perf_event.split("/")[1]
        return f"{pmu}/{inside},name={self.alias(mode)}/{mode}"
