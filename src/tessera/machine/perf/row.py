"""One event of ``perf stat``, and the text that perf prints, without what terminals and editors add."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from tessera.core.errors import TesseraError

# Files with the text that perf prints, and their lines without what terminals and editors add.

_PERF_DATA = b"PERFILE2"
#: The longer mark first: that of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: Colours and other orders of a terminal: ESC [ ..., ESC ] ... BEL, and ESC with one more character.
_ORDERS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\^_])")


def read_text(path: Path | str, owner: str, again: str, code: str, errors: str = "strict") -> str:
    """The text of a file in UTF-8, or in UTF-16 or UTF-32 with a byte order mark.

    Args:
        again: how perf prints such a text.
        errors: as of :meth:`bytes.decode`.

    Raises:
        TesseraError: the file can't be read; it is what ``perf record`` writes, or no such text (``code``).
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise TesseraError(owner, error.strerror or str(error), "check the path") from None
    if data.startswith(_PERF_DATA):
        raise TesseraError(owner, "this is what perf record wrote, not its text", again, code=code)
    mark, name = next((pair for pair in _MARKS if data.startswith(pair[0])), (b"", "utf-8"))
    if not mark and data.count(0) * 4 > len(data):
        found = f"byte {data.index(0)} is zero: UTF-16 without its byte order mark, or no text"
        raise TesseraError(owner, found, "save it in the encoding UTF-8", code=code)
    try:
        return data[len(mark) :].decode(name, errors if name == "utf-8" else "strict")
    except UnicodeDecodeError as error:
        found = f"no {name.upper()} at byte {len(mark) + error.start}"
        raise TesseraError(owner, found, again, code=code) from None


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """(number from 1, line) without line ends, colours and empty lines.

    A carriage return inside a line ends a part of it: programs write their progress so. Both parts have the
    number of the line. In a text without line feeds, carriage returns are the line ends (old Macs).
    """
    old_mac = "\n" not in text
    for number, whole in enumerate(text.split("\r" if old_mac else "\n"), start=1):
        for line in whole.split("\r"):
            plain = _ORDERS.sub("", line) if "\x1b" in line else line
            if plain.strip():
                yield number, plain


# One event in a log of ``perf stat``, and the error of a line that is no such row.

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
class PerfCount:
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
