"""Real runs on this machine (hybrid cells), and skipped cells with the remedy."""

from __future__ import annotations

from tessera.results.schema.machine import COMPARISON
from tessera.show.report.pages.gaps import grouped


def page(facts) -> dict:
    gaps = facts.results.gaps
    mine = gaps[(gaps["engine"] == "host") | gaps["platform"].str.startswith("host")]
    return {
        "title": "Real runs",
        "host_figure": facts.figure("host"),
        "rows": _rows(facts),
        "skipped": grouped(mine),
    }


def _rows(facts) -> list[dict]:
    real = facts.results.cells[facts.results.cells["engine"] == "host"]
    notes = {(row.workload, row.layout): row.message for row in real.itertuples()}
    compared = (
        facts.results.read(COMPARISON, expected=bool(len(facts.results.hybrid)))
        .drop_duplicates("layout")
        .set_index("layout")
    )
    rows = []
    for cell in facts.results.hybrid.to_dict("records"):
        known = cell["layout"] in compared.index
        pair = compared.loc[cell["layout"]] if known else {}
        rows.append(
            {
                "workload": cell["workload"],
                "layout": cell["layout"],
                "ns": cell["runtime_ns"],
                "time": f"{cell['runtime_ns'] / 1e9:.4g} s",
                "ci": cell["runtime_ns_ci95"] / cell["runtime_ns"],
                "difference": pair.get("measured_delta"),
                "difference_ci": pair.get("measured_ci95"),
                "simulated": pair.get("simulated_delta"),
                "note": notes.get((cell["workload"], cell["layout"]), ""),
            }
        )
    return rows
