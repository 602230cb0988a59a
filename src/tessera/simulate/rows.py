"""The output of ``tessera-sim run``, as rows with the names of the caller's files.

It names a row by its file's stem, so each layout gets a unique short name for the run.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

#: (layout file, row of the simulator, its units)
Keep = Callable[[Path, dict, list[dict]], None]
TEXT = ("layout", "status", "message")
#: Columns of ``--interval-out``: what a unit's timed part counted, unscaled.
UNIT_COLUMNS = (
    "layout", "unit", "start_access", "instructions", "accesses",
    "stlb_misses", "walk_cycles", "runtime_cycles",
)  # fmt: skip


class Rows:
    """The simulator's output, as rows and units with the names of the caller's files."""

    def __init__(self, folder: Path, copies: dict[str, Path], keep: Keep):
        self.folder, self.copies, self.keep = folder, copies, keep
        self.columns: list[str] = []
        self.seen = 0
        self.units = Units(folder / "units.csv")

    def line(self, line: str) -> None:
        """A line of stdout."""
        cells = next(csv.reader([line]))
        if not self.columns:
            self.columns = cells
            return
        row = dict(zip(self.columns, cells, strict=True))
        stem = row.pop("layout")
        path = self.copies[stem]
        message = row["message"].replace(f"{self.folder}/", "").replace(f"{stem}.csv", str(path))
        row["message"] = message
        self.seen += 1
        self.keep(path, {key: number(key, value) for key, value in row.items()}, self.units.of(stem))


class Units:
    """The file of ``--interval-out`` while it grows; a row's units are in it before the row is out."""

    def __init__(self, path: Path):
        self.path = path
        self._at = 0  # bytes that have been read
        self._columns: list[str] = []
        self._waiting: dict[str, list[dict]] = {}

    def of(self, stem: str) -> list[dict]:
        """Units of the layout that the simulator calls ``stem``, in order."""
        with self.path.open("rb") as stream:
            stream.seek(self._at)
            data = stream.read()
        whole = data[: data.rfind(b"\n") + 1]  # the next layout's may be half written
        self._at += len(whole)
        for cells in csv.reader(whole.decode().splitlines()):
            if not self._columns:
                self._columns = cells
                continue
            unit = dict(zip(self._columns, cells, strict=True))
            waiting = self._waiting.setdefault(unit.pop("layout"), [])
            waiting.append({key: number(key, value) for key, value in unit.items()})
        return self._waiting.pop(stem, [])


def number(key: str, value: str) -> str | int | float | None:
    """A cell of the simulator's CSV: text columns as they are, numbers, ``None`` for empty."""
    if key in TEXT:
        return value
    if value == "":
        return None
    return int(value) if value.lstrip("-").isdigit() else float(value)
