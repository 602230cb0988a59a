"""Tables for people, laid out by rich: styled and folded to the width of a terminal, plain text elsewhere.

rich is imported at the first table, so that commands without one start as fast as before.
"""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Collection, Iterable, Sequence

from tessera.core.terminal import shown, unescaped

#: Wide enough that nothing is folded in a pipe, a log or a file.
_UNLIMITED = 100_000


def table_text(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Collection[int] = (),
    whole: Collection[int] = (),
    width: int | None = None,
) -> str:
    """The table as plain lines, two spaces between columns.

    Args:
        heads: names of the columns; empty for a table without a head.
        rows: cells, as many in each row.
        right: columns that are aligned to the right.
        whole: columns whose cells are never folded.
        width: characters of a line, at most; longer cells are folded. None: no limit.
    """
    from rich.console import Console

    stream = io.StringIO()
    console = Console(
        file=stream, width=width or _UNLIMITED, color_system=None, force_terminal=False, force_jupyter=False
    )
    console.print(_laid_out(heads, rows, right, whole))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def print_table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Collection[int] = (),
    whole: Collection[int] = (),
) -> None:
    """Print the table: as wide as the terminal, or plain lines of any width if stdout is not a terminal."""
    rows = list(rows)
    if not heads and not rows:
        return
    if not sys.stdout.isatty():
        print(table_text(heads, rows, right=right, whole=whole))
        return
    from rich.console import Console

    shown_rows = [[shown(cell) for cell in row] for row in rows]
    console = Console(file=unescaped(sys.stdout), force_jupyter=False)
    console.print(_laid_out([shown(head) for head in heads], shown_rows, right, whole))


def frame_rows(frame, digits: int | None = None, missing: str = "NaN") -> dict:
    """A pandas table as arguments of :func:`print_table`; numbers are aligned to the right.

    Args:
        digits: decimals of floating-point numbers; None: as Python writes them.
        missing: what stands for a value that is missing.
    """
    from pandas import NA
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    def cell(value) -> str:
        if value is NA or (isinstance(value, float) and math.isnan(value)):
            return missing
        if not isinstance(value, float):
            return str(value)
        return str(value) if digits is None else f"{value:.{digits}f}"

    numeric = [is_numeric_dtype(kind) and not is_bool_dtype(kind) for kind in frame.dtypes]
    return {
        "heads": [str(name) for name in frame.columns],
        "rows": [[cell(value) for value in row] for row in frame.itertuples(index=False, name=None)],
        "right": [at for at, is_number in enumerate(numeric) if is_number],
    }


def _laid_out(heads, rows, right, whole):
    from rich.table import Table
    from rich.text import Text

    rows = list(rows)
    table = Table(box=None, show_header=bool(heads), padding=(0, 2), collapse_padding=True, pad_edge=False)
    for at, head in enumerate(heads or [""] * len(rows[0] if rows else ())):
        table.add_column(
            Text(head), justify="right" if at in right else "left", no_wrap=at in whole, overflow="fold"
        )
    for row in rows:  # as Text: cells hold brackets and colons, which rich would read as markup
        table.add_row(*map(Text, row))
    return table
