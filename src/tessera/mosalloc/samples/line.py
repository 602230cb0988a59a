"""One line of ``perf script -F pid,tid,period,event,addr[,data_src]``.

``%5d/%-5d  %10lu  EVENT:  %16lx[ %16lx WORDS]`` (tools/perf/builtin-script.c; the widths differ between
versions 4.15 and 6.12, the order does not). With ``-F pid`` alone, or ``tid`` alone, there is no slash.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tessera.core.errors import TesseraError
from tessera.counters.perf.row import shown
from tessera.mosalloc.samples import tlb

FIELDS = "pid,tid,period,event,addr"

#: No line of perf is as long; a longer one is of another file.
MAX_LINE = 1000

_LINE = re.compile(
    r" *(?P<pid>-1|\d{1,10})(?:/(?P<tid>-1|\d{1,10}))?[ \t]+(?P<period>\d{1,20})[ \t]+(?P<event>[^\s:]\S*?):"
    r"[ \t]+(?P<address>[0-9a-f]{1,16})(?:[ \t]+(?P<source>[0-9a-f]{1,16}) (?P<words>\S.*))?[ \t\r]*",
    re.ASCII,
)
_DEFAULT = re.compile(r" *\S.* \d{1,10}(?:/\d{1,10})? .*\d+\.\d{6}: ", re.ASCII)


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample.

    Attributes:
        line: number in the file, from 1.
        pid: process; -1 if perf did not know it.
        period: events between this sample and the one before: what it stands for.
        event: name as perf printed it, without the last colon.
        address: virtual address of the accessed byte; 0 if the record has none.
        source: ``data_src``; None if the field was not printed.
    """

    line: int
    pid: int
    period: int
    event: str
    address: int
    source: int | None = None


def parse_line(owner: str, number: int, line: str) -> Sample:
    """The sample of a line.

    Raises:
        TesseraError: the line has another form, or its number and its words contradict each other (code
            ``samples-row``).
    """
    found = _LINE.fullmatch(line) if len(line) <= MAX_LINE else None
    if found is None:
        raise malformed(owner, number, _why(line))
    source = found["source"] and int(found["source"], 16)
    if source is not None and not tlb.words_agree(source, found["words"].rstrip()):
        raise malformed(
            owner, number, f"data_src {found['source']} and its words '{shown(found['words'])}' contradict"
        )
    return Sample(
        number, int(found["pid"]), int(found["period"]), found["event"], int(found["address"], 16), source
    )


def malformed(owner: str, number: int, found: str) -> TesseraError:
    """The error of a line that is no sample."""
    remedy = f"print again with: perf script -i perf.data -F {FIELDS},data_src 2>messages >samples.txt"
    return TesseraError(f"{owner}, line {number}", found, remedy, code="samples-row")


def _why(line: str) -> str:
    if "do not have" in line and "attribute set" in line:
        return f"perf says '{shown(line.strip(), 100)}': record with -d"
    if _DEFAULT.match(line[:MAX_LINE]):
        return f"'{shown(line.strip())}' has the default fields of perf script, without period and address"
    return f"'{shown(line.strip())}' is not `pid/tid period event: address [data_src]`"
