"""The counts of one log, after the checks that make them counts of one program.

perf scales a count of an event that shared its counter with others; such a count is an estimate, and it is
rejected. A few microseconds of difference are normal: members of a group start one after the other.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.counters.classes import CounterClass
from tessera.counters.event import LATE_NS, LATE_SHARE
from tessera.counters.perf.log import read_log
from tessera.counters.perf.names import Named, resolve
from tessera.counters.perf.row import NOT_SUPPORTED, Row

LARGEST_COUNT = 2**53


@dataclass(frozen=True)
class Total:
    """One event of a log, added up over intervals (and parts, if asked).

    ``percent`` is the smallest of its rows, ``spread_percent`` the largest (of ``perf stat -r``).
    """

    path: Path
    text: str
    named: Named
    value: Decimal
    running_ns: int
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
    """Totals of a log, in its order; an event that was asked twice has two.

    Args:
        ignore: events, as perf wrote them, to leave out.
        sum_parts: add up CPUs, sockets or threads (``-A``, ``--per-socket``, ``--per-thread``).

    Raises:
        TesseraError: an event is unknown to the class, was not counted, or shared its counter; counts of both
            types of cores; counts of CPUs without ``sum_parts``.
    """
    rows: dict[tuple[str, int], list[Row]] = {}
    seen: dict[tuple, int] = {}
    names: dict[str, Named | None] = {}
    for row in read_log(path):
        if row.event in ignore:
            continue
        if row.event not in names:
            names[row.event] = _resolved(path, row, found)
        named = names[row.event]
        if named is None or (named.software and row.missing):
            continue
        _check(path, row, named, sum_parts)
        place = (row.event, row.seconds, row.part)
        seen[place] = seen.get(place, 0) + 1
        rows.setdefault((row.event, seen[place]), []).append(row)
    if not rows:
        raise TesseraError(f"log {path}", "it has no event of the class", _LIST.format(found.name))
    return [_total(path, names[event], group) for (event, _), group in rows.items()]


_LIST = "tessera counters show {} prints the commands to record"


def _resolved(path: Path, row: Row, found: CounterClass) -> Named | None:
    """The event; None for one of another type of core that did not run."""
    try:
        return resolve(row.event, found)
    except TesseraError as error:
        if error.code == "event-other-core" and not row.value:
            return None
        raise TesseraError(
            f"log {path} line {row.line}: {error.asked}", error.found, error.remedy, code=error.code
        ) from error


def _check(path: Path, row: Row, named: Named, sum_parts: bool) -> None:
    asked = f"log {path} line {row.line}: {row.event}"
    if row.part and not sum_parts:
        raise TesseraError(
            asked,
            f"it counts {row.part}, with every program on it",
            "record the program alone: perf stat without -a, -A and --per-...; or add up: --sum-parts",
            code="measure-parts",
        )
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
        raise TesseraError(
            asked,
            "its group was never on the counters: one member that does not fit empties all of it",
            "record each pass of `tessera counters show CLASS` alone, with SMT and watchdog as they are",
            exit_code=EXIT_FAILED,
            code="measure-not-counted",
        )
    if row.percent > 100 or row.percent == 0:
        raise TesseraError(asked, f"percent {row.percent}", "record again", code="perf-row")
    share = 100 - row.percent
    lost_ns = row.running_ns * share / row.percent
    if share > 100 * Decimal(str(LATE_SHARE)) and lost_ns > LATE_NS:
        raise TesseraError(
            asked,
            f"it was counted in {row.percent}% of the time, and perf scaled it: an estimate, not a count",
            "record the passes of `tessera counters show CLASS` one by one",
            exit_code=EXIT_FAILED,
            code="measure-multiplexed",
        )
    if row.value >= LARGEST_COUNT:
        raise TesseraError(asked, f"{row.value} is not below 2^53", "record a shorter run")


def _total(path: Path, named: Named, rows: list[Row]) -> Total:
    return Total(
        path=path,
        text=rows[0].event,
        named=named,
        value=sum((row.value for row in rows), Decimal(0)),
        running_ns=sum(row.running_ns for row in rows),
        percent=min(row.percent for row in rows),
        spread_percent=max((r.spread_percent for r in rows if r.spread_percent is not None), default=None),
    )
