"""The study of scenarios of a synthetic tree: a program that touches 4MB, and one scenario that failed.

1,024 pages of 4KB, or two of 2MB: each fault maps one page.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tessera.core.results.os_tables import OF_LOG, SCENARIO_CELLS
from tessera.lab.studies.scenarios import Decided, log_tables

from .tables import put

PAGES = 1024
FAILED = "memory-short"
#: scenario -> pages of 4KB and of 2MB at the end
DECIDED = {"thp-never": (PAGES, 0), "thp-always": (0, 2), "half": (512, 1)}
LAYOUTS = {"growing-0": 900, "growing-8": 3}  #: layout -> M
MISSES = {"thp-never": 901, "thp-always": 4, "half": 450}


def tables(small: int, large: int) -> dict:
    """Tables of one log, as `tessera lab os show` prints them."""
    sizes = [
        {
            "block": 100 * part, "pages_4kb": small * part // 4, "zero_pages_4kb": 0,
            "pages_2mb": large * part // 4, "areas": 1, "faults": (small + large) * part // 4,
        }
        for part in range(5)
    ]  # fmt: skip
    kinds = [
        {"kind": "page", "page_size": size, "faults": count}
        for size, count in (("4KB", small), ("2MB", large))
        if count
    ]
    chunks = [{"least_pages": 1, "chunks": small, "pages": small}] if small else []
    chunks += [{"least_pages": 512, "chunks": large, "pages": 512 * large}] if large else []
    areas = [{"pool": "mmap", "page": 0, "pages": PAGES, "rights": "rw-", "huge_pages": "default"}]
    counters = [{"counter": "pgmajfault", "value": 0}, {"counter": "pswpout", "value": 7}]
    rows = {"sizes": sizes, "kinds": kinds, "chunks": chunks, "areas": areas, "counters": counters}
    return {name: pd.DataFrame(of) for name, of in rows.items()}


def write(root: Path, workloads: tuple[str, ...] = ("gups", "graph500")) -> None:
    """Write ``studies/scenarios/<workload>/*.csv``."""
    for workload in workloads:
        decided = [Decided(name, Path(f"{name}.oslog"), tables(*pages)) for name, pages in DECIDED.items()]
        rows = [_cell(workload, "scenario", one.name, MISSES[one.name]) | one.summary() for one in decided]
        failed = {
            "workload": workload, "platform": "haswell-sim", "pages": "scenario", "name": FAILED,
            "status": "failed", "message": "SCENARIO-7", "provenance": "simulated",
        }  # fmt: skip
        rows += [failed, *(_cell(workload, "layout", name, misses) for name, misses in LAYOUTS.items())]
        put(root, SCENARIO_CELLS, rows, workload)
        for name, found in log_tables(decided, workload).items():
            put(root, OF_LOG[name], found, workload)


def _cell(workload: str, pages: str, name: str, misses: int) -> dict:
    """C = 30 M, R = C + 100,000."""
    return {
        "workload": workload, "platform": "haswell-sim", "pages": pages, "name": name, "status": "ok",
        "message": "", "runtime_cycles": 100_000 + 30 * misses, "runtime_cycles_ci95": 10, "stlb_hits": 50,
        "stlb_misses": misses, "walk_cycles": 30 * misses, "walk_cycles_ci95": 1, "instructions": 90_000,
        "accesses": 30_000, "provenance": "simulated",
    }  # fmt: skip
