"""What an event of perf samples, by the name that perf prints.

* TLB misses themselves: MEM_INST_RETIRED.STLB_MISS_LOADS and _STORES (MEM_UOPS_RETIRED before Skylake), event
  D0h, masks 11h and 12h.
* Accesses, of which those that missed must be found by ``data_src``: load latency and precise store (event
  CDh, masks 01h and 02h; perf's ``mem-loads``, ``mem-stores``), and AMD's ``ibs_op``.
* Page faults: the first touch of each 4KB page. They say nothing about TLB misses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MISSES, ACCESSES, FAULTS = "misses", "accesses", "faults"
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
}
_NAMES = (
    (re.compile(r"mem_(inst|uops)_retired[._]stlb_miss_loads"), Kind(MISSES, LOADS)),
    (re.compile(r"mem_(inst|uops)_retired[._]stlb_miss_stores"), Kind(MISSES, STORES)),
    (re.compile(r"mem-loads|mem_trans_retired\.load_latency(_gt_\d+)?"), Kind(ACCESSES, LOADS)),
    (re.compile(r"mem-stores|mem_trans_retired\.precise_store"), Kind(ACCESSES, STORES)),
    (re.compile(r"page-faults|faults|(minor|major)-faults"), Kind(FAULTS, BOTH)),
)
_PMU = re.compile(r"(?P<pmu>cpu|cpu_core|cpu_atom|ibs_op|software)/(?P<terms>[^/]*)/[a-zA-Z]*", re.ASCII)
_RAW = re.compile(r"r([0-9a-f]{1,16})", re.ASCII)
_NUMBER = re.compile(r"0x[0-9a-f]{1,16}|\d{1,9}", re.ASCII)
#: Terms that don't change what is counted.
_OTHER_TERMS = ("ldlat", "period", "freq", "name", "cnt_ctl", "swfilt", "l3missonly", "percore")


def kind_of(event: str) -> Kind | None:
    """The kind of an event; None for one that says nothing about data accesses."""
    name = re.sub(r":[a-zA-Z]*$", "", event)
    if match := _PMU.fullmatch(name):
        if match["pmu"] == "ibs_op":
            return Kind(ACCESSES, BOTH)
        return _of_terms(match["terms"].lower())
    return _of_word(name.lower())


def _of_word(name: str) -> Kind | None:
    for pattern, kind in _NAMES:
        if pattern.fullmatch(name):
            return kind
    if match := _RAW.fullmatch(name):
        return _CODES.get((int(match[1], 16) & 0xFF, int(match[1], 16) >> 8))
    return None


def _of_terms(text: str) -> Kind | None:
    """``event=0xd0,umask=0x11``, ``mem-loads,ldlat=30``, ``config=0x11d0``."""
    numbers = {}
    for term in text.split(","):
        key, _, value = term.partition("=")
        if key in ("event", "umask", "config") and _NUMBER.fullmatch(value):
            numbers[key] = int(value, 0) if value.startswith("0x") else int(value)
        elif not value and (kind := _of_word(key)):
            return kind
        elif key not in _OTHER_TERMS:
            return None
    config = numbers.get("config", 0)
    return _CODES.get((numbers.get("event", config & 0xFF), numbers.get("umask", config >> 8)))
