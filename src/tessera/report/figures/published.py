"""Published numbers in the shape that figures draw (tables of ``reference-results/``).

Nothing here is read off a picture: where a paper prints no number there is no row, and figures say
"not published as data". A missing table gives no rows, so figures still show what was obtained.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.reference import published_tables

#: our workload -> the paper's rows of the same program (or of what it stands in for), nearest size first
TWINS: dict[str, tuple[str, ...]] = {
    "gups": ("gups/8GB", "gups/16GB", "gups/32GB"),
    "graph500": ("graph500/2GB", "graph500/4GB", "graph500/8GB"),
    "pr": ("gapbs/pr-twitter",),
    "bc": ("gapbs/bc-twitter",),
    "bfs": ("gapbs/bfs-twitter", "gapbs/bfs-road"),
    "sssp": ("gapbs/sssp-twitter", "gapbs/sssp-web"),
    "xsbench": ("xsbench/4GB", "xsbench/8GB", "xsbench/16GB"),
    "network-simplex": ("spec06/mcf",),
    "event-network-small": ("spec06/omnetpp",),
    "event-network-large": ("spec17/omnetpp_s",),
    "xml-transform": ("spec17/xalancbmk_s",),
}


def _load(name: str, reference: Path | str, key: str) -> pd.DataFrame:
    """A reference table; an empty one with a ``value`` and a ``key`` column if it can't be read."""
    try:
        return published_tables.load_published(name, reference)
    except TesseraError:
        return pd.DataFrame({column: [] for column in {key, "value"}})


def published_max_errors(reference: Path | str) -> pd.DataFrame:
    """Figure 2: columns model, max_error (fraction), bound (``equal`` or ``below``)."""
    rows = _load("printed_errors", reference, "model")
    if rows.empty:
        return pd.DataFrame(columns=["model", "max_error", "bound"])
    rows = rows[rows["location"].str.startswith("Figure 2") & (rows["statistic"] == "max")]
    rows = rows.assign(max_error=rows["value"] / 100)
    return rows[["model", "max_error", "bound"]].reset_index(drop=True)


def cv_errors(reference: Path | str) -> pd.DataFrame:
    """Table 6: columns model, max_error (fraction)."""
    rows = _load("table6_cv_errors", reference, "model")
    return rows.assign(max_error=rows["value"] / 100)[["model", "max_error"]].reset_index(drop=True)


def published_figure_errors(reference: Path | str, location: str) -> pd.DataFrame:
    """Printed errors of one figure, with the text's own passages about it (``VII-B text``)."""
    rows = _load("printed_errors", reference, "model")
    return rows if rows.empty else rows[rows["location"] == location]


def published_rsquared(reference: Path | str) -> pd.DataFrame:
    """Table 8: columns paper_workload, platform (our name: ``haswell-sim``), input, r_squared."""
    rows = _load("table8_rsquared", reference, "input")
    if rows.empty:
        return pd.DataFrame(columns=["paper_workload", "platform", "input", "r_squared"])
    rows = rows.rename(columns={"workload": "paper_workload", "value": "r_squared"})
    rows = rows.assign(platform=rows["platform"] + "-sim")
    return rows[["paper_workload", "platform", "input", "r_squared"]].reset_index(drop=True)


def nearest_workload(name: str, paper: pd.DataFrame) -> str:
    """The paper's row for our workload ``name``: the same name, else the same program; else empty."""
    known = set(paper["paper_workload"]) if len(paper) else set()
    if name in known:
        return name
    plain = {one.replace("/", "-").replace("_", "-").lower(): one for one in known}
    if name.lower() in plain:
        return plain[name.lower()]
    candidates = TWINS.get(name) or TWINS.get(name.split("-")[0], ())
    return next((one for one in candidates if one in known), "")


def opera_value(reference: Path | str, quantity: str) -> float | None:
    """A number of OPERA's text; None where the tables can't be read or don't have it."""
    return _quantity("opera_values", reference, quantity)


def allocator_costs(reference: Path | str) -> pd.DataFrame:
    """OPERA Table 4: columns workload, quantity (memory, runtime), glibc, mosalloc, overhead (fraction)."""
    rows = _load("opera_table4_overheads", reference, "allocator")
    if rows.empty:
        return pd.DataFrame(columns=["workload", "quantity", "glibc", "mosalloc", "overhead"])
    wide = rows.pivot(index=["workload", "quantity"], columns="allocator", values="value").reset_index()
    return wide.assign(overhead=wide["overhead"] / 100).rename_axis(columns=None)


def published_counters(reference: Path | str) -> pd.DataFrame:
    """Table 7 whole: columns workload, platform, counter, side, pages, count."""
    rows = _load("table7_xalancbmk", reference, "counter")
    if rows.empty:
        return pd.DataFrame(columns=["workload", "platform", "counter", "side", "pages", "count"])
    rows = rows.assign(count=rows["value"] * 1e9)
    rows = rows.rename(columns={"page_size": "pages", "agent": "side"})
    return rows[["workload", "platform", "counter", "side", "pages", "count"]].reset_index(drop=True)


def mitosis_text(reference: Path | str, quantity: str) -> float | None:
    """A number of the Mitosis paper's text; None where the tables can't be read or don't have it."""
    return _quantity("mitosis_text", reference, quantity)


def mitosis_operations(reference: Path | str) -> pd.DataFrame:
    """Mitosis Table 5: columns operation, region, ratio (of cycles, 4 copies to one)."""
    rows = _load("mitosis_table5", reference, "quantity")
    if rows.empty:
        return pd.DataFrame(columns=["operation", "region", "ratio"])
    rows = rows[rows["quantity"] == "overhead"].rename(columns={"value": "ratio"})
    return rows[["operation", "region", "ratio"]].reset_index(drop=True)


def _quantity(table: str, reference: Path | str, quantity: str) -> float | None:
    rows = _load(table, reference, "quantity")
    rows = rows[rows["quantity"] == quantity]
    return float(rows["value"].iloc[0]) if len(rows) else None
