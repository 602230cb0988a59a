"""Names of the files of a bundle (docs/bundles.md)."""

from __future__ import annotations

ABOUT = "bundle.json"
MACHINE = "machine.json"
ENVIRONMENT = "environment.csv"
EVENTS = "events.csv"
RUNS = "runs.csv"
COUNTS = "counts.csv"  #: while measuring: append only
PACKED = "counts.csv.gz"  #: in a sealed bundle
CELLS = "cells.csv"
WORKLOADS = "workloads.json"
SUMS = "SHA256SUMS"
LAYOUTS = "layouts"

#: A noted row of environment.csv: which misses the sliding windows follow, measured or simulated.
SLIDING_WINDOWS = "sliding-windows"

#: Files of every sealed bundle; the others are ``layouts/<workload>/<layout>.csv``.
SEALED = (ABOUT, MACHINE, ENVIRONMENT, EVENTS, RUNS, PACKED, CELLS, WORKLOADS, SUMS)
#: Files of a folder in which runs are still measured.
OPEN = (ABOUT, MACHINE, ENVIRONMENT, EVENTS, RUNS, COUNTS, WORKLOADS)


def layout_file(workload: str, layout: str) -> str:
    """The place of a layout, relative to the bundle."""
    return f"{LAYOUTS}/{workload}/{layout}.csv"
