"""OPERA table 4: the allocator's memory and runtime overheads beside glibc, published and measured.

Published are the report's ten programs with its allocator; measured are ours (``tessera lab allocator
overhead``), in other sizes, so the rows differ and only the kind of cost is compared.
"""

from __future__ import annotations

import pandas as pd

from tessera.core.results.loader import workload_order
from tessera.core.results.machine_tables import ALLOCATOR
from tessera.lab.allocator_proof.overhead import overheads
from tessera.report.figures import figure, published, style
from tessera.report.results import Results

COMMAND = "./run tessera lab allocator overhead --out results/default/host/allocator.csv"
_QUANTITIES = ("memory", "runtime")
_OURS = {"memory_bytes": ("memory", 1 << 30), "cpu_ns": ("runtime", 1e9)}


def table(results, reference) -> pd.DataFrame:
    """Columns: source, workload, quantity, glibc, mosalloc (GB or s), overhead, low, high (fractions), ..."""
    ours = overheads(Results.of(results).needed(ALLOCATOR, "opera-table4", COMMAND))
    scale = ours["quantity"].map({name: unit for name, (_, unit) in _OURS.items()})
    ours = ours.assign(
        glibc=ours["glibc"] / scale, mosalloc=ours["mosalloc"] / scale,
        quantity=ours["quantity"].map({name: to for name, (to, _) in _OURS.items()}),
        source="Tessera", provenance="measured",
    )  # fmt: skip
    paper = published.allocator_costs(reference).assign(source="paper", provenance="published")
    columns = [
        "source",
        "workload",
        "quantity",
        "glibc",
        "mosalloc",
        "overhead",
        "low",
        "high",
        "pairs",
        "provenance",
    ]
    return pd.concat([ours, paper], ignore_index=True).reindex(columns=columns)


@figure(
    "opera-table4",
    "Cost of the allocator, compared with glibc",
    "OPERA Table 4: memory and runtime of programs with the allocator compared to plain glibc; "
    "published for OPERA's allocator, measured for this one, all with 4KB pages. Whiskers: 95% "
    "intervals of the median pair. Measured time is processor time; published time is wall-clock time.",
    page="allocator.html",
)
def draw(results, reference):
    """Two panels, memory and runtime; a row per program: square measured, diamond published."""
    rows = table(results, reference)
    order = [
        name
        for source in ("Tessera", "paper")
        for name in workload_order(rows.loc[rows["source"] == source, "workload"])
    ]
    places = {name: place for place, name in enumerate(dict.fromkeys(order))}
    figure, all_axes = style.panels(1, 2, width=style.WIDTH, height=1.5 + 0.27 * len(places), sharey=True)
    for axes, quantity in zip(all_axes, _QUANTITIES, strict=True):
        for source, marker, face in (("Tessera", "s", style.BLUE), ("paper", "D", style.PAPER)):
            mine = rows[(rows["source"] == source) & (rows["quantity"] == quantity)]
            if mine.empty:
                continue
            at = [places[name] for name in mine["workload"]]
            known = mine["low"].notna() & mine["high"].notna()
            sides = [(mine["overhead"] - mine["low"])[known], (mine["high"] - mine["overhead"])[known]]
            axes.errorbar(
                mine["overhead"][known], [y for y, ok in zip(at, known, strict=True) if ok], xerr=sides,
                fmt="none", ecolor=style.INK, elinewidth=1, capsize=2.5,
            )  # fmt: skip
            label = "measured here" if source == "Tessera" else "published"
            axes.plot(
                mine["overhead"], at, marker, markersize=6.5, markerfacecolor=face,
                markeredgecolor=style.INK, label=label,
            )  # fmt: skip
        axes.axvline(0, color=style.MUTED, linewidth=1)
        axes.set_xlabel(f"{quantity}, change over glibc's")
        axes.tick_params(axis="y", length=0)
        style.percent_axis(axes.xaxis)
    all_axes[0].set_yticks(range(len(places)), list(places), fontsize=8.5)
    all_axes[0].set_ylim(len(places) - 0.4, -0.6)
    style.legend_below(figure, all_axes)
    style.headline(figure, "What the allocator costs", "measured, beside published")
    return figure, rows
