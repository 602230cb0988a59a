"""Types that describe a table of results: its path, writer, columns, and which rows count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from tessera.core.results.tree import ResultsTree

TEXT, COUNT, NUMBER, TRUTH = "text", "count", "number", "truth"
#: text: may be empty; count: a whole number; number: a double; truth: True or False. Each may be missing.
KINDS = (TEXT, COUNT, NUMBER, TRUTH)
STATUS = "status"  #: in a table with this column, only rows with `ok` count


@dataclass(frozen=True)
class Column:
    """``unit`` is ``-`` for text and truth values, ``1`` for numbers without a unit."""

    name: str
    kind: str
    unit: str
    about: str


@dataclass(frozen=True)
class Table:
    """One kind of file below ``results/<config>``.

    ``place`` gives the path in a tree. If there is one file per workload (and platform), it takes their names
    as arguments; without them the path has ``*`` for each.
    ``provenance``: ``measured``, ``simulated`` or ``published`` if it is the same for all numbers; ``column``
    if a column gives it for each row; ``none`` if the table has no experimental numbers.
    ``needs``: a row without a value in this column does not count (e.g. a model that cannot be fitted).
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
    float_format: str | None = None  #: printf format; None: enough digits to read back the same double

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(column.name for column in self.columns)

    def of_kind(self, *kinds: str) -> list[str]:
        """Names of the columns of these kinds."""
        return [column.name for column in self.columns if column.kind in kinds]

    @property
    def pattern(self) -> str:
        """Path inside the tree."""
        return self.place(ResultsTree(Path())).as_posix()

    @property
    def file(self) -> str:
        """Name of the file; ``*.csv`` if a platform or the like gives the name."""
        return PurePath(self.pattern).name

    @property
    def rule(self) -> str:
        """Which rows count, as text."""
        if STATUS in self.names:
            return "rows whose `status` is `ok`"
        return f"rows with a value in `{self.needs}`" if self.needs else "every row"

    def with_columns(self, front: tuple[Column, ...], **changes) -> Table:
        """The same table with ``front`` before its columns."""
        return replace(self, columns=(*front, *self.columns), **changes)


def columns(text: str) -> tuple[Column, ...]:
    """Columns from lines of ``name kind unit description``."""
    found = tuple(Column(*line.split(None, 3)) for line in text.strip().splitlines())
    wrong = [column.name for column in found if column.kind not in KINDS]
    if wrong or len({column.name for column in found}) != len(found):
        raise ValueError(f"columns declared wrongly or twice: {wrong or [c.name for c in found]}")
    return found


PAIR = columns("""
workload  text  -  workload
platform  text  -  platform
""")
MESSAGE = columns("message  text  -  why the numbers are missing, or a remark about them")
PROVENANCE = columns("provenance  text  -  measured, simulated or published")
