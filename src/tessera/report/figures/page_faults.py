"""What page faults cost: recorded programs under scenarios (Virtuoso), and this machine's latencies."""

from __future__ import annotations

from itertools import cycle

import pandas as pd

from tessera.core.results.os_tables import FAULT_COMB, FAULT_LATENCY, FAULT_SHARES, FAULT_TIMES
from tessera.lab.faults.virtuoso import ALL
from tessera.lab.faults.virtuoso_claims import CLAIMS
from tessera.report.figures import figure, style
from tessera.report.results import Results

# Virtuoso Figure 1: parts of the runtime in page faults and in translation, by program and scenario.

FAULT_SHARES_NAME = "fault-shares"
VIRTUOSO_HINT = "snakemake --cores all studies --configfile config/virtuoso.yaml"
VIRTUOSO_WHY = "no program was simulated with the work of its page faults"
#: part -> column of the table, colour, claim with the printed average
RUNTIME_PARTS = {
    "page faults": ("fault_share", style.VERMILLION, "faults-short"),
    "address translation": ("translation_share", style.BLUE, "translation-short"),
}


def fault_shares_table(results) -> pd.DataFrame:
    """Columns: source (Tessera, Virtuoso), workload, platform, scenario, part, share, provenance."""
    rows = Results.of(results).needed(FAULT_SHARES, FAULT_SHARES_NAME, VIRTUOSO_HINT, why=VIRTUOSO_WHY)
    head = ["workload", "platform", "scenario", "provenance"]
    ours = [
        rows[head].assign(source="Tessera", part=part, share=rows[column])
        for part, (column, *_) in RUNTIME_PARTS.items()
    ]
    printed = {claim.id: claim.published for claim in CLAIMS}
    theirs = pd.DataFrame(
        [
            {"source": "Virtuoso", "workload": "average of short programs", "platform": "", "scenario": "",
             "part": part, "share": printed[claim], "provenance": "published"}
            for part, (_, _, claim) in RUNTIME_PARTS.items()
        ]
    )  # fmt: skip
    columns = ["source", "workload", "platform", "scenario", "part", "share", "provenance"]
    return pd.concat([*ours, theirs], ignore_index=True)[columns]


@figure(
    "fault-shares",
    "Runtime in page faults and in address translation",
    "Parts of the runtime R of each program under each scenario: time of the kernel in page faults, and "
    "walk cycles C of the program, which overlap with other work. Diamonds: averages that Virtuoso "
    "prints for short programs (Figure 1).",
    page="faults.html",
)
def draw_fault_shares(results, reference):
    """Two bars for each program and scenario; the printed averages below."""
    rows = fault_shares_table(results)
    lines = list(dict.fromkeys(zip(rows["workload"], rows["scenario"], strict=True)))
    figure, axes = style.panels(1, 1, width=style.WIDTH, height=1.4 + 0.36 * len(lines))
    for number, (part, (_, colour, _)) in enumerate(RUNTIME_PARTS.items()):
        mine = rows[rows["part"] == part]
        places = [
            lines.index(key) + 0.18 * (2 * number - 1)
            for key in zip(mine["workload"], mine["scenario"], strict=True)
        ]
        ours = (mine["source"] == "Tessera").to_numpy()
        at = pd.Series(places)
        axes.barh(at[ours], mine["share"][ours], 0.34, color=colour, label=part)
        axes.plot(mine["share"][~ours], at[~ours], "D", color=style.INK, markersize=5)
    axes.set_yticks(range(len(lines)), [", ".join(filter(None, line)) for line in lines], fontsize=8)
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.set_xlabel("part of the runtime R")
    style.percent_axis(axes.xaxis)
    axes.grid(False, axis="y")
    style.legend_below(figure, [axes], columns=2)
    style.headline(figure, "Runtime in page faults and in address translation", "simulated, beside published")
    return figure, rows


# Virtuoso Figure 2: latencies of simulated page faults with and without huge pages, and their time.

FAULT_TIMES_NAME = "fault-times"
#: panel -> column of the table, label of its axis
FAULT_TIMES_PANELS = {
    "latency": ("share", "faults that are at most as slow"),
    "time": ("time_above", "time of faults in slower ones"),
}
_SCENARIO_LOOKS = (
    (style.VERMILLION, "o", "-"),
    (style.BLUE, "s", "--"),
    (style.GREEN, "^", "-."),
    (style.GREY, "D", ":"),
)


def fault_times_table(results) -> pd.DataFrame:
    """Columns: panel (latency, time), workload, platform, scenario, cycles, part (a fraction), provenance."""
    rows = Results.of(results).needed(FAULT_TIMES, FAULT_TIMES_NAME, VIRTUOSO_HINT, why=VIRTUOSO_WHY)
    rows = rows[rows["kind"] == ALL]
    head = ["workload", "platform", "scenario", "cycles", "provenance"]
    parts = [
        rows[head].assign(panel=panel, part=rows[column]) for panel, (column, _) in FAULT_TIMES_PANELS.items()
    ]
    columns = ["panel", "workload", "platform", "scenario", "cycles", "part", "provenance"]
    return pd.concat(parts, ignore_index=True)[columns]


@figure(
    "fault-times",
    "Latency of page faults with and without huge pages",
    "Above: share of the simulated faults of each program that are at most as slow. Below: share of the "
    "time of all faults that slower ones take. The table of latencies has the number of faults of each "
    "line. thp-never has 4KB pages only; Virtuoso draws such "
    "distributions of a real machine (Figure 2).",
    page="faults.html",
)
def draw_fault_times(results, reference):
    """A column of panels for each program; a line for each scenario."""
    rows = fault_times_table(results)
    programs = list(dict.fromkeys(rows["workload"]))
    scenarios = list(dict.fromkeys(rows["scenario"]))
    figure, all_axes = style.panels(
        len(FAULT_TIMES_PANELS), len(programs), width=max(style.WIDTH, 2.6 * len(programs)), height=5.6,
        sharex="col", sharey=True, squeeze=False,
    )  # fmt: skip
    for line, (panel, (_, label)) in zip(all_axes, FAULT_TIMES_PANELS.items(), strict=True):
        for axes, program in zip(line, programs, strict=True):
            for scenario, (colour, marker, dash) in zip(scenarios, cycle(_SCENARIO_LOOKS), strict=False):
                mine = rows[
                    (rows["panel"] == panel) & (rows["workload"] == program) & (rows["scenario"] == scenario)
                ]
                axes.plot(
                    mine["cycles"], mine["part"], dash, color=colour, marker=marker, markersize=3.5,
                    linewidth=1.3, label=scenario,
                )  # fmt: skip
            axes.set_xscale("log")
            style.log_axis(axes.xaxis)
            style.percent_axis(axes.yaxis)
        line[0].set_ylabel(label)
    for axes, program in zip(all_axes[0], programs, strict=True):
        axes.set_title(program, fontsize=8)
    for axes in all_axes[-1]:
        axes.set_xlabel("latency of a fault (cycles)")
    style.legend_below(figure, all_axes.flat, columns=2)
    style.headline(figure, "Latency of page faults with and without huge pages", "simulated")
    return figure, rows


# Latency of page faults on this machine: shares of touches by latency, and combs beside chance.

FAULT_LATENCY_COMMAND = "./run tessera lab faults measure --out results/default"
FAULT_LATENCY_NAME = "fault-latency"
_FAULT_KIND_LOOKS = (
    (style.BLUE, "o", "-"),
    (style.ORANGE, "s", "--"),
    (style.GREEN, "^", "-."),
    (style.VERMILLION, "D", ":"),
    (style.GREY, "P", "--"),
)


def fault_latency_table(results) -> pd.DataFrame:
    """Columns: panel (latency, comb, chance), kind, reason, share (a fraction), us, provenance."""
    results = Results.of(results)
    why = "page faults were not measured"
    latency = results.needed(FAULT_LATENCY, FAULT_LATENCY_NAME, FAULT_LATENCY_COMMAND, why)
    curves = pd.DataFrame(
        {"panel": "latency", "kind": latency["kind"], "reason": "", "share": latency["share"],
         "us": latency["ns"] / 1e3, "provenance": latency["provenance"]}
    )  # fmt: skip
    combs = results.needed(FAULT_COMB, FAULT_LATENCY_NAME, FAULT_LATENCY_COMMAND, why)
    bars = [
        pd.DataFrame(
            {"panel": panel, "kind": combs["kind"], "reason": combs["reason"], "share": share,
             "us": float("nan"), "provenance": combs["provenance"]}
        )
        for panel, share in (("comb", combs["hits"] / combs["asked"]), ("chance", combs["chance"]))
    ]  # fmt: skip
    return pd.concat([curves, *bars], ignore_index=True)


@figure(
    "fault-latency",
    "Latency of page faults on this machine",
    "Top: first touches of memory, quantiles as the median over passes. Bottom: slow touches at the "
    "distances of page tables, LRU batches and fault-around, beside the share of random places.",
    page="faults.html",
)
def draw_fault_latency(results, reference):
    """A line for each kind; below, two bars for each comb."""
    rows = fault_latency_table(results)
    figure, (above, below) = style.panels(2, 1, width=style.WIDTH, height=6.4, height_ratios=(3, 2))
    curves = rows[rows["panel"] == "latency"]
    for (kind, line), (colour, marker, dash) in zip(
        curves.groupby("kind", sort=False), _FAULT_KIND_LOOKS, strict=False
    ):
        above.plot(
            line["us"], line["share"], dash, color=colour, marker=marker, markersize=3.5, linewidth=1.3,
            label=kind,
        )  # fmt: skip
    above.set_xscale("log")
    style.log_axis(above.xaxis)
    above.set_xlabel("latency of a first touch (us)")
    above.set_ylabel("touches that are at most as slow")
    style.percent_axis(above.yaxis)
    above.legend(fontsize=8)
    combs, chance = rows[rows["panel"] == "comb"], rows[rows["panel"] == "chance"]
    places = list(range(len(combs)))
    below.barh([y - 0.2 for y in places], combs["share"], 0.4, color=style.BLUE, label="measured")
    below.barh([y + 0.2 for y in places], chance["share"], 0.4, color=style.GREY, label="by chance")
    below.set_yticks(places, [f"{row.kind}: {row.reason}" for row in combs.itertuples()])
    below.set_ylim(len(combs) - 0.4, -0.6)
    below.set_xlabel("touches, or distances of slow touches, at the comb's period")
    style.percent_axis(below.xaxis)
    below.legend(fontsize=8)
    style.headline(figure, "What a page fault costs on this machine", "measured")
    return figure, rows
