"""Every table of `results/<config>`, declared once: path, writer, columns, units, provenance, row rule.

``python -m tessera.core.results.catalogue`` generates docs/reference/tables.md from it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from tessera.core.files import repo_root, write_text
from tessera.core.results import (
    cell_tables,
    kernel_tables,
    machine_tables,
    os_tables,
    report_tables,
    study_tables,
    transfer_tables,
)
from tessera.core.results.schema import Table
from tessera.core.results.tree import FOLDERS, ResultsTree

#: name -> table; the name is the stem of the file, with a prefix if several tables have the same stem.
TABLES: dict[str, Table] = {}
for _table in (
    *cell_tables.CELL_TABLES, *cell_tables.RUNTIME_MODEL_TABLES,
    *study_tables.STUDY_TABLES, *study_tables.DESIGN_TABLES, *transfer_tables.TRANSFER_TABLES,
    *study_tables.ENERGY_TABLES, *kernel_tables.NUMA_TABLES, *os_tables.SCENARIO_TABLES,
    *machine_tables.MACHINE_TABLES, *os_tables.MACHINE_FAULT_TABLES, *machine_tables.CLOCK_TABLES,
    *os_tables.PROGRAM_FAULT_TABLES, *kernel_tables.KERNEL_TABLES, *report_tables.REPORT_TABLES,
):  # fmt: skip
    if TABLES.setdefault(_table.name, _table) is not _table:
        raise ValueError(f"table {_table.name} is declared twice")

# The page docs/reference/tables.md.

RESULTS_PAGE = "docs/reference/tables.md"
_WIDE = ("kernel/*/*", "layouts/*/*/*.csv")  #: other files whose path has that of a table in it
_TITLE = """# Tables of a results folder

This page lists every table below `results/<config>/`, and at its end the other files.
`tessera.core.results.catalogue` generates it from the `*_tables` files and `tree.py` beside it; to change a
column, change it there. In paths, `*` is the name of a workload, a
platform or the like.

A *count* is a whole number, a *number* is a double, *truth* is True or False, and *text* is a string. A cell
of any kind may be empty. Unless a table states otherwise, every row counts. Numbers have enough digits to
read back the same double, except in tables with a `float_format` in the schema.
"""
#: (title, tables); a table with the same columns as an earlier one only refers to it
_GROUPS = (
    ("Layouts and cells", cell_tables.CELL_TABLES),
    ("Models", (*cell_tables.MODELS_OF_RUN.values(), *cell_tables.MODELS_OF_PAIR.values())),
    ("Studies", (*study_tables.STUDY_TABLES, *study_tables.DESIGN_TABLES, *transfer_tables.TRANSFER_TABLES)),
    ("Energy, and hit rates by the size of L3", study_tables.ENERGY_TABLES),
    ("Placement of page tables and data", kernel_tables.NUMA_TABLES),
    ("One program under scenarios of an operating system", os_tables.SCENARIO_TABLES),
    ("One program with the kernel work of its page faults", os_tables.PROGRAM_FAULT_TABLES),
    (
        "Measurements on this machine, and validation",
        (*machine_tables.MACHINE_TABLES, *os_tables.MACHINE_FAULT_TABLES, *machine_tables.CLOCK_TABLES),
    ),
    ("The kernel's parts", kernel_tables.KERNEL_TABLES),
    ("Claims, workloads and published numbers", report_tables.REPORT_TABLES),
)


def results_page() -> str:
    """The text of the page."""
    lines = [_TITLE]
    for title, tables in _GROUPS:
        known: dict[tuple, str] = {}
        lines.append(f"## {title}\n")
        for table in tables:
            lines += _table_lines(table, known)
    return "\n".join((*lines, *_other_files()))


def members() -> dict[str, tuple[str, str]]:
    """Member of :class:`ResultsTree` for files -> its path, with ``*`` for every argument, and what it is."""
    tree, found = ResultsTree(Path()), {}
    for name, member in inspect.getmembers(ResultsTree):
        if not name.startswith("_") and name not in FOLDERS:
            call = getattr(member, "fget", None) or member
            path = call(tree, *["*"] * (len(inspect.signature(call).parameters) - 1))
            found[name] = path.as_posix(), (inspect.getdoc(member) or "").replace("``", "`")
    return found


def _other_files() -> Iterator[str]:
    yield "## Other files\n\n| path | content |\n|---|---|"
    for path, about in sorted(members().values()):
        if path in _WIDE or not any(fnmatch(table.pattern, path) for table in TABLES.values()):
            yield f"| `{path}` | {about} |"
    yield ""


def _table_lines(table: Table, known: dict[tuple, str]) -> Iterator[str]:
    counts = "" if table.rule == "every row" else f" Only {table.rule} count."
    yield f"### `{table.pattern}`\n"
    about = table.about[0].upper() + table.about[1:]
    yield f"{about}. Written by `{table.writer}`; {_provenance_text(table)}.{counts}\n"
    same = known.setdefault(table.columns, table.pattern)
    in_front = known.get((*cell_tables.PAIR, *table.columns))
    if in_front:
        yield f"Columns: those of `{in_front}` without `workload` and `platform`.\n"
    elif same != table.pattern:
        yield f"Columns: those of `{same}`.\n"
    else:
        yield "| column | kind | unit | meaning |\n|---|---|---|---|"
        yield from (f"| `{c.name}` | {c.kind} | {_unit_text(c.unit)} | {c.about} |" for c in table.columns)
        yield ""


def _provenance_text(table: Table) -> str:
    if table.provenance == "column":
        stating = [name for name in table.names if name.endswith("provenance")]
        return f"provenance: {', '.join(f'`{name}`' for name in stating)}"
    return "no experimental numbers" if table.provenance == "none" else f"provenance: {table.provenance}"


def _unit_text(unit: str) -> str:
    return "" if unit in ("-", "1") else unit


if __name__ == "__main__":
    write_text(repo_root() / RESULTS_PAGE, results_page())
