"""One event in a log of ``perf stat``, and the error of a line that is no such row."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from tessera.core.errors import TesseraError

NOT_COUNTED, NOT_SUPPORTED = "not counted", "not supported"
AGAIN = "record again with: LC_ALL=C perf stat -x\\; -o FILE ... (one file for each run)"
#: perf's words in place of a number; older versions write them with a hyphen.
WORDS = {
    "<not counted>": NOT_COUNTED,
    "<not-counted>": NOT_COUNTED,
    "<not supported>": NOT_SUPPORTED,
    "<not-supported>": NOT_SUPPORTED,
}


@dataclass(frozen=True)
class Row:
    """What perf wrote about one event; ``value`` is None exactly if ``missing`` has the reason.

    Attributes:
        line: number in the file, from 1.
        event: name as perf wrote it.
        value: the count, scaled by perf if ``percent`` is below 100.
        missing: :data:`NOT_COUNTED`, :data:`NOT_SUPPORTED` or empty.
        unit: of the value (``msec``, ``Joules``), empty for counts.
        running_ns: time that the event had a counter; None in the table for people, which does not have it.
        percent: of the time that it was enabled; perf writes 100.00 beside a missing value, too.
        spread_percent: of ``-r``: standard error of the mean, None without it.
        seconds: of ``-I``: end of the interval, None without it.
        part: CPU, socket, node or thread of the count (``-A``, ``--per-socket``, ...), empty for the program.
        cgroup: control group of the count (``-G``, ``--for-each-cgroup``), empty for the program.
        summary: perf marked it with its word ``summary``.
    """

    line: int
    event: str
    value: Decimal | None
    missing: str
    unit: str
    running_ns: int | None
    percent: Decimal
    spread_percent: Decimal | None = None
    seconds: Decimal | None = None
    part: str = ""
    cgroup: str = ""
    summary: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        """What it counts: each run, and each interval of a run, has it once."""
        return self.part, self.cgroup, self.event


def malformed(owner: str, line: int, found: str, remedy: str = "", code: str = "perf-row") -> TesseraError:
    """The error of a line that perf did not write so."""
    remedy = remedy or AGAIN
    return TesseraError(f"{owner} line {line}", found, remedy, code=code)


def shown(text: str, limit: int = 60) -> str:
    """A part of a line for a message: printable, and not too long."""
    plain = "".join(c if c.isprintable() else "?" for c in text)
    return plain if len(plain) <= limit else plain[:limit] + "..."
