"""docs/results.md, made from the schema: `python -m tessera.results.describe` writes it."""

from __future__ import annotations

from collections.abc import Iterator

from tessera.core.files import write_text
from tessera.core.paths import repo_root
from tessera.results.schema import cells, kernel, machine, models, shown, studies
from tessera.results.schema.table import Table

PAGE = "docs/results.md"
_TITLE = """# Tables of a results folder

Every table below `results/<config>/`, made from `tessera.results.schema`, where a column is changed. Paths
have `*` where a workload, a platform or the like stands. A *count* is a whole number, a *number* has a
fraction, *truth* is True or False; all may be empty, and *text* too. Which rows count is said where it is not
every one. Numbers are written with as many digits as bring the same double back.
"""
#: (title, tables); each table once, or with another one whose columns it has
_GROUPS = (
    ("Layouts and cells", cells.TABLES),
    ("Models", (*models.OF_RUN.values(), *models.OF_PAIR.values())),
    ("Studies", studies.TABLES),
    ("This machine, and validation", machine.TABLES),
    ("The kernel's parts", kernel.TABLES),
    ("What people read", shown.TABLES),
)


def page() -> str:
    """The page, whole."""
    lines = [_TITLE]
    for title, tables in _GROUPS:
        known: dict[tuple, str] = {}
        lines.append(f"## {title}\n")
        for table in tables:
            lines += _table(table, known)
    return "\n".join(lines)


def _table(table: Table, known: dict[tuple, str]) -> Iterator[str]:
    counts = "" if table.rule == "every row" else f" Counted are {table.rule}."
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
        yield "| column | kind | unit | what it is |\n|---|---|---|---|"
        yield from (f"| `{c.name}` | {c.kind} | {_unit(c.unit)} | {c.about} |" for c in table.columns)
        yield ""


def _provenance(table: Table) -> str:
    if table.provenance == "column":
        stating = [name for name in table.names if name.endswith("provenance")]
        return f"provenance: {', '.join(f'`{name}`' for name in stating)}"
    return "no numbers of an experiment" if table.provenance == "none" else f"provenance: {table.provenance}"


def _unit(unit: str) -> str:
    return "" if unit in ("-", "1") else unit


if __name__ == "__main__":
    write_text(repo_root() / PAGE, page())
