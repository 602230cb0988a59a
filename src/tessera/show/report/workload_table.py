"""The table of all workloads: what each row of the papers became here, how large it is, and what it cost.

One row per workload and platform, written as ``workloads.csv``; numbers come from the recording's info.json,
the workload's file, the platform's file, the cells, and the benchmarks that the workflow writes. What is not
known is empty, never guessed.
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.record import workloads
from tessera.show.figures.tables import Results

#: Size whose footprint is the paper's.
PAPER_SIZE = "paper"
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
_REGIME = ("footprint_per_4kb_reach", "footprint_per_2mb_reach", "leaf_entries_per_l3")
COLUMNS = (
    "workload", "platform", "published_row", "stand_in_for", "kind", "threads", "size", "status", "message",
    "footprint_bytes", "paper_footprint_bytes", *_TRACE, *(f"recording_{name}" for name in _RECORDING),
    *_REGIME, *(f"paper_{name}" for name in _REGIME),
    "improvement_1gb", "sensitive", "analysed", "dropped_because",
    "layouts_seconds", "simulation_seconds",
)  # fmt: skip


def table(results: Results, names: list[str], on: list[str]) -> pd.DataFrame:
    """Columns :data:`COLUMNS`; a row for each workload of ``names`` on each platform of ``on``."""
    judged = {(row.workload, row.platform): row for row in results.sensitivity.itertuples()}
    rows = []
    for name in names:
        recording = _recording(results.directory, name)
        for platform in on:
            row = recording | {"platform": platform, **_regimes(name, recording.get("size"), platform)}
            if seen := judged.get((name, platform)):
                row |= {
                    "improvement_1gb": seen.improvement,
                    "sensitive": seen.sensitive,
                    "analysed": "yes" if seen.analysed else "no",
                    "dropped_because": seen.reason,
                }
            for key, rule in (("layouts_seconds", "layouts"), ("simulation_seconds", "cells")):
                row[key] = _seconds(results.directory, rule, name, platform)
            rows.append(row)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _recording(results: Path, name: str) -> dict:
    """What is known of a workload and its trace, whatever became of it."""
    row: dict = {"workload": name} | _of_file(name)
    try:
        info = json.loads((results / "traces" / name / "info.json").read_text())
    except (OSError, ValueError):
        return row
    row |= {key: info.get(key) for key in ("size", "status", "message", *_TRACE)}
    row |= {f"recording_{key}": info.get("recording", {}).get(key) for key in _RECORDING}
    known = _workload(name)
    if known and info.get("size") in known.sizes:
        row["footprint_bytes"] = known.size(info["size"]).footprint
    return row


def _of_file(name: str) -> dict:
    """What the workload's own file says."""
    known = _workload(name)
    if known is None:
        return {}
    row = {
        "published_row": "; ".join(f"{paper}: {row}" for paper, row in known.rows.items()),
        "stand_in_for": known.stand_in_for,
        "kind": known.kind,
        "threads": known.threads,
    }
    if PAPER_SIZE in known.sizes:
        row["paper_footprint_bytes"] = known.size(PAPER_SIZE).footprint
    return row


def _workload(name: str) -> workloads.Workload | None:
    try:
        return workloads.load(name)
    except TesseraError:
        return None  # results of a workload that has since been renamed or removed


def _regimes(name: str, size: str | None, platform: str) -> dict:
    """Regime ratios of our size and of the paper's."""
    known = _workload(name)
    try:
        target = platforms.load(platform)
    except TesseraError:
        return {}
    row = {}
    for prefix, label in (("", size), ("paper_", PAPER_SIZE)):
        if known and label in known.sizes:
            ratios = workloads.regime(known, label, target)
            row |= {prefix + key: getattr(ratios, key) for key in _REGIME}
    return row


def _seconds(results: Path, rule: str, workload: str, platform: str) -> float | None:
    """Wall time of a finished job, from Snakemake's benchmark (column ``s``)."""
    try:
        rows = pd.read_csv(results / "benchmarks" / f"{rule}-{workload}-{platform}.tsv", sep="\t")
        return float(rows["s"].iloc[-1])
    except (OSError, ValueError, KeyError, IndexError):
        return None
