"""What the imitation of Linux decides for a trace under each scenario: logs, and their tables.

A scenario that ends early (for example ``os/out-of-memory``) has a reason in the place of tables; the other
scenarios continue.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.units import PAGE_2MB, PAGE_4KB
from tessera.results.schema.scenarios import OF_LOG
from tessera.results.schema.table import COUNT
from tessera.scenarios import imitated, model

PROVENANCE = "simulated"


@dataclass(frozen=True)
class Decided:
    """One scenario: its log and tables (by :data:`OF_LOG`'s names), or why there is none."""

    name: str
    log: Path
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    problem: str = ""

    def summary(self) -> dict[str, int]:
        """Columns of a cell: faults, pages that went to swap, and the largest memory by page size."""
        sizes, counters = self.tables["sizes"], self.tables["counters"].set_index("counter")["value"]
        large = sizes["pages_2mb"] * PAGE_2MB
        return {
            "faults": int(self.tables["kinds"]["faults"].sum()),
            "major_faults": int(counters.get("pgmajfault", 0)),
            "swapped_out_pages": int(counters.get("pswpout", 0)),
            "most_mapped_bytes": int((sizes["pages_4kb"] * PAGE_4KB + large).max()),
            "most_2mb_bytes": int(large.max()),
            "areas": len(self.tables["areas"]),
        }


def load(names: Sequence[str]) -> list[model.Scenario]:
    """The scenarios of these names or YAML files.

    Raises:
        TesseraError: an unknown scenario, or two with the same name.
    """
    asked = [model.load(name) for name in names]
    found = [one.name for one in asked]
    if twice := sorted({name for name in found if found.count(name) > 1}):
        raise TesseraError(f"scenario {twice[0]}", "it is asked for twice", "name each scenario once")
    return asked


def decide(
    trace: Path, scenarios: Sequence[model.Scenario], folder: Path, progress: Callable[[str], None]
) -> list[Decided]:
    """Run ``trace`` under each scenario; logs go to ``folder``, each named like its scenario."""
    found = []
    for number, scenario in enumerate(scenarios, 1):
        progress(f"{scenario.name} ({number} of {len(scenarios)})")
        found.append(_decided(trace, scenario, folder / f"{scenario.name}.oslog"))
    return found


def _decided(trace: Path, scenario: model.Scenario, log: Path) -> Decided:
    try:
        imitated.run(trace, scenario, log)
        shown = {name: _shown(log, name) for name in OF_LOG}
    except TesseraError as error:
        return Decided(scenario.name, log, problem=one_line(error))
    return Decided(scenario.name, log, shown)


def _shown(log: Path, name: str) -> pd.DataFrame:
    """A table of ``tessera os show``, its counts as whole numbers."""
    counts = OF_LOG[name].of_kind(COUNT)
    rows = csv.DictReader(imitated.lines(log, name))
    typed = [row | {key: int(row[key]) for key in counts} for row in rows]
    return pd.DataFrame(typed, columns=rows.fieldnames)


def tables_of(decided: Sequence[Decided], workload: str) -> dict[str, list[dict]]:
    """Rows of each of :data:`OF_LOG` for all scenarios that have tables."""
    rows: dict[str, list[dict]] = {name: [] for name in OF_LOG}
    for one in decided:
        head = {"workload": workload, "scenario": one.name, "provenance": PROVENANCE}
        for name, table in one.tables.items():
            rows[name] += [head | row for row in table.to_dict("records")]
    return rows


def one_line(error: TesseraError) -> str:
    """An error as the message of a row."""
    return " ".join(f"{error.asked}: {error.found}; {error.remedy}".split())
