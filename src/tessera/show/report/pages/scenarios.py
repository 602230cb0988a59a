"""What the kernel did to my program: the study of scenarios, and how far Linux decided the same."""

from __future__ import annotations

import re

import pandas as pd

from tessera.core.paths import repo_root
from tessera.core.units import MB
from tessera.results.schema.scenarios import SCENARIO_AREAS, SCENARIO_CELLS
from tessera.results.status import ok_rows, other_rows
from tessera.scenarios import model
from tessera.show.report.placing import names_on

#: Has the table of decisions that were compared with a running kernel.
ORACLE_PAGE = "docs/os-oracle.md"
_COMPARED = re.compile(
    r"^\| (?P<what>[^|]+) \| (?P<number>[\d,]+) \| (?P<equal>[\d,]+) \| [^|]+ \|$", re.MULTILINE
)
HREF = "scenarios.html"


def page(facts) -> dict:
    everything = facts.results.read(SCENARIO_CELLS, expected=False)
    cells = ok_rows(everything)
    return {
        "title": "What the kernel did to my program",
        "figures": [facts.figure(name) for name in names_on(HREF)],
        "scenarios": _described(everything),
        "rows": [_row(row) for row in cells.to_dict("records")],
        "areas": facts.results.read(SCENARIO_AREAS, expected=False).to_dict("records"),
        "failed": other_rows(everything).to_dict("records"),
        "compared": compared((repo_root() / ORACLE_PAGE).read_text()),
    }


def compared(text: str) -> list[dict]:
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
    known = set(model.names())
    names = list(dict.fromkeys(rows.loc[rows["pages"] == "scenario", "name"]))
    return [{"name": n, "sentence": model.load(n).description if n in known else ""} for n in names]


def _row(row: dict) -> dict:
    """A cell; counts that a layout has not are None."""
    counts = ("faults", "major_faults", "swapped_out_pages", "areas")
    sizes = ("most_mapped_bytes", "most_2mb_bytes")
    return row | {k: _known(row[k]) for k in counts} | {k: _known(row[k], MB) for k in sizes}


def _known(value, unit: int = 1):
    return None if pd.isna(value) else value / unit
