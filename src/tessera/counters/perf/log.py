"""A file of ``perf stat``: its form is found from its first row, and every line must have it."""

from __future__ import annotations

from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.counters.perf import json_lines, separated
from tessera.counters.perf.row import Row, malformed, shown

_AGAIN = "record with: LC_ALL=C perf stat -x\\; -o FILE -e EVENTS -- PROGRAM"


def read_log(path: Path | str) -> list[Row]:
    """Rows of a file of ``perf stat -x`` or ``-j``, in its order.

    Raises:
        TesseraError: the file can't be read, is not UTF-8, has no row, or has a line of another form.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8")
    except OSError as error:
        raise TesseraError(f"log {path}", error.strerror or str(error), "check the path") from error
    except UnicodeDecodeError as error:
        raise TesseraError(
            f"log {path}", f"not UTF-8 at byte {error.start}", _AGAIN, code="perf-row"
        ) from error
    return parse_log(text, f"log {path}")


def parse_log(text: str, owner: str = "log") -> list[Row]:
    """Rows of a log's text; ``# started on`` and empty lines are skipped.

    Raises:
        TesseraError: as :func:`read_log`.
    """
    rows, separator = [], None
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or (line.startswith("#") and separator != "#"):
            continue
        if line.lstrip().startswith("{"):
            row = json_lines.parse_line(owner, number, line)
        else:
            separator = separator or _separator(owner, number, line)
            row = separated.parse_line(owner, number, line, separator)
        if row is not None:
            rows.append(row)
    if not rows:
        raise TesseraError(owner, "it has no row of an event", _AGAIN, code="perf-empty")
    return rows


def _separator(owner: str, number: int, line: str) -> str:
    if "Performance counter stats for" in line:
        raise malformed(
            owner, number, "this is the table for people, whose form differs", _AGAIN, "perf-table"
        )
    found = separated.separator_of(line)
    if found is None:
        raise malformed(owner, number, f"'{shown(line)}' is no row of `perf stat -x` or `perf stat -j`")
    return found
