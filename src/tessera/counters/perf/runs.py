"""One run per log: intervals that fit together, a summary that equals their sum, and no second run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from decimal import Decimal
from itertools import groupby

from tessera.core.errors import TesseraError
from tessera.counters.perf.row import Row, malformed

_ONE_FILE = "keep one run in each file: LC_ALL=C perf stat -x\\; -o FILE ..., without --append"
#: Largest error of a value with two decimals, and of one that perf scaled (as a share of it).
_ROUNDED = Decimal("0.01")


def two_runs(owner: str, line: int, found: str) -> TesseraError:
    """The error of a line where another run begins."""
    return malformed(owner, line, f"{found}: another run begins here", _ONE_FILE, "perf-two-runs")


def one_run(owner: str, rows: Sequence[Row]) -> list[Row]:
    """The rows that count the run once: its intervals if it has some, without their summary.

    A row without a time behind rows with times is of the summary, with the word ``summary`` or without.

    Raises:
        TesseraError: the rows are of two runs (``perf-two-runs``), an interval lacks a row or has one more
            (``perf-interval``), or the summary is not the sum of the intervals (``perf-summary``).
    """
    timed = [row for row in rows if row.seconds is not None]
    others = [row for row in rows if row.seconds is None]
    for last, row in zip(rows, rows[1:], strict=False):
        if last.seconds is None and row.seconds is not None:
            raise two_runs(owner, row.line, "a row of an interval follows a row without a time")
        if last.seconds is not None and row.seconds is not None and row.seconds < last.seconds:
            raise two_runs(owner, row.line, f"the time goes back from {last.seconds} to {row.seconds} s")
        if last.seconds is row.seconds is None and last.summary != row.summary:
            raise two_runs(owner, row.line, "a summary and rows without its mark")
    _refuse_repetition(owner, others)
    if not timed:
        return others
    _require_equal_intervals(owner, timed)
    if others:
        _require_sum(owner, timed, others)
    return timed


def _refuse_repetition(owner: str, rows: Sequence[Row]) -> None:
    """Refuse rows of which most come again: a shell appended another run."""
    first: dict[tuple, Row] = {}
    again = [row for row in rows if first.setdefault(row.key, row) is not row]
    repeated = {row.key for row in again}
    if len(repeated) > 1 and 2 * len(repeated) > len(first):
        raise two_runs(owner, again[0].line, f"{again[0].event} and other events come again")


def _require_equal_intervals(owner: str, rows: Sequence[Row]) -> None:
    first: Counter[tuple] = Counter()
    for seconds, group in groupby(rows, key=lambda row: row.seconds):
        block = list(group)
        spreads = [row.spread_percent for row in block if row.spread_percent is not None]
        if spreads:
            found = f"an interval has a spread ({spreads[0]}%): -r with -I"
            raise malformed(owner, block[0].line, found, "record with -r or with -I", "perf-interval")
        _refuse_repetition(owner, block)
        keys = Counter(row.key for row in block)
        first = first or keys
        if keys != first:
            lacking, more = first - keys, keys - first
            kind, key = ("lacks", next(iter(lacking))) if lacking else ("alone has", next(iter(more)))
            raise malformed(
                owner,
                block[-1].line,
                f"the interval of {seconds} s {kind} {' '.join(filter(None, key))}: the log is cut or damaged"
                " (or of --per-thread -a, which leaves out threads without a count)",
                code="perf-interval",
            )


def _require_sum(owner: str, timed: Sequence[Row], summary: Sequence[Row]) -> None:
    totals: dict[tuple, Decimal] = defaultdict(Decimal)
    numbers: dict[tuple, int] = defaultdict(int)
    scaled = {row.key for row in (*timed, *summary) if row.percent != 100}
    for row in timed:
        totals[row.key] += row.value or 0
        numbers[row.key] += 1
    seen = set()
    for row in summary:
        if row.key not in totals or row.key in seen:
            found = f"the summary has {row.event}{'' if row.key in seen else ', which no interval has'} twice"
            if row.key not in seen:
                found = f"the summary has {' '.join(filter(None, row.key))}, which no interval has"
            raise malformed(owner, row.line, found, code="perf-summary")
        seen.add(row.key)
        exact = all(one == one.to_integral_value() for one in (totals[row.key], row.value or Decimal(0)))
        allowed = Decimal(0) if exact else _ROUNDED * (numbers[row.key] + 1)
        if row.key in scaled:
            allowed = max(allowed, totals[row.key] * _ROUNDED)
        if abs(totals[row.key] - (row.value or 0)) > allowed:
            raise malformed(
                owner,
                row.line,
                f"the summary of {row.event} is {row.value}, the sum of the intervals {totals[row.key]}:"
                " an interval is missing, or the log has two runs",
                code="perf-summary",
            )
    missing = [key for key in totals if key not in seen and totals[key]]
    if missing:
        found = f"it ends without {missing[0][2]}, which the intervals have: the summary is cut"
        raise malformed(owner, summary[-1].line, found, code="perf-summary")
