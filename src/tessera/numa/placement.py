"""Placements of a program on one socket: where it runs, its page tables, its data, and a hog (Table 2).

The seven configurations are read from ``reference-results/mitosis_table2.csv``. ``+M`` behind a name means
that Mitosis has moved the page tables to the socket of the program. A name that starts with T (2MB pages) is
no other placement: the page sizes are those of the layout.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tessera import reference
from tessera.core.errors import TesseraError, unknown_name

MIGRATED = "+M"
LOCAL = "LP-LD"  #: everything on one socket, no interference: what a cell of one socket measures
_NONE = "none"


@dataclass(frozen=True)
class Placement:
    """One configuration; sockets by the paper's names A and B, ``hog`` None without interference."""

    name: str
    program: str
    tables: str
    data: str
    hog: str | None

    @property
    def hogged_tables(self) -> bool:
        """The memory that holds the page tables is the one that the hog uses."""
        return self.hog == self.tables

    def migrated(self) -> Placement:
        """The same with the page tables on the socket of the program."""
        return replace(self, name=self.name + MIGRATED, tables=self.program)


def placements() -> dict[str, Placement]:
    """The configurations of Table 2 by name, in the order of the file."""
    found = {}
    for name, rows in reference.load("mitosis_table2").groupby("configuration", sort=False):
        place = dict(zip(rows["part"], rows["place"], strict=True))
        hog = None if place["interference"] == _NONE else place["interference"]
        found[str(name)] = Placement(str(name), place["program"], place["page tables"], place["data"], hog)
    return found


def placement(name: str) -> Placement:
    """The placement of this name, with ``+M`` or without.

    Raises:
        TesseraError: an unknown name; names with T say how to choose 2MB pages.
    """
    known = placements()
    base = name.removesuffix(MIGRATED)
    if base in known:
        return known[base] if base == name else known[base].migrated()
    if base.startswith("T") and base[1:] in known:
        raise TesseraError(
            f"configuration '{name}'",
            "T stands for 2MB pages, which are a property of the layout",
            f"give --config {name[1:]} --layout 2mb (a bound: Linux gives a program only some 2MB pages)",
            code="numa-2mb",
        )
    raise unknown_name("configuration", name, [*known, f"one of them with {MIGRATED}"])
