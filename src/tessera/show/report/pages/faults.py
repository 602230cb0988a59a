"""What a page fault costs: latencies on this machine, and programs with the kernel work of their faults."""

from __future__ import annotations

import pandas as pd

from tessera.judge.studies.virtuoso.judged import judge
from tessera.results.schema.faults import LATENCY
from tessera.results.schema.virtuoso import (
    FAULT_SHARES,
    FAULT_TIME_COMBS,
    FAULT_TIMES,
    SIMULATOR_COSTS,
)
from tessera.results.status import ok_rows, other_rows
from tessera.show.report.placing import names_on

HREF = "faults.html"
SHARES = (0.01, 0.5, 0.9, 0.99, 0.999)  #: of the quantiles that the page shows


def page(facts) -> dict:
    everything = facts.results.read(FAULT_SHARES, expected=False)
    rows = ok_rows(everything).to_dict("records")
    return {
        "title": "What a page fault costs",
        "figures": [facts.figure(name) for name in names_on(HREF)],
        "rows": [_row(row) for row in rows],
        "judged": [_claim(row) for row in judge(everything).to_dict("records")] if rows else [],
        "shares": SHARES,
        "times": _times(facts.results.read(FAULT_TIMES, expected=False)),
        "measured": _measured(facts.results.read(LATENCY, expected=False)),
        "costs": facts.results.read(SIMULATOR_COSTS, expected=False).to_dict("records"),
        "combs": facts.results.read(FAULT_TIME_COMBS, expected=False).to_dict("records"),
        "failed": other_rows(everything).to_dict("records"),
    }


def _times(rows: pd.DataFrame) -> list[dict]:
    """A line for each program, scenario and kind: quantiles in cycles and in us."""
    keys = ["workload", "platform", "scenario", "kind", "faults", "provenance"]
    lines = []
    for values, mine in rows.groupby(keys, sort=False):
        at = mine.set_index("share")
        us = [None if pd.isna(at.loc[share, "us"]) else at.loc[share, "us"] for share in SHARES]
        cycles = [at.loc[share, "cycles"] for share in SHARES]
        lines.append(dict(zip(keys, values, strict=True)) | {"cycles": cycles, "us": us})
    return lines


def _measured(rows: pd.DataFrame) -> list[dict]:
    """A line for each kind of touch of this machine: quantiles in us."""
    return [
        {
            "kind": kind, "provenance": provenance,
            "us": [mine.set_index("share").loc[share, "ns"] / 1e3 for share in SHARES],
        }
        for (kind, provenance), mine in rows.groupby(["kind", "provenance"], sort=False)
    ]  # fmt: skip


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
