"""The operating system: what the kernel did to a program, and what a page fault costs."""

from __future__ import annotations

import re

import pandas as pd

from tessera.core import scenarios
from tessera.core.files import repo_root
from tessera.core.results.os_tables import (
    FAULT_LATENCY,
    FAULT_SHARES,
    FAULT_TIME_COMBS,
    FAULT_TIMES,
    SCENARIO_AREAS,
    SCENARIO_CELLS,
    SIMULATOR_COSTS,
)
from tessera.core.results.outcomes import ok_rows, other_rows
from tessera.core.units import MB
from tessera.lab.faults.virtuoso_claims import judge_claims
from tessera.report.page_elements import figures_on

# What Linux policies do to a program: the study of scenarios, and how far Linux decided the same.

#: Has the table of decisions that were compared with a running kernel.
ORACLE_PAGE = "docs/results/os-oracle.md"
_COMPARED = re.compile(
    r"^\| (?P<what>[^|]+) \| (?P<number>[\d,]+) \| (?P<equal>[\d,]+) \| [^|]+ \|$", re.MULTILINE
)
SCENARIOS_HREF = "scenarios.html"


def scenarios_page(facts) -> dict:
    everything = facts.results.read(SCENARIO_CELLS, expected=False)
    cells = ok_rows(everything)
    return {
        "title": "What Linux policies do to a program",
        "figures": [facts.figure(name) for name in figures_on(SCENARIOS_HREF)],
        "scenarios": _described(everything),
        "rows": [_scenario_row(row) for row in cells.to_dict("records")],
        "areas": facts.results.read(SCENARIO_AREAS, expected=False).to_dict("records"),
        "failed": other_rows(everything).to_dict("records"),
        "compared": compared_decisions((repo_root() / ORACLE_PAGE).read_text()),
    }


def compared_decisions(text: str) -> list[dict]:
    """Rows of the oracle's page: what was compared with Linux, how many decisions, how many were equal."""
    return [
        {
            "what": found["what"].strip(),
            "number": int(found["number"].replace(",", "")),
            "equal": int(found["equal"].replace(",", "")),
        }
        for found in _COMPARED.finditer(text)
    ]


def _described(rows: pd.DataFrame) -> list[dict]:
    """Scenarios of the table with their sentences; a user's own file has none here."""
    known = set(scenarios.scenario_names())
    names = list(dict.fromkeys(rows.loc[rows["pages"] == "scenario", "name"]))
    return [
        {"name": n, "sentence": scenarios.load_scenario(n).description if n in known else ""} for n in names
    ]


def _scenario_row(row: dict) -> dict:
    """A cell; counts that a layout has not are None."""
    counts = ("faults", "major_faults", "swapped_out_pages", "areas")
    sizes = ("most_mapped_bytes", "most_2mb_bytes")
    return row | {k: _known_or_none(row[k]) for k in counts} | {k: _known_or_none(row[k], MB) for k in sizes}


def _known_or_none(value, unit: int = 1):
    return None if pd.isna(value) else value / unit


# What a page fault costs: latencies on this machine, and programs with the kernel work of their faults.

FAULTS_HREF = "faults.html"
QUANTILE_SHARES = (0.01, 0.5, 0.9, 0.99, 0.999)  #: of the quantiles that the page shows


def faults_page(facts) -> dict:
    everything = facts.results.read(FAULT_SHARES, expected=False)
    rows = ok_rows(everything).to_dict("records")
    return {
        "title": "What a page fault costs",
        "figures": [facts.figure(name) for name in figures_on(FAULTS_HREF)],
        "rows": [_fault_row(row) for row in rows],
        "judged": [_claim(row) for row in judge_claims(everything).to_dict("records")] if rows else [],
        "shares": QUANTILE_SHARES,
        "times": _fault_times(facts.results.read(FAULT_TIMES, expected=False)),
        "measured": _measured_latencies(facts.results.read(FAULT_LATENCY, expected=False)),
        "costs": facts.results.read(SIMULATOR_COSTS, expected=False).to_dict("records"),
        "combs": facts.results.read(FAULT_TIME_COMBS, expected=False).to_dict("records"),
        "failed": other_rows(everything).to_dict("records"),
    }


def _fault_times(rows: pd.DataFrame) -> list[dict]:
    """A line for each program, scenario and kind: quantiles in cycles and in us."""
    keys = ["workload", "platform", "scenario", "kind", "faults", "provenance"]
    lines = []
    for values, mine in rows.groupby(keys, sort=False):
        at = mine.set_index("share")
        us = [None if pd.isna(at.loc[share, "us"]) else at.loc[share, "us"] for share in QUANTILE_SHARES]
        cycles = [at.loc[share, "cycles"] for share in QUANTILE_SHARES]
        lines.append(dict(zip(keys, values, strict=True)) | {"cycles": cycles, "us": us})
    return lines


def _measured_latencies(rows: pd.DataFrame) -> list[dict]:
    """A line for each kind of touch of this machine: quantiles in us."""
    return [
        {
            "kind": kind, "provenance": provenance,
            "us": [mine.set_index("share").loc[share, "ns"] / 1e3 for share in QUANTILE_SHARES],
        }
        for (kind, provenance), mine in rows.groupby(["kind", "provenance"], sort=False)
    ]  # fmt: skip


def _fault_row(row: dict) -> dict:
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
