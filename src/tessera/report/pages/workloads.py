"""Workloads: the three uniform layouts of every pair, TLB sensitivity, and one page per workload."""

from __future__ import annotations

import pandas as pd

from tessera.figures import style
from tessera.figures.sensitivity import THRESHOLD
from tessera.figures.tables import ANCHORS


def href(workload: str) -> str:
    """Page of one workload."""
    return f"workload-{workload.replace('/', '-')}.html"


def page(facts) -> dict:
    cells = facts.results.simulated
    anchors = cells[cells["layout"].isin(ANCHORS)]
    cycles, cycles_unit = style.count_unit(anchors["runtime_cycles"].max() if len(anchors) else 0)
    count, count_word = style.count_unit(anchors["stlb_misses"].max() if len(anchors) else 0)
    names = [name for name in facts.workloads() if (cells["workload"] == name).any()]
    rows = [
        row
        for workload in names
        for platform in facts.platforms()
        for row in _rows(
            cells[(cells["workload"] == workload) & (cells["platform"] == platform)], cycles, count
        )
    ]
    return {
        "title": "Workloads",
        "workloads": [
            {"name": name, "href": href(name), "good": int((cells["workload"] == name).sum())}
            for name in names
        ],
        "rows": rows,
        "cycles_unit": cycles_unit,
        "count_unit": count_word,
        "sensitivity": facts.figure("sensitivity"),
    }


def _rows(cells: pd.DataFrame, cycles: float, count: float) -> list[dict]:
    cells = cells.drop_duplicates("layout").set_index("layout")
    base = cells["runtime_cycles"].get("growing-0")
    rows = []
    for layout, pages in ANCHORS.items():
        if layout not in cells.index:
            continue
        cell = cells.loc[layout]
        saved = 1 - cell["runtime_cycles"] / base if base and layout != "growing-0" else None
        half = cell["runtime_cycles_ci95"]
        rows.append(
            {
                "workload": cell["workload"],
                "platform": cell["platform"],
                "pages": pages,
                "href": href(cell["workload"]),
                "R": f"{cell['runtime_cycles'] / cycles:.3f}",
                "R_raw": cell["runtime_cycles"],
                "ci": f"{half / cycles:.3f}" if pd.notna(half) else "",
                "H": f"{cell['stlb_hits'] / count:.3g}",
                "H_raw": cell["stlb_hits"],
                "M": f"{cell['stlb_misses'] / count:.3g}",
                "M_raw": cell["stlb_misses"],
                "C": f"{cell['walk_cycles'] / cycles:.3g}",
                "C_raw": cell["walk_cycles"],
                "share": cell["walk_cycles"] / cell["runtime_cycles"],
                "saved": saved,
                "sensitive": ("yes" if saved >= THRESHOLD else "no")
                if layout == "1gb" and saved is not None
                else "",
                "provenance": cell["runtime_provenance"],
            }
        )
    return rows
