"""Real runs on this machine (hybrid cells), and what was skipped with the remedy."""

from __future__ import annotations

import pandas as pd

from tessera.figures.host import BASE
from tessera.report.pages.gaps import grouped


def page(facts) -> dict:
    hybrid = facts.results.hybrid
    gaps = facts.results.gaps
    mine = gaps[(gaps["engine"] == "host") | gaps["platform"].str.startswith("host")]
    return {
        "title": "Real runs",
        "host_figure": facts.figure("host"),
        "rows": _rows(hybrid),
        "skipped": grouped(mine),
    }


def _rows(hybrid: pd.DataFrame) -> list[dict]:
    rows = []
    for workload, cells in hybrid.groupby("workload", sort=False):
        cells = cells.drop_duplicates("layout").set_index("layout")
        base = cells["runtime_ns"].get(BASE)
        for layout, cell in cells.iterrows():
            rows.append(
                {
                    "workload": workload,
                    "layout": layout,
                    "ns": cell["runtime_ns"],
                    "time": f"{cell['runtime_ns'] / 1e9:.4g} s",
                    "ci": cell["runtime_ns_ci95"] / cell["runtime_ns"],
                    "difference": cell["runtime_ns"] / base - 1 if base and layout != BASE else None,
                }
            )
    return rows
