"""All rows, and their two forms: a table for people, JSON for programs.

A new row is a function in :mod:`hardware` or :mod:`software` that returns a :class:`Check`.
"""

from __future__ import annotations

import json
from dataclasses import asdict

from tessera.core import checks
from tessera.core.checks import FAIL, PASS, SKIP, Check
from tessera.machine.doctor import hardware, software


def examine_machine() -> list[Check]:
    """Look at everything; changes nothing; under a second."""
    return [
        *hardware.machine_checks(),
        *hardware.page_checks(),
        *hardware.pmu_checks(),
        *hardware.energy_checks(),
        *software.software_checks(),
    ]


def doctor_exit_status(rows: list[Check]) -> int:
    """1 if something required is missing, else 0."""
    return checks.exit_status(row.status for row in rows)


def as_json(rows: list[Check]) -> str:
    """``{"status": ..., "checks": [{name, status, found, remedy}]}``."""
    status = FAIL if doctor_exit_status(rows) else PASS
    return json.dumps({"status": status, "checks": [asdict(row) for row in rows]}, indent=2)


def as_table(rows: list[Check]) -> str:
    """Status, name, facts; the remedy on a line of its own; a summary at the end."""
    width = max(len(row.name) for row in rows)
    lines = []
    for row in rows:
        lines.append(f"{row.status}  {row.name:<{width}}  {row.found}")
        if row.remedy:
            lines.append(f"{'':4}  {'':<{width}}  -> {row.remedy}")
    counts = checks.status_counts(row.status for row in rows)
    lines.append("")
    lines.append(", ".join(f"{counts[status]} {status}" for status in (PASS, SKIP, FAIL)) + _verdict(rows))
    return "\n".join(lines)


def _verdict(rows: list[Check]) -> str:
    if doctor_exit_status(rows):
        return ": something that the main job needs is missing (FAIL)"
    return ": the main job can run; SKIP rows list what it leaves out or prepares first"
