"""What a walk cycle has cost in runtime elsewhere: slopes of other programs, as a hint and no bound.

A slope is cycles of R per cycle of C. One run of a program bounds no gain, because nothing in it tells its
own slope. The range of known slopes says how far programs differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tessera import reference
from tessera.results.cells import read_cells
from tessera.results.read import Unreadable, read
from tessera.results.schema.models import OF_RUN
from tessera.results.status import ok_rows
from tessera.results.tree import Tree

MODEL, TERM = "poly1", "C"  #: the straight line in C, and its slope
PUBLISHED = "table7_xalancbmk"  #: MICRO'20 Table 7: one program under 4KB and 2MB pages


@dataclass(frozen=True)
class Slopes:
    """``values``: slope of each pair; ``source``: where they come from, in words."""

    values: tuple[float, ...]
    source: str

    def __str__(self) -> str:
        low, high = min(self.values), max(self.values)
        shown = f"{low:.2g}" if len(self.values) == 1 else f"{low:.2g} to {high:.2g}"
        return f"{shown} ({self.source})"


def published() -> Slopes:
    """(R of 4KB - R of 2MB pages) / (C of 4KB - C of 2MB pages), as printed."""

    def difference(counter: str) -> float:
        where = {"agent": "program", "counter": counter}
        rows = reference.select(PUBLISHED, where).set_index("page_size")["value"]
        return rows["4KB"] - rows["2MB"]

    slope = difference("runtime_cycles") / difference("walk_cycles")
    return Slopes((float(slope),), "published: MICRO'20 Table 7, xalancbmk on Broadwell")


def of_results(folder: Path) -> Slopes | None:
    """Slopes of the pairs of a results folder, with the provenance of their R; None without any."""
    tree = Tree(folder)
    try:
        table, cells = read(OF_RUN["coefficients"], tree), read_cells(tree.cells)
    except Unreadable:
        return None
    rows = table[(table["model"] == MODEL) & (table["term"] == TERM)]
    if rows.empty:
        return None
    values = tuple(float(value) for value in rows["coefficient"])
    pair = ["workload", "platform"]
    kinds = sorted(set(rows[pair].merge(ok_rows(cells), on=pair)["runtime_provenance"]))
    return Slopes(values, f"{' and '.join(kinds)}: {len(values)} pairs of {folder}, model {MODEL}")


def known(folder: Path) -> Iterator[Slopes]:
    """The published slope, then those of our own pairs if there are any."""
    yield published()
    if found := of_results(folder):
        yield found
