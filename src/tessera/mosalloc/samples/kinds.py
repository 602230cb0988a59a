"""What an event of perf samples, by the name that perf prints.

* TLB misses themselves: MEM_INST_RETIRED.STLB_MISS_LOADS and _STORES (MEM_UOPS_RETIRED before Skylake), event
  D0h, masks 11h and 12h.
* Accesses, of which those that missed must be found by ``data_src``: load latency and precise store (event
  CDh, masks 01h and 02h; perf's ``mem-loads``, ``mem-stores``), and AMD's ``ibs_op``.
* Page faults: the first touch of each 4KB page. They say nothing about TLB misses.
* ``mem-loads-aux`` (event 03h, mask 82h): since Golden Cove, load latency must be in a group with it. Its
  samples say nothing.

Hybrid processors have a PMU for each type of core, and perf prints it: ``cpu_core/mem-loads,ldlat=30/``. The
accesses of E-cores have codes of their own, event D0h, masks 05h and 06h (``perf mem record`` on Alder Lake).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MISSES, ACCESSES, FAULTS, NOTHING = "misses", "accesses", "faults", "nothing"
LOADS, STORES, BOTH = "loads", "stores", "loads and stores"


@dataclass(frozen=True)
class Kind:
    """What is sampled, and of which accesses."""

    what: str
    side: str


_CODES = {
    (0xD0, 0x11): Kind(MISSES, LOADS),
    (0xD0, 0x12): Kind(MISSES, STORES),
    (0xCD, 0x01): Kind(ACCESSES, LOADS),
    (0xCD, 0x02): Kind(ACCESSES, STORES),
    (0x03, 0x82): Kind(NOTHING, LOADS),
}
#: On E-cores only: P-cores have no event D0h with these masks.
_E_CORE_CODES = {(0xD0, 0x05): Kind(ACCESSES, LOADS), (0xD0, 0x06): Kind(ACCESSES, STORES)}
_P_CORE = "cpu_core"
_NAMES = (
    (re.compile(r"mem_(inst|uops)_retired[._]stlb_miss_loads"), Kind(MISSES, LOADS)),
    (re.compile(r"mem_(inst|uops)_retired[._]stlb_miss_stores"), Kind(MISSES, STORES)),
    (re.compile(r"mem-loads|mem_(trans|uops)_retired\.load_latency(_gt_\d+)?"), Kind(ACCESSES, LOADS)),
    (
        re.compile(
            r"mem-stores|mem_trans_retired\.(precise_store|store_sample)|mem_uops_retired\.store_latency"
        ),
        Kind(ACCESSES, STORES),
    ),
    (re.compile(r"mem-loads-aux"), Kind(NOTHING, LOADS)),
    (re.compile(r"page-faults|faults|(minor|major)-faults"), Kind(FAULTS, BOTH)),
)
_PMU = re.compile(
    r"(?P<pmu>cpu(?:_core|_atom|_lowpower)?|ibs_op|software)/(?P<terms>[^/]*)/[a-zA-Z]*", re.ASCII
)
_RAW = re.compile(r"r([0-9a-f]{1,16})", re.ASCII)
_NUMBER = re.compile(r"0x[0-9a-f]{1,16}|\d{1,9}", re.ASCII)
#: Terms that don't change what is counted.
_OTHER_TERMS = ("ldlat", "period", "freq", "name", "cnt_ctl", "swfilt", "l3missonly", "percore")


def core_of(event: str) -> str:
    """PMU of one type of cores of a hybrid processor, as perf printed it; empty if it printed none."""
    match = _PMU.match(event)
    return match["pmu"] if match and match["pmu"].startswith("cpu_") else ""


def kind_of(event: str) -> Kind | None:
    """The kind of an event; None for one that says nothing about data accesses."""
    name = re.sub(r":[a-zA-Z]*$", "", event)
    if match := _PMU.fullmatch(name):
        if match["pmu"] == "ibs_op":
            return Kind(ACCESSES, BOTH)
        return _of_terms(match["terms"].lower(), match["pmu"])
    return _of_word(name.lower())


def _of_code(code: tuple[int, int], pmu: str) -> Kind | None:
    found = _CODES.get(code)
    return found if found or pmu == _P_CORE else _E_CORE_CODES.get(code)


def _of_word(name: str, pmu: str = "") -> Kind | None:
    for pattern, kind in _NAMES:
        if pattern.fullmatch(name):
            return kind
    if match := _RAW.fullmatch(name):
        return _of_code((int(match[1], 16) & 0xFF, int(match[1], 16) >> 8), pmu)
    return None


def _of_terms(text: str, pmu: str) -> Kind | None:
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
