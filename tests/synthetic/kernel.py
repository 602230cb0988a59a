"""Tables of `snakemake kernel` in the shape of their writers, for two sockets and two programs."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from tessera.core.results.catalogue import TABLES
from tessera.core.results.kernel_tables import PLACEMENT
from tessera.lab.kernel.cost_experiments import memory_table

#: Leaf tables and entries to sockets 0 and 1, by (program, policy): shares of 25% and 75% are easy to see.
LEAVES = {
    ("gups", "F"): {0: (4, (300, 100)), 1: (0, (0, 0))},
    ("gups", "I"): {0: (2, (100, 100)), 1: (2, (50, 150))},
    ("btree", "F"): {0: (0, (0, 0)), 1: (3, (300, 100))},
    ("btree", "I"): {0: (1, (50, 50)), 1: (1, (50, 50))},
}
#: operation, region, instructions off and with 4 copies, off to unpatched
CALLS = (("mmap", "8MB", 100_000, 104_300, 1.002), ("mprotect", "8MB", 1000, 1482, 1.0))
UNKNOWN = "a value of a table that the page does not know"
FAILED = "the guest's script ended with status 3"


def write(root: Path) -> None:
    """Every part of a run but one, which failed."""
    folder = root / "kernel"
    for name, table in tables().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        declared = TABLES.get(f"kernel/{name.removesuffix('.csv')}")
        table.reindex(columns=declared.names if declared else table.columns).to_csv(path, index=False)
    for part, status, message in (("table5", "ok", ""), ("prove", "failed", FAILED)):
        (folder / part).mkdir(exist_ok=True)
        outcome = {
            "command": f"tessera lab run kernel-{part}",
            "status": status,
            "message": message,
            "seconds": 9.0,
        }
        (folder / part / "attempt.json").write_text(json.dumps(outcome))


def tables() -> dict[str, pd.DataFrame]:
    """File below ``kernel/`` -> table."""
    calls = [
        (op, region, off, on, on / off, off_ratio, "measured", published)
        for (op, region, off, on, off_ratio), published in zip(CALLS, (1.0, 3.2), strict=True)
    ]
    columns = ["operation", "region", "off_instructions", "replicated_instructions", "replicated_ratio"]
    instructions = pd.DataFrame([("mmap", "off", 100_000)], columns=["operation", "config", "instructions"])
    return {
        "table4/table4.csv": memory_table(),
        "table4/table4_measured.csv": pd.DataFrame(
            [(1 << 20, 2, 9 * 4096, 1.02, 1.0154, "measured")],
            columns=[
                "footprint_bytes", "copies", "page_table_bytes", "overhead",
                "calculated_overhead", "provenance",
            ],
        ),
        "table5/table5.csv": pd.DataFrame(
            calls, columns=[*columns, "off_ratio", "provenance", "published_ratio"]
        ),
        "table5/instructions.csv": instructions,
        "table6/instructions.csv": instructions,
        "table6/table6.csv": pd.DataFrame(
            [("gups", 1000, 1037, 3.7, "measured", 0.46), ("btree", 200, 203, 1.5, "measured", None)],
            columns=[
                "program", "off_instructions", "replicated_instructions", "overhead_percent", "provenance",
                "published_overhead_percent",
            ],
        ),
        "costs/operations.csv": pd.DataFrame(
            [("munmap", "clean", 2048, 300_000, 450_000, 1.5, 1.004, "measured")],
            columns=["operation", "pages", "entries", *columns[2:], "off_ratio", "provenance"],
        ),
        "costs/updates.csv": pd.DataFrame(
            [("munmap", "clean", 4, 211.5, 66.0, 70.0, 31.0, 9.0, "measured")],
            columns=[
                "operation", "pages", "copies", "instructions", "added_instructions", "loads", "stores",
                "added_references", "provenance",
            ],
        ),
        "placement/placement.csv": placement(),
        "placement/figure4.csv": pd.DataFrame(
            [
                (workload, config + more, socket, 0.0 if more else share)
                for workload, config in LEAVES
                for more in ("", "+M")
                for socket, share in ((0, 0.25), (1, 0.75))
            ],
            columns=["workload", "config", "socket", "remote_leaf_share"],
        ),
        "balancing/balancing.csv": pd.DataFrame(
            [("before", 0, 0), ("balanced", 1, 4283), ("replicas", 1, 0)],
            columns=["moment", "socket", "remote_leaf_entries"],
        ).assign(
            data_pages=4096, local_data_pages=4090, home_tables=18, moved_home_tables=0, leaf_entries=4283,
            remote_leaf_share=[0.0, 1.0, 0.0], seconds=[0.5, 1.5, 2.5], provenance="measured",
        ),
        "stress-ng/stress-ng.csv": pd.DataFrame(
            [("fork", "passed"), ("madvise", "passed"), ("numa", "skipped")], columns=["stressor", "outcome"]
        ).assign(provenance="measured"),
        "later/another.csv": pd.DataFrame({"what": [UNKNOWN], "passed": [True]}),
    }  # fmt: skip


def placement() -> pd.DataFrame:
    """Home tables with one table of levels 4 to 2 on socket 0."""
    rows = []
    for (workload, config), leaves in LEAVES.items():
        upper = {0: (1, (1, 1)), 1: (0, (0, 0))}
        for level, sockets in ((4, upper), (3, upper), (2, upper), (1, leaves)):
            for socket, (pages, pointers) in sockets.items():
                for target in (0, 1):
                    rows.append((workload, config, "home", level, socket, target, pages, pointers[target]))
    return pd.DataFrame(rows, columns=list(PLACEMENT.names))
