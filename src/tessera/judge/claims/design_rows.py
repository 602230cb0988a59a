"""Rows of the study of translation designs (``studies/designs``) for claims; each must be there and ok."""

from __future__ import annotations

import pandas as pd

from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.outcome import REPRODUCE, Missing
from tessera.results.schema.designs import DESIGN_CELLS, DESIGN_STRUCTURES
from tessera.results.status import FAILED, is_ok

PLATFORM = "park-haswell"
PROVENANCE = "simulated"  #: of every row


def cell(evidence: Evidence, workload: str, design: str, mapping: str) -> pd.Series:
    """The row of a design under a mapping.

    Raises:
        Missing: the study lacks the workload, the mapping or the design, or the row is not ok.
    """
    found = evidence.table(DESIGN_CELLS)
    found = found[found["platform"] == PLATFORM]
    for column, wanted in (("workload", workload), ("mapping", mapping), ("design", design)):
        found = found[found[column] == wanted]
        if found.empty:
            add = f"./run reproduce with a configuration that has {wanted} in studies.designs"
            raise Missing(f"the study of designs has no {column} {wanted}{_of(column, workload)}", add)
    row = found.iloc[0]
    if not is_ok(row["status"]):
        again = (
            REPRODUCE if row["status"] == FAILED else "tessera study designs with a mapping that it accepts"
        )
        raise Missing(f"{workload}, {design}, {mapping}: {row['status']}: {row['message']}", again)
    return row


def number(evidence: Evidence, workload: str, design: str, mapping: str, column: str) -> float:
    """One number of that row; :class:`Missing` if it is empty (for example the change of a count of 0)."""
    value = float(cell(evidence, workload, design, mapping)[column])
    if value != value:
        raise Missing(f"{workload}, {design}, {mapping}: no {column}")
    return value


def structure(evidence: Evidence, workload: str, design: str, mapping: str, name: str) -> pd.Series:
    """Counts of a structure of the design, if its cell is ok.

    Raises:
        Missing: there is no such cell, or the design has no such structure.
    """
    cell(evidence, workload, design, mapping)
    rows = evidence.table(DESIGN_STRUCTURES, REPRODUCE)
    wanted = {
        "platform": PLATFORM,
        "workload": workload,
        "design": design,
        "mapping": mapping,
        "structure": name,
    }
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    if rows.empty:
        raise Missing(f"{workload}, {design}, {mapping}: no structure {name}", REPRODUCE)
    return rows.iloc[0]


def saving(evidence: Evidence, workload: str, design: str, mapping: str) -> float:
    """Misses of the design ``baseline`` that a design saves under the same mapping, percent."""
    return -number(evidence, workload, design, mapping, "misses_to_baseline_percent")


def _of(column: str, workload: str) -> str:
    return "" if column == "workload" else f" of {workload}"
