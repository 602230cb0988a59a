"""Which run a log belongs to: from its name, or from a table.

``LAYOUT.perf``, ``LAYOUT.PASS.perf`` or ``LAYOUT.PASS.REPEAT.perf``: the part before the first dot is the
layout, a number before the suffix is the repeat. Logs of equal layout and repeat are passes of one run. A
table ``file,layout[,repeat]`` names files of any other form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.table_file import read_table
from tessera.layouts.model import canonical_name, name_notes

_FORM = "name it LAYOUT.PASS.perf or LAYOUT.PASS.REPEAT.perf, or give --table with file,layout,repeat"
_REPEAT = re.compile(r"\d{1,9}", re.ASCII)
_COLUMNS = ("file", "layout", "repeat")


@dataclass(frozen=True)
class LogFile:
    """A log, and the run that it was recorded in; ``given`` is the name of the layout as it was written."""

    path: Path
    layout: str
    repeat: int = 0
    given: str = field(default="", compare=False)


def notes(files: Iterable[LogFile]) -> list[str]:
    """A note for the user on each layout that was written in another spelling."""
    return name_notes(log.given for log in files)


def from_names(paths: Iterable[Path]) -> list[LogFile]:
    """Logs by their names; a folder stands for its files, sorted, without hidden ones.

    Raises:
        TesseraError: a file does not exist, its name has another form, or two layouts differ only in case.
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
    return _one_case([_from_name(path) for path in files])


def _from_name(path: Path) -> LogFile:
    layout, *others = path.name.split(".")
    numbers = [part for part in others[:-1] if part.isdecimal() and part.isascii()]
    if not layout or not others or len(others) > 3 or len(numbers) > 1:
        raise TesseraError(f"log {path}", "its name does not say the layout", _FORM, code="log-name")
    if numbers and others[-2] != numbers[0]:
        raise TesseraError(f"log {path}", f"{numbers[0]} is not before the suffix", _FORM, code="log-name")
    return _log(path, layout, int(numbers[0]) if numbers else 0, f"log {path}")


def _log(path: Path, layout: str, repeat: int, where: str) -> LogFile:
    name = canonical_name(layout)
    if not name or not name.isprintable():
        raise TesseraError(where, f"the layout {layout!r} is no printable name", _FORM, code="log-name")
    return LogFile(path, name, repeat, layout)


def from_table(table: Path) -> list[LogFile]:
    """Logs of a CSV file ``file,layout[,repeat]``; files are relative to its folder.

    Raises:
        TesseraError: the header or a row has another form, a file is missing or listed twice.
    """
    owner = f"table {table}"
    lines = read_table(table, owner, _COLUMNS).frame
    header = [name for name in _COLUMNS if name in lines.columns]
    if len(header) < len(lines.columns) or header[:2] != [*_COLUMNS[:2]]:
        found = f"header {','.join(lines.columns)}"
        raise TesseraError(owner, found, "use the header file,layout,repeat", code="table-header")
    found: dict[Path, LogFile] = {}
    for line, *words in lines[header].itertuples(name=None):
        repeat = words[2] if len(words) > 2 else "0"
        where = f"{owner} line {line}"
        if not all(words) or not _REPEAT.fullmatch(repeat):
            raise TesseraError(where, f"'{','.join(words)}'", "give file,layout,repeat (from 0)")
        path = table.parent / words[0]
        if not _is(Path.is_file, path):
            raise TesseraError(where, f"{path}: no such file", "check the path")
        log = _log(path, words[1], int(repeat), where)
        if found.setdefault(path.resolve(), log) is not log:
            raise TesseraError(where, f"{path} is listed twice", "list it once")
    if not found:
        raise TesseraError(f"table {table}", "it lists no file", "add rows file,layout,repeat")
    return _one_case(list(found.values()))


def _one_case(files: list[LogFile]) -> list[LogFile]:
    """Refuse layouts whose names differ only in their case: no fit would take both."""
    first: dict[str, LogFile] = {}
    for log in files:
        other = first.setdefault(log.layout.casefold(), log)
        if other.layout != log.layout:
            found = f"layout {log.layout}, and {other.layout} of {other.path}: they differ only in their case"
            raise TesseraError(
                f"log {log.path}", found, "write a layout's name alike in all logs", code="log-name"
            )
    return files


def _is(kind: Callable[[Path], bool], path: Path) -> bool:
    """``Path.is_file`` and ``is_dir``; a name that no file can have (too long) is none."""
    try:
        return kind(path)
    except OSError:
        return False
