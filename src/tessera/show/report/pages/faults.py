"""What a page fault costs: latencies on this machine, and programs with the kernel work of their faults."""

from __future__ import annotations

import pandas as pd

from tessera.judge.studies.virtuoso.judged import judge
from tessera.results.schema.virtuoso import FAULT_SHARES
from tessera.results.status import ok_rows, other_rows
from tessera.show.report.placing import names_on

HREF = "faults.html"


def page(facts) -> dict:
    everything = facts.results.read(FAULT_SHARES, expected=False)
    rows = ok_rows(everything).to_dict("records")
    return {
        "title": "What a page fault costs",
        "figures": [facts.figure(name) for name in names_on(HREF)],
        "rows": [_row(row) for row in rows],
        "judged": [_claim(row) for row in judge(everything).to_dict("records")] if rows else [],
        "failed": other_rows(everything).to_dict("records"),
    }


def _row(row: dict) -> dict:
    """A scenario with the cycles of a mean fault, and what faults cost beyond their own time."""
    faults = row["faults"]
    cost = row["runtime_cycles"] - row["faultless_cycles"]
    return row | {
        "cycles_per_fault": row["kernel_cycles"] / faults if faults else None,
        "cost_per_fault": cost / faults if faults else None,
        "cycles_per_walk": None if pd.isna(row["cycles_per_walk"]) else row["cycles_per_walk"],
    }


def _claim(row: dict) -> dict:
    numbers = ("published", "obtained", "with_4kb_pages")
    return row | {name: None if pd.isna(row[name]) else row[name] for name in numbers}
