"""The table of all workloads: the row of the papers, its size in this run, and its cost.

Also how much of a program a recording has: memory that it touched, and the part of the region of interest.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.results.outcomes import note_of
from tessera.core.results.report_tables import WORKLOADS
from tessera.core.results.table_io import frame_of
from tessera.core.results.tree import ResultsTree
from tessera.core.units import PAGE_4KB
from tessera.record import workloads
from tessera.record.workloads import Workload
from tessera.report.results import Results

# The table has one row per workload and platform, and is written as ``workloads.csv``. Numbers come from the
# recording's info.json, the workload's file, the platform's file, the cells, and the benchmarks that the
# workflow writes. Unknown values are empty, never estimated.

#: What a trace's info.json has under these names.
_TRACE = ("accesses", "stores", "instructions", "distinct_4kb_pages", "file_bytes", "complete_roi")
_RECORDING = (
    "seconds",
    "bytes_per_access",
    "accesses_per_second",
    "native_roi_seconds",
    "recorded_roi_seconds",
    "slowdown",
    "peak_memory_bytes",
)
#: Ratios of a footprint (:class:`tessera.record.workloads.Regime`), and their columns for touched bytes.
_RATIOS = {
    "footprint_per_4kb_reach": "touched_per_4kb_reach",
    "footprint_per_2mb_reach": "touched_per_2mb_reach",
    "leaf_entries_per_l3": "leaf_entries_per_l3",
}


def workloads_table(results: Results, names: list[str], on: list[str]) -> pd.DataFrame:
    """The table :data:`WORKLOADS`; a row for each workload of ``names`` on each platform of ``on``."""
    judged = {(row.workload, row.platform): row for row in results.sensitivity.itertuples()}
    rows = []
    for name in names:
        recording = _recording(results.tree, name)
        for platform in on:
            row = recording | {"platform": platform, **_regimes(name, recording, platform)}
            if seen := judged.get((name, platform)):
                row |= {
                    "improvement_1gb": seen.improvement,
                    "sensitive": seen.sensitive,
                    "analysed": "yes" if seen.analysed else "no",
                    "dropped_because": seen.reason,
                }
            for key, rule in (("layouts_seconds", "layouts"), ("simulation_seconds", "cells")):
                row[key] = _seconds(results.tree.benchmark(f"{rule}-{name}-{platform}"))
            rows.append(row)
    return frame_of(WORKLOADS, rows)


def _recording(tree: ResultsTree, name: str) -> dict:
    """The known facts about a workload and its trace, also of a failed one."""
    row: dict = {"workload": name} | _of_file(name)
    try:
        info = json.loads(tree.info(name).read_text())
    except (OSError, ValueError):
        return row
    row |= {key: info.get(key) for key in ("size", "status", "message", *_TRACE)}
    row |= {f"recording_{key}": info.get("recording", {}).get(key) for key in _RECORDING}
    known = _workload(name)
    row |= recording_extent(info, known) | {"trace_note": note_of(info)}
    if known and info.get("size") in known.sizes:
        row["footprint_bytes"] = known.size(info["size"]).footprint
    return row


def _of_file(name: str) -> dict:
    """The facts in the workload's own file."""
    known = _workload(name)
    if known is None:
        return {}
    row = {
        "published_row": "; ".join(f"{paper}: {row}" for paper, row in known.rows.items()),
        "stand_in_for": known.stand_in_for,
        "kind": known.kind,
        "threads": known.threads,
    }
    row["paper_footprint_bytes"] = published_bytes(known)
    return row


def _workload(name: str) -> workloads.Workload | None:
    try:
        return workloads.load_workload(name)
    except TesseraError:
        return None  # results of a workload that has since been renamed or removed


def _regimes(name: str, recording: dict, platform: str) -> dict:
    """Regime ratios of the touched memory, and of the published footprint."""
    known = _workload(name)
    label = recording.get("size")
    if known is None or label not in known.sizes:
        return {}
    try:
        ratios = workloads.regime(known, label, platforms.load_platform(platform))
    except TesseraError:
        return {}
    row = {}
    footprint = known.size(label).footprint  # all ratios are proportional to it
    for ratio, column in _RATIOS.items():
        per_byte = getattr(ratios, ratio) / footprint
        for to, count in ((column, "touched_bytes"), (f"paper_{ratio}", "paper_footprint_bytes")):
            row[to] = None if recording.get(count) is None else per_byte * recording[count]
    return row


def _seconds(benchmark: Path) -> float | None:
    """Wall time of a finished job, from Snakemake's benchmark (column ``s``)."""
    try:
        *_, last = csv.DictReader(benchmark.read_text().splitlines(), delimiter="\t")
        return float(last["s"])
    except (OSError, ValueError, KeyError):
        return None


# How much of a program a recording has: memory that it touched, and the part of the region of interest.
#
# A recording may end before the region does, so what a program allocates is not what its layouts are judged
# by. Everything here comes from info.json and the workload's file; what neither states is None.

#: label of the size whose input is the paper's
PAPER_SIZE = "paper"
#: label of the size whose footprint is the published one, or a declared share of it
PUBLISHED_SIZE = "published"


def recording_extent(info: dict, known: Workload | None) -> dict:
    """How much of a program a recording is; ``known`` is its workload, if a file describes it."""
    memory = info.get("memory") or {}
    pages = info.get("distinct_4kb_pages")
    size = known.sizes.get(info.get("size", "")) if known else None
    windows = info.get("windows", 1) if info.get("accesses") else None
    return {
        "allocated_bytes": memory.get("allocated_bytes"),
        "touched_bytes": None if pages is None else pages * PAGE_4KB,
        "recorded_share": memory.get("recorded_share"),
        "windows": windows,
        "window_span_accesses": size.window_span if size and windows and windows > 1 else None,
        "published_share": size.share if size else None,
    }


def published_bytes(known: Workload) -> int | None:
    """Footprint of the published row.

    Of a stand-in, the size ``paper`` may be another program's input; its size ``published`` has the footprint
    that the paper prints. Other rows have the paper's input in ``paper``.
    """
    if known.stand_in_for and PUBLISHED_SIZE in known.sizes:
        size = known.sizes[PUBLISHED_SIZE]
        return round(size.footprint / (size.share or 1))
    return known.sizes[PAPER_SIZE].footprint if PAPER_SIZE in known.sizes else None


def recording_place(row: dict) -> str:
    """Where the recorded accesses lie in the region of interest, from :func:`recording_extent`, as text."""
    if not row.get("windows"):
        return ""
    if row["windows"] == 1:
        return "the whole region" if row.get("recorded_share") == 1 else "its beginning"
    span = row.get("window_span_accesses")
    where = f"its first {span / 1e6:.0f} M accesses" if span else "the region"
    return f"{row['windows']:.0f} windows over {where}"
