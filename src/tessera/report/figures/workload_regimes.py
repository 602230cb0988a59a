"""The regime of each pair, beside that of printed numbers, and how much huge pages help it."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import ALL_1GB, ALL_2MB, ALL_4KB
from tessera.core.platforms import Platform
from tessera.core.results.loader import SENSITIVITY_THRESHOLD, Pair, pairs_of, platform_order, workload_order
from tessera.core.results.report_tables import REGIME
from tessera.core.results.table_io import frame_of
from tessera.record import workloads
from tessera.record.workloads.definition import LEAF_ENTRY_BYTES
from tessera.report import workload_table
from tessera.report.figures import figure, published, style
from tessera.report.results import NotDrawn, Results

# The regime of each pair: what it asks of address translation, beside what printed numbers ask.
#
# How wrong runtime models are was found in the regime of MICRO'20: programs whose page tables do not fit the
# caches, and walks of tens of cycles. A smaller footprint is another regime. So the ratios of a run are
# shown beside the printed ones, and beside each model's errors.

THIS_RUN = "this run"
AS_PUBLISHED = 0.9  #: share of the published footprint that must be touched
THIS_MACHINE = "host"
WALKER_LEVELS = ("l1d", "l2", "l3", "dram")
#: the workload in which model errors are largest, in the papers and here
GUPS = "gups"


def regime_rows(results: Results, reference: Path | str) -> pd.DataFrame:
    """The table :data:`REGIME`: a row per pair with a good all-4KB cell, then the printed ones.

    This machine as a simulated platform is left out: it has one workload and few layouts.
    """
    cells = results.simulated
    cells = cells[~cells["platform"].str.startswith(THIS_MACHINE)]
    rows = [_regime_of_pair(results, pair, pair.rows(cells)) for pair in pairs_of(cells)]
    return frame_of(REGIME, [row for row in rows if row] + _printed_regimes(reference))


def _regime_of_pair(results: Results, pair: Pair, cells: pd.DataFrame) -> dict | None:
    by_layout = cells.drop_duplicates("layout").set_index("layout")
    if ALL_4KB not in by_layout.index:
        return None
    cell = by_layout.loc[ALL_4KB]
    row = {"workload": pair.workload, "platform": pair.platform, "source": THIS_RUN}
    row |= {"provenance": cell["runtime_provenance"]}
    row |= _footprint_sizes(results, pair)
    row |= _walk_ratios(cell["runtime_cycles"], cell["walk_cycles"], cell["stlb_misses"])
    row["hits_per_miss"] = _ratio(cell["stlb_hits"], cell["stlb_misses"])
    row |= _walker_level_shares({level: cell[f"walker_{level}_loads"] for level in WALKER_LEVELS})
    for column, layout in (("saved_2mb", ALL_2MB), ("saved_1gb", ALL_1GB)):
        if layout in by_layout.index:
            row[column] = 1 - by_layout.loc[layout, "runtime_cycles"] / cell["runtime_cycles"]
    return row


def _footprint_sizes(results: Results, pair: Pair) -> dict:
    """Touched and published bytes, and what they are over the hardware's sizes; unknown ones are left out."""
    row: dict = {}
    known = None
    with suppress(TesseraError):  # results of a workload that has since been renamed or removed
        known = workloads.load_workload(pair.workload)
        row["published_bytes"] = workload_table.published_bytes(known)
    try:
        info = json.loads(results.tree.info(pair.workload).read_text())
        pages = info["distinct_4kb_pages"]
    except (OSError, ValueError, KeyError):
        return row
    row |= workload_table.recording_extent(info, known)
    if row.get("published_bytes"):
        row["touched_share"] = row["touched_bytes"] / row["published_bytes"]
        row["as_published"] = "yes" if row["touched_share"] >= AS_PUBLISHED else "no"
    try:
        platform = platforms.load_platform(pair.platform)
    except TesseraError:
        return row
    leaves = pages * LEAF_ENTRY_BYTES
    row["touched_per_reach"] = _ratio(pages, _platform_number(platform, "tlb.stlb.entries"))
    row["leaf_bytes_per_l2"] = _ratio(leaves, _platform_number(platform, "cache.l2.bytes"))
    row["leaf_bytes_per_l3"] = _ratio(leaves, _platform_number(platform, "cache.l3.bytes"))
    return row


def _printed_regimes(reference: Path | str) -> list[dict]:
    """MICRO'20 Table 7 (OPERA D5.10 Table 6 prints the same measurement): C/M, C/R, gain of 2MB pages."""
    rows = []
    counters = published.published_counters(reference)
    for (workload, platform), part in counters.groupby(["workload", "platform"], sort=False):
        count = part.set_index(["side", "counter", "pages"])["count"]
        with_4kb = {name: count.get(("program", name, "4KB")) for name in ("runtime_cycles", "walk_cycles")}
        row = {"workload": workload, "platform": platform, "source": "MICRO'20 Table 7"}
        misses = count.get(("program", "tlb_misses", "4KB"))
        row |= _walk_ratios(with_4kb["runtime_cycles"], with_4kb["walk_cycles"], misses)
        with_2mb = count.get(("program", "runtime_cycles", "2MB"))
        row["saved_2mb"] = 1 - with_2mb / with_4kb["runtime_cycles"]
        rows.append(row | {"provenance": "published"})
    return rows


def _walk_ratios(runtime, walks, misses) -> dict:
    return {"walk_cycles_per_miss": _ratio(walks, misses), "walk_share": _ratio(walks, runtime)}


def _walker_level_shares(reached: dict[str, float]) -> dict:
    """Shares of walker loads by the level that served them; ``reached``: loads that came to each level."""
    counts = [*reached.values(), 0]
    served = [here - further for here, further in zip(counts, counts[1:], strict=False)]
    return {
        f"walker_{level}_share": _ratio(count, counts[0])
        for level, count in zip(reached, served, strict=True)
    }


def _ratio(part, whole) -> float | None:
    known = part is not None and whole is not None and not pd.isna(part) and not pd.isna(whole)
    return float(part / whole) if known and whole else None


def _platform_number(platform: Platform, key: str) -> int | None:
    return int(platform.values[key].value) if key in platform.values else None


def errors_without_gups(results: Results) -> list[dict]:
    """Each model's median and largest maximal error over analysed pairs: all of them, and without gups.

    Rows have ``model``, ``median``, ``largest``, ``worst`` (pair of the largest), and the same with
    ``other_`` in front for pairs of other workloads.
    """
    errors = results.models("errors")
    errors = errors[(errors["protocol"] == "all") & errors["max_error"].notna()]
    rows = []
    for model, part in errors.groupby("model", sort=False):
        others = part[~part["workload"].str.startswith(GUPS)]
        row = {"model": model} | _error_spread(part)
        rows.append(row | {f"other_{key}": value for key, value in _error_spread(others).items()})
    return rows


def _error_spread(part: pd.DataFrame) -> dict:
    if part.empty:
        return {"pairs": 0, "median": None, "largest": None, "worst": ""}
    worst = part.loc[part["max_error"].idxmax()]
    return {
        "pairs": len(part),
        "median": float(part["max_error"].median()),
        "largest": float(worst["max_error"]),
        "worst": str(Pair(worst["workload"], worst["platform"])),
    }


# The regime of each pair: cycles of a walk and share of walk cycles, over what page tables and data need.

#: x, y, title, x label, y label
REGIME_PANELS = (
    ("leaf_bytes_per_l2", "walk_cycles_per_miss", "Cycles of a walk",
     "leaf entries / L2", "C / M with 4KB pages (cycles)"),
    ("touched_per_reach", "walk_share", "Share of walk cycles",
     "touched bytes / reach of the STLB", "C / R with 4KB pages"),
)  # fmt: skip


@figure(
    "regime",
    "The regime of each pair",
    "Cycles of a walk and share of walk cycles with 4KB pages. Filled marks: the recording touches at "
    "least 90% of the published footprint. Hollow marks: less, or the footprint is unknown. Dashed: "
    "printed numbers.",
    page="regime.html",
)
def draw_regime(results, reference):
    """A panel for each ratio; filled marks touch what the paper's program touches, dashes are printed."""
    rows = regime_rows(Results.of(results), reference)
    ours = rows[rows["source"] == THIS_RUN]
    if ours["touched_bytes"].isna().all():
        raise NotDrawn("figure regime", "no pair has an all-4KB cell and a recording")
    figure, all_axes = style.panels(1, 2, width=style.WIDTH, height=4.2, squeeze=False)
    for axes, (x, y, title, x_label, y_label) in zip(all_axes[0], REGIME_PANELS, strict=True):
        _regime_points(axes, ours, x, y)
        _printed_lines(axes, rows[rows["source"] != THIS_RUN], y)
        axes.set_xscale("log")
        style.log_axis(axes.xaxis)
        axes.set_ylim(bottom=0)
        axes.set_title(title)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
    style.legend_below(figure, all_axes[0])
    style.headline(figure, "What each pair asks of translation", "simulated; dashed: published")
    return figure, rows


def _regime_points(axes, ours: pd.DataFrame, x: str, y: str) -> None:
    for platform in platform_order(ours["platform"]):
        part = ours[ours["platform"] == platform].dropna(subset=[x, y])
        colour, marker = style.platform_mark(platform)
        whole = part["as_published"] == "yes"
        for chosen, face, words in ((~whole, "none", "smaller"), (whole, colour, "published size")):
            mine = part[chosen]
            if len(mine):
                axes.scatter(
                    mine[x], mine[y], s=34, marker=marker, facecolors=face, edgecolors=colour,
                    label=f"{platform}, {words}",
                )  # fmt: skip


def _printed_lines(axes, printed: pd.DataFrame, y: str) -> None:
    for row in printed.dropna(subset=[y]).to_dict("records"):
        label = f"{row['source']}: {row['workload']} on {row['platform']}"
        axes.axhline(row[y], color=style.INK, linestyle="--", linewidth=1, label=label)


# TLB sensitivity (MICRO'20 section VI-A): runtime saved by huge pages, per workload and platform.

#: what is compared with all-4KB pages
HUGE_PAGE_LAYOUTS = (ALL_2MB, ALL_1GB)


def sensitivity_table(results) -> pd.DataFrame:
    """Columns: workload, platform, layout (growing-8, 1gb), improvement, sensitive, provenance."""
    results = Results.of(results)
    cells = results.simulated
    wide = cells.pivot_table(index=["workload", "platform"], columns="layout", values="runtime_cycles")
    if wide.empty or ALL_4KB not in wide:
        raise NotDrawn("figure sensitivity", "no good growing-0 (all 4KB) cell")
    judged = results.sensitivity.set_index(["workload", "platform"])["sensitive"]
    rows = []
    for pair, runtimes in wide.iterrows():
        for layout in HUGE_PAGE_LAYOUTS:
            if layout in wide and pd.notna(runtimes[layout]) and pd.notna(runtimes[ALL_4KB]):
                saved = 1 - runtimes[layout] / runtimes[ALL_4KB]
                sensitive = judged[pair] == "yes" if layout == ALL_1GB else None
                rows.append((*pair, layout, saved, sensitive, "simulated"))
    columns = ["workload", "platform", "layout", "improvement", "sensitive", "provenance"]
    if not rows:
        raise NotDrawn("figure sensitivity", "no workload has both a 4KB and a huge-page cell")
    return pd.DataFrame(rows, columns=columns)


@figure(
    "sensitivity",
    "How much huge pages help",
    "Runtime saved with 2MB and with 1GB pages, compared to 4KB pages. A workload counts as "
    "TLB-sensitive if it saves at least 5%.",
    page="workloads.html",
)
def draw_sensitivity(results, reference):
    """A row per workload, a panel per platform: ring 2MB, star 1GB, line at 5%."""
    rows = sensitivity_table(results)
    judged = rows[rows["layout"] == ALL_1GB]  # this machine's own platform has few layouts, and not this one
    rows = rows[rows["platform"].isin(judged["platform"])] if len(judged) else rows
    platforms, workloads = platform_order(rows["platform"]), workload_order(rows["workload"])
    figure, all_axes = style.panels(
        1,
        len(platforms),
        width=style.WIDTH + 0.6,
        height=1.5 + 0.27 * len(workloads),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    places = np.arange(len(workloads))
    marks = {ALL_2MB: ("o", style.PAPER, "2MB pages"), ALL_1GB: ("*", style.ORANGE, "1GB pages")}
    for axes, platform in zip(all_axes[0], platforms, strict=True):
        here = rows[rows["platform"] == platform].pivot(
            index="workload", columns="layout", values="improvement"
        )
        here = here.reindex(index=workloads, columns=list(marks))
        axes.hlines(
            places,
            here.min(axis=1).fillna(0),
            here.max(axis=1).fillna(0),
            color=style.GRID,
            linewidth=3,
            zorder=1,
        )
        for layout, (marker, face, label) in marks.items():
            axes.plot(
                here[layout],
                places,
                marker,
                markersize=11 if marker == "*" else 7,
                linestyle="none",
                markerfacecolor=face,
                markeredgecolor=style.INK,
                label=label,
            )
        axes.axvline(
            SENSITIVITY_THRESHOLD,
            color=style.VERMILLION,
            linestyle="--",
            linewidth=1.1,
            label="5%: TLB-sensitive",
        )
        axes.set_title(platform)
        style.percent_axis(axes.xaxis)
    all_axes[0, 0].set_yticks(places, workloads)
    all_axes[0, 0].set_ylim(len(workloads) - 0.4, -0.6)
    all_axes[0, len(platforms) // 2].set_xlabel("runtime saved compared to 4KB pages")
    handles, labels = all_axes[0, 0].get_legend_handles_labels()
    style.legend_of(figure, handles, labels)
    style.headline(figure, "How much huge pages help", "simulated")
    return figure, rows
