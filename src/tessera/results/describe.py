"""Generate docs/results.md from the schema: `python -m tessera.results.describe`."""

from __future__ import annotations

from collections.abc import Iterator

from tessera.core.files import write_text
from tessera.core.paths import repo_root
from tessera.results.schema import (
    cells,
    clock,
    designs,
    energy,
    faults,
    kernel,
    machine,
    models,
    numa,
    scenarios,
    shown,
    studies,
    transfer,
    virtuoso,
)
from tessera.results.schema.table import Table

PAGE = "docs/results.md"
_TITLE = """# Tables of a results folder

This page lists every table below `results/<config>/`. It is generated from `tessera.results.schema`; to
change a column, change it there. In paths, `*` is the name of a workload, a platform or the like.

A *count* is a whole number, a *number* is a double, *truth* is True or False, and *text* is a string. A cell
of any kind may be empty. Unless a table states otherwise, every row counts. Numbers have enough digits to
read back the same double, except in tables with a `float_format` in the schema.
"""
#: (title, tables); a table with the same columns as an earlier one only refers to it
_GROUPS = (
    ("Layouts and cells", cells.TABLES),
    ("Models", (*models.OF_RUN.values(), *models.OF_PAIR.values())),
    ("Studies", (*studies.TABLES, *designs.TABLES, *transfer.TABLES)),
    ("Energy, and hit rates by the size of L3", energy.TABLES),
    ("Placement of page tables and data", numa.TABLES),
    ("One program under scenarios of an operating system", scenarios.TABLES),
    ("One program with the kernel work of its page faults", virtuoso.TABLES),
    ("Measurements on this machine, and validation", (*machine.TABLES, *faults.TABLES, *clock.TABLES)),
    ("The kernel's parts", kernel.TABLES),
    ("Claims, workloads and published numbers", shown.TABLES),
)


def page() -> str:
    """The text of the page."""
    lines = [_TITLE]
    for title, tables in _GROUPS:
        known: dict[tuple, str] = {}
        lines.append(f"## {title}\n")
        for table in tables:
            lines += _table(table, known)
    return "\n".join(lines)


def _table(table: Table, known: dict[tuple, str]) -> Iterator[str]:
    counts = "" if table.rule == "every row" else f" Only {table.rule} count."
    yield f"### `{table.pattern}`\n"
    about = table.about[0].upper() + table.about[1:]
    yield f"{about}. Written by `{table.writer}`; {_provenance(table)}.{counts}\n"
    same = known.setdefault(table.columns, table.pattern)
    in_front = known.get((*models.PAIR, *table.columns))
    if in_front:
        yield f"Columns: those of `{in_front}` without `workload` and `platform`.\n"
    elif same != table.pattern:
        yield f"Columns: those of `{same}`.\n"
    else:
        yield "| column | kind | unit | meaning |\n|---|---|---|---|"
        yield from (f"| `{c.name}` | {c.kind} | {_unit(c.unit)} | {c.about} |" for c in table.columns)
        yield ""


def _provenance(table: Table) -> str:
    if table.provenance == "column":
        stating = [name for name in table.names if name.endswith("provenance")]
        return f"provenance: {', '.join(f'`{name}`' for name in stating)}"
    return "no experimental numbers" if table.provenance == "none" else f"provenance: {table.provenance}"


def _unit(unit: str) -> str:
    return "" if unit in ("-", "1") else unit


if __name__ == "__main__":
    write_text(repo_root() / PAGE, page())
