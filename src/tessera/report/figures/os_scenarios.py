"""What the kernel did to a program: page sizes over time, faults by kind, contiguity, for each scenario.

The numbers are decisions of the imitation of Linux 6.12 (docs/explain/os.md), so all of them are simulated.
"""

from __future__ import annotations

import pandas as pd

from tessera.core.results.os_tables import SCENARIO_CHUNKS, SCENARIO_FAULTS, SCENARIO_SIZES
from tessera.core.units import MB, PAGE_2MB, PAGE_4KB
from tessera.report.figures import figure, style
from tessera.report.results import Results

WHY = "no study of scenarios was made"
PROVENANCE = "simulated"
#: column of the table of sizes -> label, bytes of a page, colour
SIZES = {
    "pages_2mb": ("2MB pages", PAGE_2MB, style.BLUE),
    "pages_4kb": ("4KB pages", PAGE_4KB, style.ORANGE),
}
COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.SKY, style.VERMILLION, style.INK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")


def mapped_sizes(results) -> pd.DataFrame:
    """Columns: workload, scenario, part (fraction of the run), size, mapped_mb, provenance."""
    rows = Results.of(results).needed(SCENARIO_SIZES, "os-sizes", why=WHY).copy()
    rows["part"] = rows["block"] / rows.groupby(["workload", "scenario"])["block"].transform("max").clip(1)
    head = ["workload", "scenario", "part"]
    parts = [
        rows[head].assign(size=label, mapped_mb=rows[column] * unit / MB, provenance=PROVENANCE)
        for column, (label, unit, _) in SIZES.items()
    ]
    return pd.concat(parts, ignore_index=True)


@figure(
    "os-sizes",
    "Page sizes over time",
    "Memory of the program in pages of 2MB and of 4KB over its run, under each scenario. Pages that "
    "share the page of zeros take no memory and are left out.",
    page="scenarios.html",
)
def draw_sizes(results, reference):
    """A line of panels for each program, a panel for each scenario: memory by page size, stacked."""
    rows = mapped_sizes(results)
    names = _names(rows)
    columns = max(map(len, names.values()))
    figure, all_axes = style.panels(
        len(names), columns, width=max(style.WIDTH, 1.0 + 1.7 * columns), height=1.2 + 1.7 * len(names),
        sharex=True, sharey="row", squeeze=False,
    )  # fmt: skip
    for line, (workload, scenarios) in zip(all_axes, names.items(), strict=True):
        for axes, scenario in zip(line, scenarios, strict=False):
            mine = rows[(rows["workload"] == workload) & (rows["scenario"] == scenario)]
            by_size = [mine[mine["size"] == label] for label, *_ in SIZES.values()]
            axes.stackplot(
                100 * by_size[0]["part"], *(one["mapped_mb"] for one in by_size),
                labels=[label for label, *_ in SIZES.values()],
                colors=[colour for *_, colour in SIZES.values()],
            )  # fmt: skip
            axes.set_title(scenario, fontsize=8)
        for axes in line[len(scenarios) :]:
            axes.set_axis_off()
        line[0].set_ylabel(f"{workload}\nmapped (MB)")
    all_axes[-1, 0].set_xlabel("part of the run (%)")
    style.legend_below(figure, all_axes.flat, columns=2)
    style.headline(figure, "Page sizes over time", PROVENANCE)
    return figure, rows


def fault_kinds(results) -> pd.DataFrame:
    """Columns: workload, scenario, kind (with the page size), faults, provenance."""
    rows = Results.of(results).needed(SCENARIO_FAULTS, "os-faults", why=WHY).copy()
    rows["kind"] = rows["kind"] + " " + rows["page_size"]
    return rows[["workload", "scenario", "kind", "faults", "provenance"]].reset_index(drop=True)


@figure(
    "os-faults",
    "Page faults by kind",
    "Page faults of the program under each scenario, by kind and page size, log scale. A page of zeros "
    "is given to a store (page) or shared by loads (zero); copy replaces a shared page; swap and "
    "swap-cache bring a page back.",
    page="scenarios.html",
)
def draw_faults(results, reference):
    """A panel for each program: a line for each scenario, a mark for each kind of faults."""
    rows = fault_kinds(results)
    names, kinds = _names(rows), sorted(set(rows["kind"]))
    figure, all_axes = style.panels(
        len(names), 1, width=style.WIDTH, height=1.3 + sum(0.6 + 0.25 * len(one) for one in names.values()),
        sharex=True, squeeze=False,
    )  # fmt: skip
    for axes, (workload, scenarios) in zip(all_axes[:, 0], names.items(), strict=True):
        for number, kind in enumerate(kinds):
            mine = rows[(rows["workload"] == workload) & (rows["kind"] == kind)]
            axes.plot(
                mine["faults"], [scenarios.index(name) for name in mine["scenario"]], linestyle="none",
                marker=MARKERS[number % len(MARKERS)], color=COLOURS[number % len(COLOURS)],
                label=kind, markersize=6, alpha=0.85,
            )  # fmt: skip
        axes.set_yticks(range(len(scenarios)), scenarios)
        axes.set_ylim(len(scenarios) - 0.5, -0.5)
        axes.set_xscale("log")
        style.log_axis(axes.xaxis)
        axes.set_title(workload)
    all_axes[-1, 0].set_xlabel("faults")
    style.legend_below(figure, all_axes[:, 0], columns=4)
    style.headline(figure, "Page faults by kind", PROVENANCE)
    return figure, rows


def chunks(results) -> pd.DataFrame:
    """Columns: workload, scenario, least_pages, share (memory in chunks of at least so many), provenance."""
    rows = Results.of(results).needed(SCENARIO_CHUNKS, "os-chunks", why=WHY)
    rows = rows.reset_index(drop=True).sort_values("least_pages", ascending=False, kind="stable")
    of_one = rows.groupby(["workload", "scenario"], sort=False)["pages"]
    rows = rows.assign(share=of_one.cumsum() / of_one.transform("sum"))
    names = ["workload", "scenario", "least_pages", "share", "provenance"]
    return rows[names].sort_index().reset_index(drop=True)


@figure(
    "os-chunks",
    "Contiguity of the program's memory",
    "Share of the mapped memory in chunks of at least so many pages with consecutive frames, at the "
    "moment when most is mapped.",
    page="scenarios.html",
)
def draw_chunks(results, reference):
    """A panel for each program, a line for each scenario."""
    rows = chunks(results)
    names = _names(rows)
    looks = list(dict.fromkeys(rows["scenario"]))
    figure, all_axes = style.panels(
        1, len(names), width=max(style.WIDTH, 3.2 * len(names)), height=3.0, sharey=True, squeeze=False
    )
    for axes, (workload, scenarios) in zip(all_axes[0], names.items(), strict=True):
        for scenario in scenarios:
            mine = rows[(rows["workload"] == workload) & (rows["scenario"] == scenario)]
            number = looks.index(scenario)
            axes.plot(
                mine["least_pages"], mine["share"], label=scenario, markersize=4,
                marker=MARKERS[number % len(MARKERS)], color=COLOURS[number % len(COLOURS)],
            )  # fmt: skip
        axes.set_xscale("log", base=2)
        axes.set_xlabel("least pages of a chunk")
        axes.set_title(workload)
    style.percent_axis(all_axes[0, 0].yaxis)
    all_axes[0, 0].set_ylabel("share of the memory")
    style.legend_below(figure, all_axes[0], columns=3)
    style.headline(figure, "Contiguity of the program's memory", PROVENANCE)
    return figure, rows


def _names(rows: pd.DataFrame) -> dict[str, list[str]]:
    """Workload -> its scenarios, in the order of the table."""
    return {
        str(name): list(dict.fromkeys(part["scenario"]))
        for name, part in rows.groupby("workload", sort=False)
    }
