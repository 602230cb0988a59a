"""Workloads: the table of all rows, which are analysed, and the three uniform layouts of every pair."""

from __future__ import annotations

import pandas as pd

from tessera.layouts.names import ALL_1GB, ALL_4KB, PAGE_SIZE_OF
from tessera.results.sensitivity import THRESHOLD
from tessera.results.status import ok_rows
from tessera.show import recorded
from tessera.show.figures import style
from tessera.show.report.placing import others


def href(workload: str) -> str:
    """Page of one workload."""
    return f"workload-{workload.replace('/', '-')}.html"


def page(facts) -> dict:
    cells = facts.results.simulated
    anchors = cells[cells["layout"].isin(PAGE_SIZE_OF)]
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
    every = facts.workload_table
    return {
        "title": "Workloads",
        "recordings": _recordings(every, set(names)),
        "regimes": _regimes(every),
        "dropped": _dropped(every),
        "workloads": [
            {"name": name, "href": href(name), "good": int((cells["workload"] == name).sum())}
            for name in names
        ],
        "rows": rows,
        "cycles_unit": cycles_unit,
        "count_unit": count_word,
        "sensitivity": facts.figure("sensitivity"),
        "figures": others(facts, "workloads.html", ("sensitivity",)),
    }


def _recordings(every: pd.DataFrame, linked: set[str]) -> list[dict]:
    """One row per workload: its description and the cost of its trace."""
    rows = []
    for row in every.drop_duplicates("workload").to_dict("records"):
        row = {key: None if pd.isna(value) else value for key, value in row.items()}
        link = href(row["workload"]) if row["workload"] in linked else ""
        rows.append(row | {"href": link, "place": recorded.place(row)})
    return rows


def _regimes(every: pd.DataFrame) -> list[dict]:
    """One row per workload and platform, of those that were recorded."""
    rows = ok_rows(every).to_dict("records")
    return [{key: None if pd.isna(value) else value for key, value in row.items()} for row in rows]


def _dropped(every: pd.DataFrame) -> list[dict]:
    """Per platform the workloads that are not analysed; platforms that drop none have an empty list."""
    found = []
    for platform, part in every.groupby("platform", sort=False):
        rows = part[part["analysed"] == "no"]
        found.append({"platform": platform, "rows": rows[["workload", "dropped_because"]].to_dict("records")})
    return found


def _rows(cells: pd.DataFrame, cycles: float, count: float) -> list[dict]:
    cells = cells.drop_duplicates("layout").set_index("layout")
    base = cells["runtime_cycles"].get(ALL_4KB)
    rows = []
    for layout, pages in PAGE_SIZE_OF.items():
        if layout not in cells.index:
            continue
        cell = cells.loc[layout]
        saved = 1 - cell["runtime_cycles"] / base if base and layout != ALL_4KB else None
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
                if layout == ALL_1GB and saved is not None
                else "",
                "provenance": cell["runtime_provenance"],
            }
        )
    return rows
