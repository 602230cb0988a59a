"""Every table of `results/<config>`, declared once: path, writer, columns, units, provenance, row rule.

``python -m tessera.results.describe`` generates docs/results.md from it.
"""

from __future__ import annotations

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
from tessera.results.schema.table import Column, Table

#: name -> table; the name is the stem of the file, with a prefix if several tables have the same stem.
TABLES: dict[str, Table] = {}
for _table in (
    *cells.TABLES, *models.TABLES, *studies.TABLES, *designs.TABLES, *transfer.TABLES,
    *energy.TABLES, *numa.TABLES, *scenarios.TABLES, *machine.TABLES, *faults.TABLES, *clock.TABLES,
    *virtuoso.TABLES, *kernel.TABLES, *shown.TABLES,
):  # fmt: skip
    if TABLES.setdefault(_table.name, _table) is not _table:
        raise ValueError(f"table {_table.name} is declared twice")

__all__ = ["TABLES", "Column", "Table"]
