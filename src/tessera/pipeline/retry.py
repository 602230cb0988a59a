"""Outputs that record a failure are removed before a run, so that the next run tries again.

What failed is written down as a result (a failed recording in info.json, failed rows in a cells file)
and lets the rest of the pipeline go on. Finished cells stay in the cache and cost nothing the second time.
What only the user can supply (SPEC) and has not is a finished result until that changes.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.record import workloads
from tessera.results.attempts import OUTCOME

#: arguments of snakemake processes that must change nothing
NOT_A_RUN = {"--mode", "-n", "--dry-run", "--dryrun", "--summary", "--list", "--lint", "--unlock", "--dag"}

#: What is made from those outputs. Snakemake does not miss an input of an output that is still there.
FOLLOWING = ("cells.csv", "validation/findings.csv", "report/index.html")


def forget_failures(results: Path) -> list[Path]:
    """Delete outputs under ``results`` that record a failure, or skipped runs that could be made now.

    Only the main process of a real run does this: a job's own process and a dry run must not.
    """
    if NOT_A_RUN.intersection(sys.argv):
        return []
    stale = [path for path in results.glob("traces/*/info.json") if _recording_failed(path)]
    stale += [path for path in results.glob("cells/*/*.csv") if _has_status(path, {"failed"})]
    stale += [path for path in results.glob("host/simulated.csv") if _has_status(path, {"failed"})]
    stale += [path for path in results.glob("studies/windows/*/info.json") if _recording_failed(path)]
    stale += [path for path in results.glob("studies/**/*.csv") if _has_status(path, {"failed"})]
    stale += [path for path in results.glob(f"kernel/*/{OUTCOME}") if _recording_failed(path)]
    unwanted = {"failed", "skipped"} if os.environ.get("TESSERA_RESERVE") == "1" else {"failed"}
    stale += [path for path in results.glob("host/cells.csv") if _has_status(path, unwanted)]
    stale += [p for p in results.glob("validation/chase_series.csv") if _has_status(p, unwanted)]
    for path in stale:
        path.unlink(missing_ok=True)
        if path.name == "info.json":  # rows of what could not be recorded say "failed" or "skipped"
            for cells in results.glob(f"cells/{path.parent.name}/*.csv"):
                cells.unlink(missing_ok=True)
    if stale:
        for name in FOLLOWING:
            (results / name).unlink(missing_ok=True)
    return stale


def _recording_failed(path: Path) -> bool:
    try:
        info = json.loads(path.read_text())
    except (OSError, ValueError):
        return True
    if info.get("status") == "skipped" and info.get("missing"):
        return _missing_now(info) != info["missing"]
    return info.get("status") != "ok"


def _missing_now(info: dict) -> str:
    try:
        return workloads.missing(workloads.load(info["workload"]), info["size"])
    except TesseraError:  # its file has changed since: the recording will say how
        return ""


def _has_status(path: Path, statuses: set[str]) -> bool:
    with path.open(newline="") as stream:
        return any(row.get("status") in statuses for row in csv.DictReader(stream))
