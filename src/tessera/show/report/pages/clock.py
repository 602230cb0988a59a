"""Against this machine: simulated cycles of micro-benchmarks and programs beside native ones."""

from __future__ import annotations

import pandas as pd

from tessera.judge.clock import summary
from tessera.judge.clock.causes import causes
from tessera.judge.clock.marks import CALIBRATE, JUDGE
from tessera.results.schema.clock import CLOCK_KEYS, CLOCK_MARKS, CLOCK_PROGRAMS
from tessera.results.schema.table import Table
from tessera.results.status import OK

REMEDY = "./run reproduce"


def page(facts) -> dict:
    def table(one: Table) -> pd.DataFrame:
        return facts.results.read(one, expected=False)

    known = causes()
    marks = summary.errors(table(CLOCK_MARKS), "mark")
    programs = summary.errors(table(CLOCK_PROGRAMS), "program")
    return {
        "title": "Against this machine",
        "aims": summary.aims(marks, programs, known) if len(marks) else [],
        "calibrating_median": summary.calibrating_median(marks) if len(marks) else None,
        "halves": [
            ("Micro-benchmarks that judge", _rows(marks[marks["half"] == JUDGE], "mark", known)),
            ("Micro-benchmarks that calibrate", _rows(marks[marks["half"] == CALIBRATE], "mark", known)),
        ],
        "programs": _rows(programs, "program", known),
        "keys": table(CLOCK_KEYS).to_dict("records"),
        "failed": _failed(marks, "mark") + _failed(programs, "program"),
        "clock_figure": facts.figure("validation-clock"),
        "remedy": REMEDY,
    }


def _rows(table: pd.DataFrame, key: str, known: dict[str, str]) -> list[dict]:
    """One row per name with the numbers of both page sizes, the worst error of the judged pages first."""
    rows = []
    for name, part in table.groupby(key, sort=False):
        by_pages = {row["pages"]: row for row in part.to_dict("records")}
        row = {
            "name": name,
            "cause": known.get(name, ""),
            "small": by_pages.get("4KB"),
            "large": by_pages.get("2MB"),
        }
        rows.append(row)
    return sorted(rows, key=lambda row: -_size(row["small"]))


def _size(row: dict | None) -> float:
    return abs(row["error"]) if row and row["error"] == row["error"] else 0.0


def _failed(table: pd.DataFrame, key: str) -> list[dict]:
    """Rows without a number, natively or simulated, grouped by reason."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in table.to_dict("records"):
        for status, message in (
            (row["status"], row["message"]),
            (row["simulated_status"], row["simulated_message"]),
        ):
            if status != OK:
                reasons.setdefault((status, message), []).append(f"{row[key]} ({row['pages']})")
    return [
        {"status": status, "message": message, "names": names} for (status, message), names in reasons.items()
    ]
