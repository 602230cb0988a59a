"""What an event of perf samples, and what to record on a class of processors to see where the TLB missed."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace

from tessera.machine.counters.event_table import CounterClass
from tessera.measure.suggest.perf_script import FIELDS

# What an event of perf samples, by the name that perf prints.
#
# * TLB misses themselves: MEM_INST_RETIRED.STLB_MISS_LOADS and _STORES (MEM_UOPS_RETIRED before Skylake),
#   event D0h, masks 11h and 12h.
# * Accesses, of which those that missed must be found by ``data_src``: load latency and precise store (event
#   CDh, masks 01h and 02h; perf's ``mem-loads``, ``mem-stores``), and AMD's ``ibs_op``.
# * Page faults: the first touch of each 4KB page. They say nothing about TLB misses.
# * ``mem-loads-aux`` (event 03h, mask 82h): since Golden Cove, load latency must be in a group with it. Its
#   samples say nothing.
#
# Hybrid processors have a PMU for each type of core, and perf prints it: ``cpu_core/mem-loads,ldlat=30/``.
# The accesses of E-cores have codes of their own, event D0h, masks 05h and 06h (``perf mem record`` on Alder
# Lake).

MISSES, ACCESSES, FAULTS, NOTHING = "misses", "accesses", "faults", "nothing"
LOADS, STORES, BOTH = "loads", "stores", "loads and stores"


@dataclass(frozen=True)
class EventKind:
    """What is sampled, and of which accesses."""

    what: str
    side: str


_CODES = {
    (0xD0, 0x11): EventKind(MISSES, LOADS),
    (0xD0, 0x12): EventKind(MISSES, STORES),
    (0xCD, 0x01): EventKind(ACCESSES, LOADS),
    (0xCD, 0x02): EventKind(ACCESSES, STORES),
    (0x03, 0x82): EventKind(NOTHING, LOADS),
}
#: On E-cores only: P-cores have no event D0h with these masks.
_E_CORE_CODES = {(0xD0, 0x05): EventKind(ACCESSES, LOADS), (0xD0, 0x06): EventKind(ACCESSES, STORES)}
_P_CORE = "cpu_core"
_NAMES = (
    (re.compile(r"mem_(inst|uops)_retired[._]stlb_miss_loads"), EventKind(MISSES, LOADS)),
    (re.compile(r"mem_(inst|uops)_retired[._]stlb_miss_stores"), EventKind(MISSES, STORES)),
    (re.compile(r"mem-loads|mem_(trans|uops)_retired\.load_latency(_gt_\d+)?"), EventKind(ACCESSES, LOADS)),
    (
        re.compile(
            r"mem-stores|mem_trans_retired\.(precise_store|store_sample)|mem_uops_retired\.store_latency"
        ),
        EventKind(ACCESSES, STORES),
    ),
    (re.compile(r"mem-loads-aux"), EventKind(NOTHING, LOADS)),
    (re.compile(r"page-faults|faults|(minor|major)-faults"), EventKind(FAULTS, BOTH)),
)
_PMU = re.compile(
    r"(?P<pmu>cpu(?:_core|_atom|_lowpower)?|ibs_op|software)/(?P<terms>[^/]*)/[a-zA-Z]*", re.ASCII
)
_RAW = re.compile(r"r([0-9a-f]{1,16})", re.ASCII)
_NUMBER = re.compile(r"0x[0-9a-f]{1,16}|\d{1,9}", re.ASCII)
#: Terms that don't change what is counted.
_OTHER_TERMS = ("ldlat", "period", "freq", "name", "cnt_ctl", "swfilt", "l3missonly", "percore")


def event_core(event: str) -> str:
    """PMU of one type of cores of a hybrid processor, as perf printed it; empty if it printed none."""
    match = _PMU.match(event)
    return match["pmu"] if match and match["pmu"].startswith("cpu_") else ""


def event_kind(event: str) -> EventKind | None:
    """The kind of an event; None for one that says nothing about data accesses."""
    name = re.sub(r":[a-zA-Z]*$", "", event)
    if match := _PMU.fullmatch(name):
        if match["pmu"] == "ibs_op":
            return EventKind(ACCESSES, BOTH)
        return _of_terms(match["terms"].lower(), match["pmu"])
    return _of_word(name.lower())


def _of_code(code: tuple[int, int], pmu: str) -> EventKind | None:
    found = _CODES.get(code)
    return found if found or pmu == _P_CORE else _E_CORE_CODES.get(code)


def _of_word(name: str, pmu: str = "") -> EventKind | None:
    for pattern, kind in _NAMES:
        if pattern.fullmatch(name):
            return kind
    if match := _RAW.fullmatch(name):
        return _of_code((int(match[1], 16) & 0xFF, int(match[1], 16) >> 8), pmu)
    return None


def _of_terms(text: str, pmu: str) -> EventKind | None:
    """``event=0xd0,umask=0x11``, ``mem-loads,ldlat=30``, ``config=0x11d0``."""
    numbers = {}
    for term in text.split(","):
        key, _, value = term.partition("=")
        if key in ("event", "umask", "config") and _NUMBER.fullmatch(value):
            numbers[key] = int(value, 0) if value.startswith("0x") else int(value)
        elif not value and (kind := _of_word(key, pmu)):
            return kind
        elif key not in _OTHER_TERMS:
            return None
    config = numbers.get("config", 0)
    return _of_code((numbers.get("event", config & 0xFF), numbers.get("umask", config >> 8)), pmu)


# What to record on a class of processors, so that samples show where the TLB missed.
#
# Sources: the rows ``sampling`` of the table of events. From Haswell on, records of STLB misses have a data
# address. Up to IvyBridge they have none: load latency and precise store have one, and the misses give the
# scale (:mod:`tessera.measure.suggest.sample_weights`). AMD samples operations (IBS), with the result of the
# TLB.

#: What samples STLB misses in the table of events, loads and stores.
QUANTITIES = ("profile M loads", "profile M stores")
_ACCESSES = ("profile load latency", "profile stores")

#: Misses between samples; a prime, so that loops don't hide.
MISS_PERIOD = 997
#: Accesses between samples: a prime; most accesses hit, so a smaller one would only slow the program.
ACCESS_PERIOD = 20011
#: Operations between IBS samples: a prime times 16, as the kernel accepts only multiples of 16 (amd/ibs.c).
IBS_PERIOD = 16 * 6151


@dataclass(frozen=True)
class SamplingPlan:
    """Words for ``perf record`` and fields for ``perf script``.

    Attributes:
        events: for ``-e``, one each.
        period: for ``-c``; an event with ``period=`` in its name has its own.
        fields: for ``-F``.
        what: what is sampled, for people.
    """

    events: tuple[str, ...]
    period: int
    fields: str
    what: str

    def record(self, data: str) -> list[str]:
        """argv of ``perf record`` up to the program."""
        words = [word for event in self.events for word in ("-e", event)]
        return ["perf", "record", "-q", "-d", "-c", str(self.period), *words, "-o", data, "--"]

    def script(self, data: str) -> list[str]:
        """argv of ``perf script``."""
        return ["perf", "script", "-i", data, "-F", self.fields]

    def shown(self) -> str:
        """The first command, as a reader types it."""
        return shlex.join([word for word in self.record("perf.data") if word != "-q"])


def sampling_plan(found: CounterClass, pmu: str = "") -> SamplingPlan | None:
    """What to record; None if the class has nothing that shows TLB misses with addresses.

    Args:
        pmu: name of the cores' PMU on the machine (``cpu`` or ``cpu_atom`` for the same class); the table's
            if empty.
    """
    made = _of_class(found)
    if made is None or not pmu:
        return made
    return replace(made, events=tuple(re.sub(r"^cpu\w*/", f"{pmu}/", event) for event in made.events))


def _of_class(found: CounterClass) -> SamplingPlan | None:
    misses = tuple(e for quantity in QUANTITIES for e in found.of_quantity(quantity))
    addressed = tuple(event.perf_event for event in misses if event.data_address)
    if addressed:
        return SamplingPlan(addressed, MISS_PERIOD, FIELDS, "TLB misses")
    sources = f"{FIELDS},data_src"
    for event in found.events:
        if event.role == "sampling" and event.perf_event.startswith("ibs_op/"):
            return SamplingPlan((event.perf_event,), IBS_PERIOD, sources, "operations with TLB misses")
    accesses = tuple(e.perf_event for quantity in _ACCESSES for e in found.of_quantity(quantity))
    if not misses or not accesses:
        return None
    slower = tuple(re.sub(r"/(\w*)$", rf",period={ACCESS_PERIOD}/\1", event) for event in accesses)
    return SamplingPlan(
        (*(e.perf_event for e in misses), *slower), MISS_PERIOD, sources, "accesses with TLB misses"
    )
