"""Read the archived reference data of Mitosis into one tidy table: one published number a row.

The files are tab-separated, in three layouts: cycles of a workload under a configuration (Figures 6, 9-11),
remote leaf entries by socket (Figure 4), and cycles of memory operations (Table 5, a header before each
block). Lines without text separate blocks. Table 5's per-page columns are quotients of its others and are
left out.

``workload`` is the program or operation; ``configuration`` the placement of data and page tables (Tables 2
and 3), the socket, or ``on`` and ``off``. ``page_size`` is 2MB for configurations that start with T.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.reference.records import ArchivedRecord, RecordTable
from tessera.core.results.report_tables import REFERENCE

COLUMNS = REFERENCE["archived"].names

_CYCLES = (["Runtime Cycles", "runtime"], ["Walk Cycles", "walk"], ["Non-Walk Cycles", "non_walk"])
_STATISTICS = ("min", "avg", "99th", "max")
_OPERATIONS = ("label", "npages", "pagesize", "mitosis", *_STATISTICS)
_OPERATION_NAMES = {"MAP": "mmap", "PROTECT": "mprotect", "UNMAP": "munmap"}

Line = tuple[int, list[str]]


def read_archived(record: ArchivedRecord, folder: Path) -> pd.DataFrame:
    """All numbers of a record's tables; columns are :data:`COLUMNS`, ``line`` counts from 1.

    A file that holds no number gives no row (a rule of :mod:`tessera.core.reference.quarantine` reports it).

    Raises:
        TesseraError: a listed file is missing, or breaks its layout (file and line are named).
    """
    rows = []
    for table in record.tables:
        path = folder / table.file
        if not path.is_file():
            raise TesseraError(
                f"{table.location} of record {record.name}",
                f"{path} is missing",
                f"tessera dev reference fetch {record.name}, or give --from a folder with {table.file}",
                exit_code=EXIT_FAILED,
            )
        for row in LAYOUTS[table.layout](table, _lines(table, path)):
            rows.append(_common(record, table) | row)
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).astype({"line": "int64", "value": "float64"})
    return _mark_repeats(frame)


def _mark_repeats(frame: pd.DataFrame) -> pd.DataFrame:
    """``note`` of a number that an earlier file holds for the same workload and configuration."""
    same = ["workload", "configuration", "region_bytes", "quantity", "value"]
    first = frame.groupby(same, sort=False)["file"].transform("first")
    repeats = first != frame["file"]
    frame.loc[repeats, "note"] = "the same measurement as in " + first[repeats] + ": count it once"
    return frame


def cycles_rows(table: RecordTable, lines: list[Line]) -> Iterator[dict]:
    """``Workload, Config[uration], Runtime Cycles, Walk Cycles, Non-Walk Cycles``."""
    for number, cells in _body(table, lines, lambda cells: cells[2:] == [name for name, _ in _CYCLES]):
        _require(table, number, len(cells) == 5 and cells[0] and cells[1], f"5 columns, found {cells}")
        size = "2MB" if cells[1].startswith("T") else "4KB"
        for (_, quantity), text in zip(_CYCLES, cells[2:], strict=True):
            yield {
                "line": number,
                "workload": cells[0],
                "configuration": cells[1],
                "page_size": size,
                "quantity": quantity,
                "value": _number(table, number, text),
                "unit": "cycles",
            }


def remote_leaf_rows(table: RecordTable, lines: list[Line]) -> Iterator[dict]:
    """``Workloads, Socket 0, Socket 1, ...`` in percent."""
    header = lines[0][1] if lines else []
    sockets = [f"Socket {socket}" for socket in range(len(header) - 1)]
    for number, cells in _body(table, lines, lambda cells: cells[1:] == sockets and len(cells) > 1):
        _require(table, number, len(cells) == len(header), f"{len(header)} columns, found {cells}")
        for socket, text in zip(sockets, cells[1:], strict=True):
            value = _number(table, number, text.removesuffix("%"))
            percent = text.endswith("%") and value <= 100
            _require(table, number, percent, f"a share between 0% and 100%, found '{text}'")
            yield {
                "line": number,
                "workload": cells[0],
                "configuration": socket.lower(),
                "quantity": "remote_leaf_entries",
                "value": value,
                "unit": "percent",
            }


def operations(table: RecordTable, lines: list[Line]) -> Iterator[dict]:
    """``label, npages, pagesize, mitosis, min, avg, 99th, max`` and four quotients; ``mitosis`` is 1 or 0."""
    wanted = len(_OPERATIONS)
    for number, cells in _body(table, lines, lambda cells: tuple(cells[:wanted]) == _OPERATIONS):
        _require(table, number, len(cells) == 12 and cells[3] in "01", f"12 columns, found {cells}")
        label, shared = cells[0].removesuffix("_SHARED"), cells[0].endswith("_SHARED")
        known = ", ".join(_OPERATION_NAMES)
        _require(table, number, label in _OPERATION_NAMES, f"one of {known}, found {cells[0]}")
        pages, page_bytes = (int(_number(table, number, text)) for text in cells[1:3])
        for statistic, text in zip(_STATISTICS, cells[4:8], strict=True):
            yield {
                "line": number,
                "workload": _OPERATION_NAMES[label] + (" shared" if shared else ""),
                "configuration": "on" if cells[3] == "1" else "off",
                "page_size": f"{page_bytes // 1024}KB",
                "region_bytes": pages * page_bytes,
                "quantity": statistic,
                "value": _number(table, number, text),
                "unit": "cycles",
            }


LAYOUTS: dict[str, Callable[[RecordTable, list[Line]], Iterator[dict]]] = {
    "cycles": cycles_rows,
    "remote_leaves": remote_leaf_rows,
    "operations": operations,
}


def _lines(table: RecordTable, path: Path) -> list[Line]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise _broken(table, 0, f"text, found {error}") from None
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    return [(number, [cell.strip() for cell in line.split("\t")]) for number, line in lines]


def _body(table: RecordTable, lines: list[Line], is_header: Callable[[list[str]], bool]) -> Iterator[Line]:
    """The lines below a header; the header may be repeated."""
    for position, (number, cells) in enumerate(lines):
        if is_header(cells):
            continue
        _require(table, number, position > 0, f"the header of layout '{table.layout}', found {cells}")
        yield number, cells


def _number(table: RecordTable, line: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    _require(table, line, math.isfinite(value) and value >= 0, f"a number of 0 or more, found '{text}'")
    return value


def _common(record: ArchivedRecord, table: RecordTable) -> dict:
    row = dict.fromkeys(COLUMNS, "")
    return row | {
        "paper": record.paper,
        "location": table.location,
        "section": table.section,
        "file": table.file,
        "provenance": "published",
    }


def _require(table: RecordTable, line: int, holds: object, wanted: str) -> None:
    if not holds:
        raise _broken(table, line, wanted)


def _broken(table: RecordTable, line: int, wanted: str) -> TesseraError:
    return TesseraError(
        f"archived {table.file}, line {line}",
        f"expected {wanted}",
        "compare the file with its record; for a new layout, extend src/tessera/core/reference/archived.py",
        exit_code=EXIT_FAILED,
    )
