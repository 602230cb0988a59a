"""What a table of the results is: where it lies, who writes it, its columns, and which of its rows count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from tessera.results.tree import Tree

TEXT, COUNT, NUMBER, TRUTH = "text", "count", "number", "truth"
#: text: empty where there is none; count: a whole number; number: a double; truth: True or False; or none.
KINDS = (TEXT, COUNT, NUMBER, TRUTH)
STATUS = "status"  #: rows of a table with this column count where it says `ok`


@dataclass(frozen=True)
class Column:
    """``unit`` is ``-`` for text and truth values, ``1`` for what has none."""

    name: str
    kind: str
    unit: str
    about: str


@dataclass(frozen=True)
class Table:
    """One kind of file below ``results/<config>``.

    ``place`` gives its path in a tree; where there is a file per workload (and platform), their names follow,
    and without them its path has ``*`` for each.
    ``provenance``: ``measured``, ``simulated`` or ``published`` if all numbers are; ``column`` if rows say it
    themselves; ``none`` for what is no number of an experiment.
    ``needs``: a row without a value there does not count (a model that could not be fitted).
    ``added``: columns that older files lack; they are read as empty.
    """

    name: str
    place: Callable[..., Path]
    writer: str
    provenance: str
    about: str
    columns: tuple[Column, ...]
    needs: str = ""
    added: tuple[str, ...] = ()
    float_format: str | None = None  #: digits that are written; None: as many as bring the same double back

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(column.name for column in self.columns)

    def of_kind(self, *kinds: str) -> list[str]:
        """Names of the columns of these kinds."""
        return [column.name for column in self.columns if column.kind in kinds]

    @property
    def pattern(self) -> str:
        """Its path inside the tree."""
        return self.place(Tree(Path())).as_posix()

    @property
    def file(self) -> str:
        """Name of its file; ``*.csv`` for one that is named by a platform or the like."""
        return PurePath(self.pattern).name

    @property
    def rule(self) -> str:
        """Which rows count, in words."""
        if STATUS in self.names:
            return "rows whose `status` is `ok`"
        return f"rows with a value in `{self.needs}`" if self.needs else "every row"

    def with_columns(self, front: tuple[Column, ...], **changes) -> Table:
        """The same table with columns in front of its own."""
        return replace(self, columns=(*front, *self.columns), **changes)


def columns(text: str) -> tuple[Column, ...]:
    """Columns from lines of ``name kind unit what it is``."""
    found = tuple(Column(*line.split(None, 3)) for line in text.strip().splitlines())
    wrong = [column.name for column in found if column.kind not in KINDS]
    if wrong or len({column.name for column in found}) != len(found):
        raise ValueError(f"columns declared wrongly or twice: {wrong or [c.name for c in found]}")
    return found


PAIR = columns("""
workload  text  -  workload
platform  text  -  platform
""")
MESSAGE = columns("message  text  -  why the numbers are missing, or what to know of them")
PROVENANCE = columns("provenance  text  -  measured, simulated or published")
