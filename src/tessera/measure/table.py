"""Rows of ``cells.csv`` and of ``comparison.csv`` from finished runs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tessera.core.stats import mean_interval
from tessera.layouts.names import ALL_4KB
from tessera.measure.log import LoggedRun
from tessera.measure.rounds import Rule, difference, fraction, known, precision, times
from tessera.results.cells import read_cells
from tessera.results.pair import Pair
from tessera.results.schema.machine import COMPARISON
from tessera.results.status import is_ok, ok_rows
from tessera.results.trace_notes import joined, note_in
from tessera.results.write import frame_of

PLATFORM = "host-sim"
ENGINE = "host"
SIMULATED = ("stlb_hits", "stlb_misses", "walk_cycles", "walk_cycles_ci95")


def read_simulated(path: Path | None, workload: str) -> pd.DataFrame:
    """Simulated cells of the workload on the host's platform, by layout; empty without a file."""
    if path is None:
        return pd.DataFrame()
    mine = Pair(workload, PLATFORM).rows(ok_rows(read_cells(path)))
    return mine.drop_duplicates("layout").set_index("layout")


def empty_row(workload: str, layout: str, status: str, message: str) -> dict:
    """A row without numbers: ``skipped`` or ``failed``."""
    head = {"workload": workload, "platform": PLATFORM, "layout": layout, "repeat": 0}
    return head | {"status": status, "message": message, "engine": ENGINE}


def cell(
    workload: str, layout: str, runs: list[LoggedRun], simulated: pd.DataFrame, rule: Rule, based: bool
) -> dict:
    """The hybrid cell of one layout: measured time, simulated H, M, C, no cycles."""
    failures = [r.message for r in runs if r.layout == layout and not is_ok(r.status)]
    if failures:
        return empty_row(workload, layout, "failed", failures[-1])
    values = list(times(runs, layout).values())
    found = mean_interval(values)
    of_trace = note_in(simulated.at[layout, "message"]) if layout in simulated.index else ""
    row = empty_row(workload, layout, "ok", joined(note(layout, runs, rule, based), of_trace))
    row |= {"runtime_ns": found.value, "runtime_provenance": "measured"}
    if found.count > 1:
        row["runtime_ns_ci95"] = found.half_width
    if layout in simulated.index:
        row |= {name: simulated.at[layout, name] for name in SIMULATED} | {"tlb_provenance": "simulated"}
    return row


def note(layout: str, runs: list[LoggedRun], rule: Rule, based: bool) -> str:
    """How many runs, and a flag if the requested precision was not reached."""
    text = f"{len(times(runs, layout))} runs"
    if known(runs, layout, based, rule) or (based and layout == ALL_4KB):
        return text
    interval = precision(runs, layout, based)
    of = f"of the difference to {ALL_4KB}" if based else "of the mean"
    if interval is None or interval.count < 2:
        return f"{text}: too few for an interval {of}"
    return f"{text}: 95% half-width {of} is {fraction(interval, based):.2%}, asked {rule.half_width:.2%}"


def comparison(layouts: list[str], runs: list[LoggedRun], simulated: pd.DataFrame) -> pd.DataFrame:
    """Relative differences to the 4KB run: measured time (paired, with interval) beside simulated cycles."""
    rows = []
    for layout in layouts:
        measured = difference(runs, layout)
        row = {"layout": layout, "pairs": measured.count if measured else 0}
        if measured:
            row["measured_delta"] = measured.value - 1
            if measured.count > 1:
                row["measured_ci95"] = measured.half_width
        if {layout, ALL_4KB} <= set(simulated.index):
            cycles = simulated["runtime_cycles"]
            row["simulated_delta"] = cycles[layout] / cycles[ALL_4KB] - 1
        rows.append(row)
    return frame_of(COMPARISON, rows)
