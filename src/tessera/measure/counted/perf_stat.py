"""The second back end for counts: ``perf stat`` around the launcher, where only perf may open events."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.machine.counters.event import GENERIC
from tessera.machine.perf.log import read_log
from tessera.machine.perf.row import NOT_SUPPORTED, PerfCount
from tessera.measure.bundles.bundle import CountedEvent

# The counts of one run, as a back end gives them.


@dataclass(frozen=True)
class RunCounts:
    """``events``: (event, value, enabled_ns, running_ns); ``region_ns``: the clock of the region."""

    events: tuple[tuple[str, int, int, int], ...] = ()
    region_ns: int = 0


# perf counts everything that it starts: the launcher and the program, from start to end. So the region is
# ``whole``. perf's ``-D -1 --control fd:C,A`` could switch the counters at the markers of a region, but our
# hook switches descriptors of the launcher and knows no such pipe. perf's count of a run is accepted only if
# it was on its counter all the time: perf scales other counts, and they are estimates.
#
# Source: man perf-stat, "CSV FORMAT"; seen with perf 6.1.

PERF = "perf"
CLOCK = "duration_time"  #: perf's clock from start to end, in ns (perf 5.2 or later)
TASK_CLOCK = "task-clock"
RESOLUTION_NS = 10_000  #: perf prints 0.01 ms of task-clock
PACKAGE = "linux-perf"
_NAMES = {(kind, config): name for kind, config, name in GENERIC.values()}
_MODIFIERS = re.compile(r"(?::|(?<=/))[A-Za-z]+$")
_NS = {"": 1, "ns": 1, "usec": 10**3, "msec": 10**6}
_PMU_SHIFT = 32  #: hybrid: bits 63:32 of a generic event's config are the type of the PMU


def perf_terms(events: Sequence[CountedEvent], pmu: str) -> tuple[str, ...]:
    """Words for perf's ``-e``: hardware events in one group, so that all or none are counted; then the rest.

    Args:
        pmu: name of the PMU in sysfs, such as ``cpu`` or ``cpu_core``.
    """
    software = [_perf_term(event, pmu) for event in events if event.type == 1]
    hardware = [_perf_term(event, pmu) for event in events if event.type != 1]
    group = [f"{{{','.join(hardware)}}}"] if hardware else []
    return (*group, *software, CLOCK)


def _perf_term(event: CountedEvent, pmu: str) -> str:
    low = event.config & ((1 << _PMU_SHIFT) - 1)
    if name := _NAMES.get((event.type, low)):
        return f"{pmu}/{name}/{event.modifiers}" if event.config != low else f"{name}:{event.modifiers}"
    words = [f"config={event.config:#x}"]
    words += [f"{key}={value:#x}" for key in ("config1", "config2") if (value := getattr(event, key))]
    return f"{pmu}/{','.join(words)},name={event.name}/{event.modifiers}"


def shown_names(events: Sequence[CountedEvent]) -> dict[str, str]:
    """Our name of an event -> how perf names it, without modifiers, in the order of :func:`perf_terms`."""
    ordered = [event for event in events if event.type != 1] + [event for event in events if event.type == 1]
    return {one.name: _NAMES.get((one.type, one.config & 0xFFFF_FFFF), one.name) for one in ordered}


def perf_command(words: Sequence[str], log: Path) -> list[str]:
    """What stands before the launcher. LC_ALL, because perf writes decimal commas in some languages."""
    asked = [word for one in words for word in ("-e", one)]
    return ["env", "LC_ALL=C", PERF, "stat", "-x", ";", "-o", str(log), *asked, "--"]


def read_perf_counts(log: Path, names: dict[str, str], order: Sequence[str]) -> RunCounts:
    """The counts of one run.

    Args:
        names: as :func:`shown_names`.
        order: our names, in the order of the result.

    Raises:
        TesseraError: an event was not counted, or only for a part of the time; perf wrote other events; or it
            read its clock late (it does so after the program's start, and a busy machine delays it).
    """
    rows = read_log(log)
    found = [_plain(row.event) for row in rows]
    wanted = [*names.values(), CLOCK]
    if [one.rpartition("/")[2] for one in found] != wanted:
        raise _wrong(f"its events are {', '.join(found)}; asked were {', '.join(wanted)}")
    for row in rows:
        _require_whole(row)
    by_name = dict(zip([*names, CLOCK], rows, strict=True))
    busy, clock = by_name.get(TASK_CLOCK), _value(by_name[CLOCK])
    if busy and _value(busy) > clock + RESOLUTION_NS:
        raise _wrong(
            f"{TASK_CLOCK} is {_value(busy)} ns, and {CLOCK} is {clock} ns: perf read its clock too late",
            "measure on an idle machine, or a longer run",
        )
    events = tuple((name, _value(by_name[name]), *[by_name[name].running_ns] * 2) for name in order)
    return RunCounts(events, clock)


def _plain(event: str) -> str:
    """``cpu_core/cycles/u`` and ``cycles:u`` without modifiers, PMU and slashes: ``cycles``."""
    return _MODIFIERS.sub("", event).rstrip("/").rpartition("/")[2]


def _require_whole(row: PerfCount) -> None:
    if row.missing:
        words = "<not supported>" if row.missing == NOT_SUPPORTED else "<not counted>"
        raise _wrong(
            f"{row.event} is {words}",
            "tessera measure counters check says which events this machine counts; a group that does not fit "
            "on the counters has no counts at all",
        )
    if row.percent != 100:
        raise _wrong(
            f"{row.event} was on a counter for {row.percent}% of the time, and perf scaled it: an estimate",
            "stop other programs that count, and set kernel.nmi_watchdog=0",
        )


def _value(row: PerfCount) -> int:
    if row.unit not in _NS:
        raise _wrong(f"{row.event} has the unit {row.unit}")
    value = row.value * _NS[row.unit]
    if value != value.to_integral_value():
        raise _wrong(f"{row.event} is {Decimal(value)}: no whole number")
    return int(value)


def _wrong(found: str, remedy: str = "use perf 6.1, or --counter launcher") -> TesseraError:
    return TesseraError("counts of perf stat", found, remedy, exit_code=EXIT_FAILED, code="perf-counts")
