"""The counts of one log of ``perf stat``, checked to be those of one program in one mode."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.machine.counters.event import LATE_NS, LATE_SHARE
from tessera.machine.counters.event_table import CounterClass
from tessera.machine.counters.passes import MODES
from tessera.machine.perf.event_names import Named, resolve
from tessera.machine.perf.log import read_log
from tessera.machine.perf.row import NOT_COUNTED, NOT_SUPPORTED, PerfCount

# The counts of one log, after the checks that make them counts of one program.
#
# perf scales a count of an event that shared its counter with others; such a count is an estimate, and it is
# rejected. A few microseconds of difference are normal: members of a group start one after the other.

LARGEST_COUNT = 2**53
LARGEST_RATE = 10  #: of R, in cycles for each ns on a counter


@dataclass(frozen=True)
class Total:
    """One event of a log, added up over intervals (and parts, if asked).

    ``percent`` is the smallest of its rows, ``spread_percent`` the largest (of ``perf stat -r``).
    ``running_ns`` is None for the table for people, which does not have it.
    """

    path: Path
    text: str
    named: Named
    value: Decimal
    running_ns: int | None
    percent: Decimal
    spread_percent: Decimal | None = None

    @property
    def quantity(self) -> str:
        return self.named.event.quantity

    @property
    def software(self) -> bool:
        return self.named.software

    @property
    def where(self) -> str:
        """The event and its log, for messages."""
        return f"{self.text} in {self.path.name}"


def totals_of(
    path: Path, found: CounterClass, *, ignore: Collection[str] = (), sum_parts: bool = False
) -> list[Total]:
    """Totals of a log, in its order. Intervals in which the program did not run at all count as zero.

    Args:
        ignore: events, as perf wrote them, to leave out.
        sum_parts: add up CPUs, sockets or threads (``-A``, ``--per-socket``, ``--per-thread``).

    Raises:
        TesseraError: an event is unknown to the class, was not counted, is there twice, or shared its
            counter; counts of both types of cores, or of a control group; counts of CPUs without
            ``sum_parts``, or of other CPUs for one event than for another;
            as :func:`tessera.machine.perf.log.read_log`.
    """
    rows: dict[str, list[PerfCount]] = {}
    places: dict[tuple, PerfCount] = {}
    names: dict[str, Named | None] = {}
    log = [row for row in read_log(path) if row.event not in ignore]
    idle = _idle(log)
    for row in log:
        if row.event not in names:
            names[row.event] = _resolved(path, row, found)
        named = names[row.event]
        if named is None or (named.software and row.missing):
            continue
        _check_part(path, row, sum_parts)
        if row.missing == NOT_COUNTED and (row.seconds, row.part) in idle:
            rows.setdefault(row.event, [])
            continue
        _check(path, row, named)
        if (other := places.setdefault((row.seconds, *row.key), row)) is not row:
            raise _twice(path, row, other)
        rows.setdefault(row.event, []).append(row)
    if not rows:
        raise TesseraError(f"log {path}", "it has no event of the class", _LIST.format(found.name))
    for event, group in rows.items():
        if not group:
            first = next(row for row in log if row.event == event)
            raise _not_counted(f"log {path} line {first.line}: {event}")
    _require_same_parts(path, rows)
    return [_total(path, names[event], group) for event, group in rows.items()]


def _idle(rows: Collection[PerfCount]) -> set[tuple]:
    """(seconds, part) in which perf counted no event at all: the program did not run there."""
    found, counted = set(), set()
    for row in rows:
        place = row.seconds, row.part
        (found if row.missing else counted).add(place)
    return found - counted if counted else set()


def _require_same_parts(path: Path, rows: dict[str, list[PerfCount]]) -> None:
    """Refuse a log in which a CPU, or another part, has one event but not the other."""
    parts = {event: {row.part for row in group} for event, group in rows.items()}
    widest = max(parts, key=lambda event: len(parts[event]))
    for event, group in rows.items():
        if lacking := sorted(parts[widest] - parts[event]):
            raise TesseraError(
                f"log {path} line {group[-1].line}: {event}",
                f"it has no row of {lacking[0]}, and {widest} has one: the log is cut or damaged"
                " (or of --per-thread -a, which leaves out threads without a count)",
                "record again",
                code="measure-parts-differ",
            )


def _twice(path: Path, row: PerfCount, other: PerfCount) -> TesseraError:
    return TesseraError(
        f"log {path} line {row.line}: {row.event}",
        f"line {other.line} has it, too ({other.value}; here {row.value}): two runs, or asked twice",
        "keep one run in each file, and ask each event once",
        code="measure-counted-twice",
    )


_LIST = "tessera measure counters show {} prints the commands to record"


def _resolved(path: Path, row: PerfCount, found: CounterClass) -> Named | None:
    """The event; None for one of another type of core that did not run."""
    try:
        return resolve(row.event, found)
    except TesseraError as error:
        if error.code == "event-other-core" and not row.value:
            return None
        raise TesseraError(
            f"log {path} line {row.line}: {error.asked}", error.found, error.remedy, code=error.code
        ) from error


def _check_part(path: Path, row: PerfCount, sum_parts: bool) -> None:
    asked = f"log {path} line {row.line}: {row.event}"
    if row.cgroup:
        raise TesseraError(
            asked,
            f"it counts the control group {row.cgroup}, with every program in it; groups contain others",
            "record the program alone: perf stat without -a, -G and --for-each-cgroup",
            code="measure-cgroup",
        )
    if row.part and not sum_parts:
        raise TesseraError(
            asked,
            f"it counts {row.part}, with every program on it",
            "record the program alone: perf stat without -a, -A and --per-...; or add up: --sum-parts",
            code="measure-parts",
        )


def _not_counted(asked: str) -> TesseraError:
    return TesseraError(
        asked,
        "its group was never on the counters: one member that does not fit empties all of it",
        "record each pass of `tessera measure counters show CLASS` alone, with SMT and watchdog as they are",
        exit_code=EXIT_FAILED,
        code="measure-not-counted",
    )


def _check(path: Path, row: PerfCount, named: Named) -> None:
    asked = f"log {path} line {row.line}: {row.event}"
    if named.software:
        return
    if row.missing == NOT_SUPPORTED:
        raise TesseraError(
            asked,
            "perf wrote <not supported>: this machine can't count it",
            f"check the class with `tessera doctor` on that machine; or --ignore '{row.event}'",
            exit_code=EXIT_FAILED,
            code="measure-not-supported",
        )
    if row.missing or row.running_ns == 0:
        raise _not_counted(asked)
    if row.percent > 100 or row.percent == 0:
        raise TesseraError(asked, f"percent {row.percent}", "record again", code="perf-row")
    share = 100 - row.percent
    lost_ns = None if row.running_ns is None else row.running_ns * share / row.percent
    if share > 100 * Decimal(str(LATE_SHARE)) and (lost_ns is None or lost_ns > LATE_NS):
        raise TesseraError(
            asked,
            f"it was counted in {row.percent}% of the time, and perf scaled it: an estimate, not a count",
            "record the passes of `tessera measure counters show CLASS` one by one",
            exit_code=EXIT_FAILED,
            code="measure-multiplexed",
        )
    if row.value >= LARGEST_COUNT:
        raise TesseraError(asked, f"{row.value} is not below 2^53", "record a shorter run")
    if named.event.quantity == "R cycles" and row.running_ns and row.value > LARGEST_RATE * row.running_ns:
        raise TesseraError(
            asked,
            f"{row.value} cycles in {row.running_ns} ns are more than {LARGEST_RATE} GHz: a digit of the"
            " program may precede the count on its line",
            "write perf's rows to a file of their own: perf stat -o FILE",
            code="measure-rate",
        )
    if row.value != row.value.to_integral_value() or row.unit:
        found = f"'{row.value} {row.unit}'".replace(" '", "'")
        raise TesseraError(asked, f"{found} is no whole number of events", "record again", code="perf-row")


def _total(path: Path, named: Named, rows: list[PerfCount]) -> Total:
    return Total(
        path=path,
        text=rows[0].event,
        named=named,
        value=sum((row.value for row in rows), Decimal(0)),
        running_ns=None if any(row.running_ns is None for row in rows) else sum(r.running_ns for r in rows),
        percent=min(row.percent for row in rows),
        spread_percent=max((r.spread_percent for r in rows if r.spread_percent is not None), default=None),
    )


# User mode (``u``) or user mode and kernel (``uk``): one for all counts of an import.
#
# perf shows the mode of an event only in some forms: ``cycles:u`` does, members of ``{...}:u`` and events
# with ``name=`` do not. Our aliases end in the mode for this reason.


def mode_of(totals: Iterable[Total], asked: str | None = None) -> str:
    """The mode of all hardware events.

    Args:
        asked: what the user says (``--mode``), for events that show no mode.

    Raises:
        TesseraError: events show two modes, or another one than asked; some or all show none and nothing is
            asked; an event counted the kernel alone.
    """
    shown: dict[str, Total] = {}
    for total in totals:
        if not total.named.software:
            shown.setdefault(total.named.mode, total)
    hidden = shown.pop("", None)
    places = {mode: f"{total.text} ({total.path.name}): {mode}" for mode, total in shown.items()}
    if len(shown) > 1 or set(shown) - set(MODES) or (asked and set(shown) - {asked}):
        found = "; ".join(places.values()) + (f"; asked: {asked}" if asked else "")
        raise TesseraError(
            "one mode for all events",
            found,
            f"record all events in one of: {', '.join(MODES)}",
            code="mode-mixed",
        )
    if asked:
        return asked
    if hidden is not None:
        others = "; ".join(places.values()) or "no event does"
        raise TesseraError(
            "the mode of all events",
            f"{hidden.text} ({hidden.path.name}) does not show it; {others}",
            "say how they were recorded: --mode u, or --mode uk (perf without :u, paranoid 1 or less)",
            code="mode-hidden",
        )
    return next(iter(shown), "") or _no_mode()


def _no_mode() -> str:
    raise TesseraError(
        "the mode of all events", "the logs have no hardware event", "record cycles and the events of H, M, C"
    )
