"""Which run a log belongs to: from its name, or from a table.

``LAYOUT.perf``, ``LAYOUT.PASS.perf`` or ``LAYOUT.PASS.REPEAT.perf``: the part before the first dot is the
layout, a number before the suffix is the repeat. Logs of equal layout and repeat are passes of one run. A
table ``file,layout[,repeat]`` names files of any other form.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.layouts.model import canonical_name

_FORM = "name it LAYOUT.PASS.perf or LAYOUT.PASS.REPEAT.perf, or give --table with file,layout,repeat"
_REPEAT = re.compile(r"\d{1,9}", re.ASCII)
_HEADERS = (["file", "layout"], ["file", "layout", "repeat"])


@dataclass(frozen=True)
class LogFile:
    """A log, and the run that it was recorded in."""

    path: Path
    layout: str
    repeat: int = 0


def from_names(paths: Iterable[Path]) -> list[LogFile]:
    """Logs by their names; a folder stands for its files, sorted, without hidden ones.

    Raises:
        TesseraError: a file does not exist, or its name has another form.
    """
    files = []
    for path in paths:
        if _is(Path.is_dir, path):
            inside = sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith("."))
            if not inside:
                raise TesseraError(f"folder {path}", "it has no file", "name the folder with the logs")
            files += inside
        elif _is(Path.is_file, path):
            files.append(path)
        else:
            raise TesseraError(f"log {path}", "no such file", "check the path")
    return [_from_name(path) for path in files]


def _from_name(path: Path) -> LogFile:
    layout, *others = path.name.split(".")
    numbers = [part for part in others[:-1] if part.isdecimal() and part.isascii()]
    if not layout or not others or len(others) > 3 or len(numbers) > 1:
        raise TesseraError(f"log {path}", "its name does not say the layout", _FORM, code="log-name")
    if numbers and others[-2] != numbers[0]:
        raise TesseraError(f"log {path}", f"{numbers[0]} is not before the suffix", _FORM, code="log-name")
    return LogFile(path, canonical_name(layout), int(numbers[0]) if numbers else 0)


def from_table(table: Path) -> list[LogFile]:
    """Logs of a CSV file ``file,layout[,repeat]``; files are relative to its folder.

    Raises:
        TesseraError: the header or a row has another form, a file is missing or listed twice.
    """
    try:
        with table.open(encoding="utf-8", newline="") as stream:
            lines = [line for line in csv.reader(stream, strict=True) if line]
    except OSError as error:
        raise TesseraError(f"table {table}", error.strerror or str(error), "check the path") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise TesseraError(f"table {table}", str(error), "give a CSV file in UTF-8") from error
    header = [name.strip() for name in lines[0]] if lines else []
    if header not in _HEADERS:
        raise TesseraError(
            f"table {table}", f"header {','.join(header) or 'missing'}", "use the header file,layout,repeat"
        )
    found = []
    for number, cells in enumerate(lines[1:], start=2):
        words = [cell.strip() for cell in cells]
        repeat = words[2] if len(words) > 2 else "0"
        good = len(words) == len(header) and all(words) and _REPEAT.fullmatch(repeat)
        if not good:
            raise TesseraError(
                f"table {table} row {number}", f"'{','.join(words)}'", "give file,layout,repeat (from 0)"
            )
        path = table.parent / words[0]
        if not _is(Path.is_file, path):
            raise TesseraError(f"table {table} row {number}", f"{path}: no such file", "check the path")
        if path in {log.path for log in found}:
            raise TesseraError(f"table {table} row {number}", f"{path} is listed twice", "list it once")
        found.append(LogFile(path, canonical_name(words[1]), int(repeat)))
    if not found:
        raise TesseraError(f"table {table}", "it lists no file", "add rows file,layout,repeat")
    return found


def _is(kind: Callable[[Path], bool], path: Path) -> bool:
    """``Path.is_file`` and ``is_dir``; a name that no file can have (too long) is none."""
    try:
        return kind(path)
    except OSError:
        return False
