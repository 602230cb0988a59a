"""Validation: comparison of engines, closed forms, this machine, invariants; failures with reasons."""

from __future__ import annotations

import pandas as pd

from tessera.results.schema import machine
from tessera.results.schema.table import Table
from tessera.show.report.placing import others

REMEDY = "./run reproduce"


def page(facts) -> dict:
    def table(one: Table) -> pd.DataFrame:
        return facts.results.read(one, expected=False)

    engines, forms = table(machine.ENGINES), table(machine.CLOSED_FORMS)
    return {
        "title": "Validation",
        "engines": _engines(engines),
        "engine_platforms": engines["platform"].nunique(),
        "engine_problems": _engine_problems(engines),
        "forms": _forms(forms),
        "steps": _steps(table(machine.STEPS)),
        "findings": _rows(table(machine.FINDINGS)),
        "series": _rows(table(machine.CHASE_SERIES)),
        "calibration": _rows(table(machine.CALIBRATION)),
        "mosaics": table(machine.MOSAICS).to_dict("records"),
        "mosaics_summary": _rows(table(machine.MOSAICS_SUMMARY)),
        "invariants": _rows(table(machine.INVARIANTS)),
        "chase_figure": facts.figure("validation-chase"),
        "mosaics_figure": facts.figure("validation-mosaics"),
        "figures": others(facts, "validation.html", ("validation-chase", "validation-mosaics")),
        "remedy": REMEDY,
    }


def _rows(table: pd.DataFrame) -> list[dict]:
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
    return _rows(table[(table["differing"] > 0) | (table["message"] != "")])


def _forms(table: pd.DataFrame) -> list[dict]:
    rows = _rows(table)
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
