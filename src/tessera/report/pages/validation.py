"""Validation: engines, closed forms, invariants, and simulated cycles beside those of this machine."""

from __future__ import annotations

import pandas as pd

from tessera.core.results import machine_tables
from tessera.core.results.machine_tables import CLOCK_KEYS, CLOCK_MARKS, CLOCK_PROGRAMS
from tessera.core.results.outcomes import OK
from tessera.core.results.schema import Table
from tessera.lab.clock import errors
from tessera.lab.clock.marks import CALIBRATE, JUDGE, all_marks
from tessera.report.page_elements import other_figures

# The simulator against itself and against proved rules; failures with reasons.

REMEDY = "./run reproduce"


def validation_page(facts) -> dict:
    def table(one: Table) -> pd.DataFrame:
        return facts.results.read(one, expected=False)

    engines, forms = table(machine_tables.ENGINES), table(machine_tables.CLOSED_FORMS)
    return {
        "title": "Validation",
        "engines": _engines(engines),
        "engine_platforms": engines["platform"].nunique(),
        "engine_problems": _engine_problems(engines),
        "forms": _forms(forms),
        "steps": _steps(table(machine_tables.STEPS)),
        "findings": _template_rows(table(machine_tables.FINDINGS)),
        "series": _template_rows(table(machine_tables.CHASE_SERIES)),
        "calibration": _template_rows(table(machine_tables.CALIBRATION)),
        "mosaics": table(machine_tables.MOSAICS).to_dict("records"),
        "mosaics_summary": _template_rows(table(machine_tables.MOSAICS_SUMMARY)),
        "invariants": _template_rows(table(machine_tables.INVARIANTS)),
        "chase_figure": facts.figure("validation-chase"),
        "mosaics_figure": facts.figure("validation-mosaics"),
        "figures": other_figures(facts, "validation.html", ("validation-chase", "validation-mosaics")),
        "remedy": REMEDY,
    }


def _template_rows(table: pd.DataFrame) -> list[dict]:
    """Rows for a template: missing values are empty texts."""
    return table.astype(object).where(table.notna(), "").to_dict("records")


def _engines(table: pd.DataFrame) -> list[dict]:
    """Cells compared and differing, by comparison over all platforms."""
    groups = table.groupby("comparison", sort=False)
    return [
        {
            "comparison": name,
            "cells": int(part["cells"].sum()),
            "differing": int(part["differing"].sum()),
            "not_compared": int((part["message"] != "").sum()),
        }
        for name, part in groups
    ]


def _engine_problems(table: pd.DataFrame) -> list[dict]:
    return _template_rows(table[(table["differing"] > 0) | (table["message"] != "")])


def _forms(table: pd.DataFrame) -> list[dict]:
    rows = _template_rows(table)
    for row in rows:
        row["exact"] = row["tolerance"] == 0
    return rows


def _steps(table: pd.DataFrame) -> list[dict]:
    """Measured steps, each with the simulated ones of the same structure beside it."""
    rows = []
    for step in table[table["source"] == "measured"].to_dict("records"):
        same = table[(table["series"] == step["series"]) & (table["step"] == step["step"])]
        simulated = {row["source"]: row for row in same[same["source"] != "measured"].to_dict("records")}
        rows.append(step | {"simulated": simulated})
    return rows


# Against this machine: simulated cycles of micro-benchmarks and programs beside native ones.


def clock_page(facts) -> dict:
    def table(one: Table) -> pd.DataFrame:
        return facts.results.read(one, expected=False)

    known = errors.causes()
    marks = errors.errors(table(CLOCK_MARKS), "mark")
    programs = errors.errors(table(CLOCK_PROGRAMS), "program")
    return {
        "title": "Cycles beside this machine's",
        "judging": {
            "ran": int(marks.loc[marks["half"] == JUDGE, "mark"].nunique()) if len(marks) else 0,
            "all": sum(mark.half == JUDGE for mark in all_marks()),
        },
        "aims": errors.aims(marks, programs, known) if len(marks) else [],
        "calibrating_median": errors.calibrating_median(marks) if len(marks) else None,
        "halves": [
            ("Micro-benchmarks that judge", _clock_rows(marks[marks["half"] == JUDGE], "mark", known)),
            (
                "Micro-benchmarks that calibrate",
                _clock_rows(marks[marks["half"] == CALIBRATE], "mark", known),
            ),
        ],
        "programs": _clock_rows(programs, "program", known),
        "keys": table(CLOCK_KEYS).to_dict("records"),
        "failed": _clock_failures(marks, "mark") + _clock_failures(programs, "program"),
        "clock_figure": facts.figure("validation-clock"),
        "remedy": REMEDY,
    }


def _clock_rows(table: pd.DataFrame, key: str, known: dict[str, str]) -> list[dict]:
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
    return sorted(rows, key=lambda row: -_error_size(row["small"]))


def _error_size(row: dict | None) -> float:
    return abs(row["error"]) if row and row["error"] == row["error"] else 0.0


def _clock_failures(table: pd.DataFrame, key: str) -> list[dict]:
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
