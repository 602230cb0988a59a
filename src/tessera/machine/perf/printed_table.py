"""Rows of the table for people: what ``perf stat`` writes without ``-x`` and ``-j``.

Perf writes a value right-aligned in 18 columns, a unit, the event, and then metrics behind ``#``, the spread
of ``-r`` and the percentage of the time on a counter, if it is not 100. Only two places have rows: lines
between ``Performance counter stats for ...:`` and ``seconds time elapsed``, and with ``-I`` lines that begin
with the time. So a line such as ``  100 iterations`` of the program is no row.

Numbers follow the language of the user: a whole number may be grouped (``19.647``, ``19 647``, ``1,23,456``),
and a value with a unit has a decimal mark and two decimals. One table has one language.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from decimal import Decimal

from tessera.core.errors import TesseraError
from tessera.machine.perf.row import AGAIN, WORDS, PerfCount, malformed, shown

_HEAD = re.compile(r" ?Performance counter stats for (.*)")
_HEAD_END = re.compile(r".*'(?: \((?P<runs>\d+) runs\))?: *")  #: of a command, which is quoted
_EVERYTHING = re.compile(r"'(?P<part>system wide|CPU\(s\) [\d,-]+)'(?: \(\d+ runs\))?: *", re.ASCII)
_TIMES = re.compile(r"# {5,}time .*counts unit events *$")
_END = re.compile(r" *\d(?:[\d.,'’\u00a0\u202f\u2009 ]*\d)?(?: \+- [\d.,]+)? +seconds time elapsed(?: .*)?")
_CLOCK = re.compile(r" *\d+[.,]\d+ seconds (?:user|sys) *")
_TIME = re.compile(r" *\d{1,12}\.\d{9}(?!\d)", re.ASCII)
_PART = re.compile(r"(?:CPU\d+|[SN]\d+(?:-[A-Z]{1,4}\d+)*) +[\d<]|.{0,15}\S-\d+ +[\d<]", re.ASCII)
#: the first line of a group of metrics, its name right-aligned in 33 columns: TopdownL1 (cpu_core)
_GROUP = re.compile(r"(?=.{33} +# ) +[A-Za-z]\w*(?: \(\w+\))? +# ", re.ASCII)
_COLUMNS = 18  #: of a value
_LONG_VALUE = re.compile(r"\d[\d.,'’\u00a0\u202f\u2009]+(?= )", re.ASCII)
MAX_LINE = 2_000  #: no row is as long
UNITS = ("msec", "nsec", "ns", "us", "Joules", "MiB", "KiB", "GiB", "Bytes", "C", "CPU(s)")
_MARKS = ".,'’\u00a0\u202f\u2009 "
_GROUPED = re.compile(
    rf"\d{{1,3}}(?P<group>[{_MARKS}])(?:\d{{2,3}}(?P=group))*\d{{3}}(?:(?P<point>[.,])\d\d)?", re.ASCII
)
_PLAIN = re.compile(r"\d{1,18}(?:(?P<point>[.,])(?:\d\d|\d{6}))?", re.ASCII)
#: what perf writes at the end of the last line of an event; before Linux 4.1 the percentage is in brackets
_TAIL = (
    r"(?: *\( ?\+- *(?P<spread>\d{1,12}[.,]\d\d)% \))?"
    r"(?: *(?:\((?P<percent>\d{1,5}[.,]\d\d)%\)|\[ *(?P<old_percent>\d{1,5}[.,]\d\d)%\]))? *"
)
_EVENT = r"(?P<event>\S+(?: \(msec\))?)(?: +(?P<cgroup>[^\s#(\[]\S*))? *(?: # .*?)??"
_REST = re.compile(r"(?:(?P<unit>[A-Za-z%/()_]+) +|  +)" + _EVENT + _TAIL, re.ASCII)
#: before Linux 3.14 the table has no column of units
_OLD_REST = re.compile("(?P<unit>)" + _EVENT + _TAIL, re.ASCII)
_FURTHER = re.compile(r" *# .*?" + _TAIL, re.ASCII)  #: a line with a further metric of the event above


def is_head(line: str) -> bool:
    """Whether the line begins a table, or the intervals of one."""
    return bool(_HEAD.match(line) or _TIMES.search(line))


@dataclass
class PrintedTable:
    """Reads the lines of one file in their order.

    Attributes:
        inside: number of the line that began a table which has no end yet, 0 elsewhere.
        closed: number of the line that ended a table, 0 before.
    """

    owner: str
    inside: int = 0
    closed: int = 0
    _command: bool = False
    _runs: bool = False
    _part: str = ""
    _last: PerfCount | None = None
    _marks: dict[str, str] = field(default_factory=dict)

    def parse_line(self, number: int, line: str) -> PerfCount | None:
        """The row of a line; None for lines of perf without a count, and for lines of the program.

        An event with several metrics has its percentage and its spread behind the last of them. The line of
        that metric gives the row once more (with the ``line`` of its count), now with both.

        Raises:
            TesseraError: a line inside the table, or with a time, is no row; a number is of another language
                than those before; a second table begins; it counts CPUs or other parts.
        """
        if self._command:  # the command of the head may have several lines
            self._end_of_head(line)
        elif found := _HEAD.match(line):
            if self.inside or self.closed:
                raise malformed(self.owner, number, "a second table begins: two runs", code="perf-two-runs")
            self.inside, self._command = number, found[1].startswith("'")
            everything = _EVERYTHING.fullmatch(found[1])
            self._part = everything["part"] if everything else ""
            self._end_of_head(found[1])
        elif self.inside and _END.fullmatch(line):
            self.inside, self.closed = 0, number
        elif self.inside:
            return self._row(number, line, None)
        elif (found := _TIME.match(line)) and not _CLOCK.fullmatch(line):
            return self._row(number, line[found.end() + 1 :], Decimal(found[0].strip()))
        return None

    def require_end(self) -> None:
        """Refuse a table that is cut.

        Raises:
            TesseraError: it has no line ``seconds time elapsed``.
        """
        if self.inside:
            found = "the table that begins here has no `seconds time elapsed`: it is cut"
            raise malformed(self.owner, self.inside, found)

    def _end_of_head(self, text: str) -> None:
        if found := _HEAD_END.fullmatch(text):
            self._command, self._runs = False, bool(found["runs"])

    def _row(self, number: int, line: str, seconds: Decimal | None) -> PerfCount | None:
        if len(line) > MAX_LINE:
            raise self._malformed(number, line)
        if not line[:_COLUMNS].strip() and ("#" in line or seconds is None and not line.strip()):
            return self._further(number, line, seconds)
        if line.lstrip().startswith("#"):
            return None
        if _GROUP.match(line):
            self._last = None
            return None
        if _PART.match(line.lstrip()):
            found = f"'{shown(line.strip())}' counts a CPU, a thread or another part, in the table for people"
            raise malformed(self.owner, number, found, code="perf-table-parts")
        end = _end_of_value(line)
        text, rest = (
            line[:end].strip(),
            _REST.fullmatch(line[end + 1 :] if line[end : end + 1] == " " else ""),
        )
        missing = WORDS.get(text, "")
        if not _has_unit(rest):
            old = end == _COLUMNS and line[end - 1 : end + 1].strip() and line[end : end + 1] == " "
            rest = _OLD_REST.fullmatch(line[end + 1 :]) if old else None
        if rest is None:
            raise self._malformed(number, line)
        value = (
            None
            if missing
            else self._number(number, text, line, bool(rest["unit"]) or "clock" in rest["event"])
        )
        percent, spread = self._tail(number, line, rest)
        self._last = PerfCount(
            line=number,
            event=rest["event"].removesuffix(" (msec)"),
            value=value,
            missing=missing,
            unit=rest["unit"] or "",
            running_ns=None,
            percent=Decimal(100) if percent is None else percent,
            spread_percent=Decimal(0) if spread is None and self._runs else spread,
            seconds=seconds,
            part=self._part,
            cgroup=rest["cgroup"] or "",
        )
        return self._last

    def _further(self, number: int, line: str, seconds: Decimal | None) -> PerfCount | None:
        """The row above with what stands behind its last metric; None for other metrics, and their groups."""
        found = _FURTHER.fullmatch(line)
        last, self._last = self._last, self._last if found else None
        percent, spread = self._tail(number, line, found) if found else (None, None)
        if last is None or last.seconds != seconds or percent is spread is None:
            return None
        return replace(
            last,
            percent=last.percent if percent is None else percent,
            spread_percent=last.spread_percent if spread is None else spread,
        )

    def _tail(self, number: int, line: str, found: re.Match) -> tuple[Decimal | None, Decimal | None]:
        """(percentage, spread) at the end of a line."""
        texts = found["percent"] or found["old_percent"], found["spread"]
        return tuple(None if text is None else self._number(number, text, line, True) for text in texts)

    def _number(self, number: int, text: str, line: str, with_point: bool) -> Decimal:
        """A number in the language of the table; a whole one if not ``with_point``."""
        plain = _PLAIN.fullmatch(text)
        found = plain or _GROUPED.fullmatch(text)
        if found is None or (found["point"] and not with_point):
            raise self._malformed(number, line)
        marks = {"point": found["point"], "group": None if plain else found["group"]}
        for kind, mark in marks.items():
            if mark and self._marks.setdefault(kind, mark) != mark:
                found_marks = f"'{mark}' in {text}, but '{self._marks[kind]}' before it"
                raise malformed(self.owner, number, f"two languages: {found_marks}", code="perf-locale")
        if self._marks.get("point") and self._marks.get("point") == self._marks.get("group"):
            both = self._marks["point"]
            raise malformed(
                self.owner, number, f"'{both}' groups digits and is the decimal mark", code="perf-locale"
            )
        whole = text if not marks["group"] else text.replace(marks["group"], "")
        return Decimal(whole.replace(",", "."))

    def _malformed(self, number: int, line: str) -> TesseraError:
        return malformed(
            self.owner,
            number,
            f"'{shown(line.strip())}' is no row of the table that perf writes for people, whose values end in"
            " column 18: it is of the program, or its blanks were changed",
            "write perf's rows to a file of their own: " + AGAIN,
        )


def _has_unit(rest: re.Match | None) -> bool:
    """Whether the part behind the value has the column of units, with one of perf's or empty."""
    return rest is not None and (not rest["unit"] or rest["unit"] in UNITS or "clock" in rest["event"])


def _end_of_value(line: str) -> int:
    """Where the value ends: after 18 characters, or 18 bytes of UTF-8 where C's library counts bytes.

    A longer value (100,000,000,000,000) begins the line and moves the rest.
    """
    if (long := _LONG_VALUE.match(line)) and len(long[0].encode()) >= _COLUMNS:
        return long.end()
    if line[_COLUMNS : _COLUMNS + 1] == " " and not line[_COLUMNS - 1 : _COLUMNS].isspace():
        return _COLUMNS
    return next(
        (n for n in range(1, _COLUMNS) if len(line[:n].encode("utf-8", "replace")) >= _COLUMNS), _COLUMNS
    )
