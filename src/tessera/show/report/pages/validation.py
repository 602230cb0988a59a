"""Validation: engines against each other, closed forms, this machine, invariants; what failed, and why."""

from __future__ import annotations

import pandas as pd

from tessera.show.report.placing import others

FOLDER = "validation"
REMEDY = "./run reproduce"


def page(facts) -> dict:
    table = _Tables(facts.results.directory / FOLDER)
    engines, forms = table("engines"), table("closed_forms")
    return {
        "title": "Validation",
        "engines": _engines(engines),
        "engine_platforms": engines["platform"].nunique() if len(engines) else 0,
        "engine_problems": _engine_problems(engines),
        "forms": _forms(forms),
        "steps": _steps(table("steps")),
        "findings": _rows(table("findings")),
        "series": _rows(table("chase_series")),
        "calibration": _rows(table("calibration")),
        "mosaics": table("mosaics").to_dict("records"),
        "mosaics_summary": _rows(table("mosaics_summary")),
        "invariants": _rows(table("invariants")),
        "chase_figure": facts.figure("validation-chase"),
        "mosaics_figure": facts.figure("validation-mosaics"),
        "figures": others(facts, "validation.html", ("validation-chase", "validation-mosaics")),
        "remedy": REMEDY,
    }


class _Tables:
    """Tables of the validation folder; one that is missing or damaged is empty."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, name: str) -> pd.DataFrame:
        try:
            return pd.read_csv(self.folder / f"{name}.csv")
        except (FileNotFoundError, pd.errors.EmptyDataError, pd.errors.ParserError):
            return pd.DataFrame()


def _rows(table: pd.DataFrame) -> list[dict]:
    """Rows for a template: what is missing is an empty text."""
    return table.astype(object).where(table.notna(), "").to_dict("records")


def _engines(table: pd.DataFrame) -> list[dict]:
    """Cells compared and differing, by comparison over all platforms."""
    if table.empty:
        return []
    groups = table.groupby("comparison", sort=False)
    return [
        {
            "comparison": name,
            "cells": int(part["cells"].sum()),
            "differing": int(part["differing"].sum()),
            "not_compared": int(part["message"].notna().sum()),
        }
        for name, part in groups
    ]


def _engine_problems(table: pd.DataFrame) -> list[dict]:
    if table.empty:
        return []
    bad = table[(table["differing"] > 0) | table["message"].notna()]
    return _rows(bad)


def _forms(table: pd.DataFrame) -> list[dict]:
    rows = _rows(table)
    for row in rows:
        row["exact"] = row["tolerance"] == 0
    return rows


def _steps(table: pd.DataFrame) -> list[dict]:
    """Measured steps, each with the simulated ones of the same structure beside it."""
    if table.empty:
        return []
    rows = []
    for step in table[table["source"] == "measured"].to_dict("records"):
        same = table[(table["series"] == step["series"]) & (table["step"] == step["step"])]
        simulated = {row["source"]: row for row in same[same["source"] != "measured"].to_dict("records")}
        rows.append(step | {"simulated": simulated})
    return rows
