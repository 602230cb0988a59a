"""What to record on a class of processors, so that samples show where the TLB missed.

Sources: the rows ``sampling`` of the table of events. From Haswell on, records of STLB misses have a data
address. Up to IvyBridge they have none: load latency and precise store have one, and the misses give the
scale (:mod:`tessera.mosalloc.samples.weigh`). AMD samples operations (IBS), with the result of the TLB.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace

from tessera.counters.classes import CounterClass
from tessera.mosalloc.samples.line import FIELDS

#: What samples STLB misses in the table of events, loads and stores.
QUANTITIES = ("profile M loads", "profile M stores")
_ACCESSES = ("profile load latency", "profile stores")

#: Misses between samples; a prime, so that loops don't hide.
PERIOD = 997
#: Accesses between samples: a prime; most accesses hit, so a smaller one would only slow the program.
ACCESS_PERIOD = 20011
#: Operations between IBS samples: a prime times 16, as the kernel accepts only multiples of 16 (amd/ibs.c).
IBS_PERIOD = 16 * 6151


@dataclass(frozen=True)
class Plan:
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


def plan(found: CounterClass, pmu: str = "") -> Plan | None:
    """What to record; None if the class has nothing that shows TLB misses with addresses.

    Args:
        pmu: name of the cores' PMU on the machine (``cpu`` or ``cpu_atom`` for the same class); the table's
            if empty.
    """
    made = _of_class(found)
    if made is None or not pmu:
        return made
    return replace(made, events=tuple(re.sub(r"^cpu\w*/", f"{pmu}/", event) for event in made.events))


def _of_class(found: CounterClass) -> Plan | None:
    misses = tuple(e for quantity in QUANTITIES for e in found.of_quantity(quantity))
    addressed = tuple(event.perf_event for event in misses if event.data_address)
    if addressed:
        return Plan(addressed, PERIOD, FIELDS, "TLB misses")
    sources = f"{FIELDS},data_src"
    for event in found.events:
        if event.role == "sampling" and event.perf_event.startswith("ibs_op/"):
            return Plan((event.perf_event,), IBS_PERIOD, sources, "operations with TLB misses")
    accesses = tuple(e.perf_event for quantity in _ACCESSES for e in found.of_quantity(quantity))
    if not misses or not accesses:
        return None
    slower = tuple(re.sub(r"/(\w*)$", rf",period={ACCESS_PERIOD}/\1", event) for event in accesses)
    return Plan((*(e.perf_event for e in misses), *slower), PERIOD, sources, "accesses with TLB misses")
