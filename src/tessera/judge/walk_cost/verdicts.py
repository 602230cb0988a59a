"""``verdicts.csv``: simulated claims at both ends of a walk's cost (`tessera study walk-cost` writes it)."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tessera.core.errors import TesseraError

FILE = Path(__file__).with_name("verdicts.csv")
#: column ``depends_on`` of claims.csv, where verdicts differ between the ends
DEPENDS_ON = "the walk's cost"
REMEDY = "write it again: ./run tessera study walk-cost --help"


class Ends(NamedTuple):
    """One claim at both ends; the fields are the columns of the file."""

    id: str
    verdict_lower: str
    verdict_upper: str
    obtained_lower: str
    obtained_upper: str

    @property
    def differs(self) -> bool:
        return self.verdict_lower != self.verdict_upper


def read(path: Path = FILE) -> tuple[Ends, ...]:
    """All claims of the file, in its order.

    Raises:
        TesseraError: other columns, an empty identifier or verdict, or a claim twice.
    """
    with path.open(encoding="utf-8", newline="") as stream:
        header, *rows = list(csv.reader(stream)) or [[]]
    if tuple(header) != Ends._fields:
        raise _bad(path, 1, f"columns {', '.join(header)}; expected {', '.join(Ends._fields)}")
    found: dict[str, Ends] = {}
    for number, row in enumerate(rows, 2):
        if len(row) != len(Ends._fields) or not all(row[:3]):
            raise _bad(path, number, "a claim needs an identifier and two verdicts")
        if row[0] in found:
            raise _bad(path, number, f"claim '{row[0]}' is there twice")
        found[row[0]] = Ends(*row)
    return tuple(found.values())


@cache
def committed() -> tuple[Ends, ...]:
    """The committed file."""
    return read()


def dependent() -> frozenset[str]:
    """Claims whose verdict differs between the ends."""
    return frozenset(one.id for one in committed() if one.differs)


def _bad(path: Path, line: int, found: str) -> TesseraError:
    return TesseraError(f"verdicts at both ends, {path.name} line {line}", found, REMEDY)
