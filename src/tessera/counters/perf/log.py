"""A file of ``perf stat``: its form is found from all lines, and lines of the program are left out.

A line counts only if it has the form of the whole log. A line that resembles a row, but is none, is refused,
and so are two forms in one file: it could be a damaged count, or a number of the program.
"""

from __future__ import annotations

import re
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.counters.perf import json_lines, separated
from tessera.counters.perf.row import AGAIN, WORDS, Row, malformed, shown
from tessera.counters.perf.runs import one_run, two_runs
from tessera.counters.perf.table import Table, is_head
from tessera.counters.perf.text import numbered_lines, read_text

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


def read_log(path: Path | str) -> list[Row]:
    """Rows of a file of ``perf stat``, in its order: of one run, and without a summary of its intervals.

    Raises:
        TesseraError: the file can't be read or decoded; as :func:`parse_log`.
    """
    owner = f"log {path}"
    return parse_log(read_text(path, owner, AGAIN, "perf-row", errors="surrogateescape"), owner)


def parse_log(text: str, owner: str = "log") -> list[Row]:
    """Rows of a log's text.

    Raises:
        TesseraError: it has no row (``perf-empty``), rows of two forms (``perf-forms``) or of two runs
            (``perf-two-runs``), a line that resembles a row (``perf-row``), or intervals that do not fit
            together (``perf-interval``, ``perf-summary``).
    """
    lines = [(number, _from_time(line)) for number, line in numbered_lines(text)]
    form = _form(owner, lines)
    rows: list[Row] = []
    others: list[tuple[int, str]] = []
    table = Table(owner)
    for number, line in lines:
        if _STARTED.match(line):
            if rows:
                raise two_runs(owner, number, f"'{shown(line.strip())}' follows rows")
            continue
        if form == JSON:
            row = json_lines.parse_line(owner, number, line)
        elif form == TABLE:
            row = table.parse_line(number, line)
        else:
            row = separated.parse_line(owner, number, line, form)
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
            separated.refuse_near(owner, number, line, form, events)
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
        if json_lines.begins(line):
            found.setdefault(JSON, number)
        elif is_head(line):
            found.setdefault(TABLE, number)
        else:
            for separator in separated.separators_of(line):
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
        separated.parse_line(owner, number, line, ",")
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
    words = line[: separated.MAX_LINE].split(" ")[:8]
    return any(separated.separators_of(line[len(" ".join(words[:n])) + 1 :]) for n in range(1, len(words)))
