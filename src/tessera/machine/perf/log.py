"""A file of ``perf stat``: its form is found from all lines, and it holds one run.

A line counts only if it has the form of the whole log. A line that resembles a row, but is none, is
refused, and so are two forms in one file: it could be a damaged count, or a number of the program.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from decimal import Decimal
from itertools import groupby
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.machine.perf import machine_readable
from tessera.machine.perf.printed_table import PrintedTable, is_head
from tessera.machine.perf.row import AGAIN, WORDS, PerfCount, malformed, numbered_lines, read_text, shown

_STARTED = re.compile(r"# started on \S")
_METRICS_ONLY = re.compile(
    r'"metric-value"|\bGHz\b.*\binsn per cycle\b|\binsn per cycle\b.*\bGHz\b|\btma_|\bretiring\b'
)
_TIMED = re.compile(r"\S( +(?:\d{1,9}\.\d{9}|summary))(?![\w.])", re.ASCII)
_TIME_COLUMNS = 16
_FIRST = 2000  #: lines that are looked at more closely in a log without rows
#: a row of -x before Linux 4.1: value, unit (since 3.14), event, and no time on a counter
_UNTIMED = re.compile(r"(?:\d+(?:\.\d\d)?|<not.\w+>)([;,|\t])(?:\w{0,6}\1)?[A-Za-z][\w.:/=-]*", re.ASCII)
JSON, TABLE = "-j", "the table for people"


def read_log(path: Path | str) -> list[PerfCount]:
    """Rows of a file of ``perf stat``, in its order: of one run, and without a summary of its intervals.

    Raises:
        TesseraError: the file can't be read or decoded; as :func:`parse_log`.
    """
    owner = f"log {path}"
    return parse_log(read_text(path, owner, AGAIN, "perf-row", errors="surrogateescape"), owner)


def parse_log(text: str, owner: str = "log") -> list[PerfCount]:
    """Rows of a log's text.

    Raises:
        TesseraError: it has no row (``perf-empty``), rows of two forms (``perf-forms``) or of two runs
            (``perf-two-runs``), a line that resembles a row (``perf-row``), or intervals that do not fit
            together (``perf-interval``, ``perf-summary``).
    """
    lines = [(number, _from_time(line)) for number, line in numbered_lines(text)]
    form = _form(owner, lines)
    rows: list[PerfCount] = []
    others: list[tuple[int, str]] = []
    table = PrintedTable(owner)
    for number, line in lines:
        if _STARTED.match(line):
            if rows:
                raise two_runs(owner, number, f"'{shown(line.strip())}' follows rows")
            continue
        if form == JSON:
            row = machine_readable.parse_json(owner, number, line)
        elif form == TABLE:
            row = table.parse_line(number, line)
        else:
            row = machine_readable.parse_separated(owner, number, line, form)
        if row is None:
            others.append((number, line))
        elif rows and rows[-1].line == row.line:
            rows[-1] = row  # with the percentage that stands behind its last metric
        else:
            rows.append(row)
    table.require_end()
    if form not in (JSON, TABLE):
        events = {row.event for row in rows}
        for number, line in others:
            machine_readable.refuse_near(owner, number, line, form, events)
    if not rows:
        raise _empty(owner, lines)
    return one_run(owner, rows)


def _from_time(line: str) -> str:
    """The line without output of the program that ended without a line end before a row of ``-I``.

    Perf writes the time, or its word ``summary``, right-aligned in 16 columns, so that blanks precede it.
    """
    found = _TIMED.search(line)
    alone = found is None or len(found[1]) < _TIME_COLUMNS or _TIMED.match("." + line)
    return line if alone else line[found.start(1) :]


def _form(owner: str, lines: list[tuple[int, str]]) -> str:
    """``-j``, the table, or a separator: the only form that the file has rows of."""
    found: dict[str, int] = {}
    for number, line in lines:
        if machine_readable.begins_json(line):
            found.setdefault(JSON, number)
        elif is_head(line):
            found.setdefault(TABLE, number)
        else:
            for separator in machine_readable.separators_of(line):
                found.setdefault(separator, number)
    if not found:
        raise _empty(owner, lines)
    if len(found) > 1:
        places = ", ".join(f"{_named(form)} (line {number})" for form, number in found.items())
        raise malformed(owner, max(found.values()), f"rows of several forms: {places}", code="perf-forms")
    return next(iter(found))


def _named(form: str) -> str:
    return form if form in (JSON, TABLE) else f"-x'{form}'"


def _empty(owner: str, lines: list[tuple[int, str]]) -> TesseraError:
    found, remedy = "it has no row of an event in a form of perf stat", AGAIN
    for number, line in lines:
        machine_readable.parse_separated(owner, number, line, ",")
        if " Performance counter stats for " in line or number < _FIRST and _is_row_behind(line):
            found = f"line {number} '{shown(line)}' is perf's, but other characters or blanks stand before it"
            remedy = "remove what a terminal, a log or a web page put before each line; or " + AGAIN
            break
        if _UNTIMED.fullmatch(line):
            found = (
                f"line {number} '{shown(line)}' does not say how long the event was on a counter (perf -x"
                " says it since Linux 4.1): it may be an estimate"
            )
            break
        if any(word in line for word in WORDS):
            found = f"line {number} '{shown(line.strip())}' has no separator of a usual kind, or is damaged"
            break
        if _METRICS_ONLY.search(line):
            found = f"line {number} has metrics, and no line has counts (--metric-only, --topdown)"
            break
    return TesseraError(owner, found, remedy, code="perf-empty")


def _is_row_behind(line: str) -> bool:
    """Whether the line has a row of ``-x`` behind one of its first blanks."""
    words = line[: machine_readable.MAX_LINE].split(" ")[:8]
    return any(
        machine_readable.separators_of(line[len(" ".join(words[:n])) + 1 :]) for n in range(1, len(words))
    )


# One run per log: intervals that fit together, a summary that equals their sum, and no second run.

_ONE_FILE = "keep one run in each file: LC_ALL=C perf stat -x\\; -o FILE ..., without --append"
#: Largest error of a value with two decimals, and of one that perf scaled (as a share of it).
_ROUNDED = Decimal("0.01")


def two_runs(owner: str, line: int, found: str) -> TesseraError:
    """The error of a line where another run begins."""
    return malformed(owner, line, f"{found}: another run begins here", _ONE_FILE, "perf-two-runs")


def one_run(owner: str, rows: Sequence[PerfCount]) -> list[PerfCount]:
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


def _refuse_repetition(owner: str, rows: Sequence[PerfCount]) -> None:
    """Refuse rows of which most come again: a shell appended another run."""
    first: dict[tuple, PerfCount] = {}
    again = [row for row in rows if first.setdefault(row.key, row) is not row]
    repeated = {row.key for row in again}
    if len(repeated) > 1 and 2 * len(repeated) > len(first):
        raise two_runs(owner, again[0].line, f"{again[0].event} and other events come again")


def _require_equal_intervals(owner: str, rows: Sequence[PerfCount]) -> None:
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


def _require_sum(owner: str, timed: Sequence[PerfCount], summary: Sequence[PerfCount]) -> None:
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
