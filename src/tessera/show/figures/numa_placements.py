"""Mitosis Figures 6 and 10 for a computed GUPS of 64GB: runtime and walk cycles by placement, over LP-LD.

Bars are simulated; where loads wait behind a hog, the whisker spans the assumed numbers of its lines.
Diamonds are quotients of archived cycles, if the archive was fetched. The paper prints no bar.
"""

from __future__ import annotations

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.numa.archive import column, cycles_of
from tessera.numa.placement import LOCAL
from tessera.numa.queue import SWEEP
from tessera.results.schema.numa import PLACEMENTS
from tessera.results.schema.shown import REFERENCE
from tessera.show.figures import style
from tessera.show.results import Results

NAME = "numa-placements"
HINT = "./run tessera numa placements --out results/default/studies/numa/placements.csv"
QUANTITIES = {"runtime": "runtime", "walk": "walk cycles"}  #: in the archive -> in words
WORKLOAD = "GUPS"
_COLOURS = {"4KB": style.BLUE, "2MB": style.ORANGE}
_HATCHES = {"4KB": "", "2MB": "///"}
COLUMNS = ["source", "page_size", "configuration", "assumption", "quantity", "ratio", "provenance"]


def table(results) -> pd.DataFrame:
    """Columns :data:`COLUMNS`; ``ratio`` is over LP-LD with the same page size."""
    read = Results.of(results)
    rows = read.needed(PLACEMENTS, NAME, HINT, why="no placement was simulated")
    ours = [
        ("Tessera", row.page_size, row.configuration, row.assumption, words, ratio, "simulated")
        for row in rows.fillna({"assumption": ""}).itertuples()
        for words, ratio in zip(QUANTITIES.values(), (row.runtime_ratio, row.walk_ratio), strict=True)
        if pd.notna(ratio)
    ]
    return pd.DataFrame(ours + _archived(read, dict.fromkeys(rows["configuration"])), columns=COLUMNS)


def _archived(read: Results, configurations) -> list[tuple]:
    """The archived quotients of GUPS; none if the archive was not fetched."""
    try:
        archived = read.read(REFERENCE["archived"], expected=False)
    except TesseraError:
        return []
    found = []
    for quantity, words in QUANTITIES.items():
        for size in _COLOURS if len(archived) else ():
            wide = cycles_of(archived, "Figure 6", quantity, size)
            if WORKLOAD not in wide.index:
                continue
            base = column(wide, LOCAL)[WORKLOAD]
            values = ((name, column(wide, name)[WORKLOAD] / base) for name in configurations)
            found += [
                ("archive", size, name, "", words, ratio, "published")
                for name, ratio in values
                if pd.notna(ratio)
            ]
    return found


def draw(results, reference):
    """A panel for each quantity; a pair of bars for each configuration."""
    rows = table(results)
    names = list(dict.fromkeys(rows.loc[rows["source"] == "Tessera", "configuration"]))
    quantities = [words for words in QUANTITIES.values() if words in set(rows["quantity"])]
    figure, all_axes = style.panels(
        len(quantities), 1, width=style.WIDTH, height=1.1 + 2.1 * len(quantities), sharex=True, squeeze=False
    )
    for axes, words in zip(all_axes[:, 0], quantities, strict=True):
        for shift, size in zip((-0.2, 0.2), _COLOURS, strict=True):
            mine = rows[(rows["quantity"] == words) & (rows["page_size"] == size)]
            _bars(axes, mine[mine["source"] == "Tessera"], names, shift, size)
            marks = mine[mine["source"] == "archive"]
            if len(marks):
                at = [names.index(name) + shift for name in marks["configuration"]]
                axes.plot(
                    at,
                    marks["ratio"],
                    "D",
                    color=style.INK,
                    markersize=4,
                    label="published: archived",
                )
        axes.axhline(1, color=style.MUTED, linewidth=0.8)
        axes.set_ylabel(f"{words} over {LOCAL}")
        axes.grid(False, axis="x")
        axes.tick_params(axis="x", length=0)
    all_axes[-1, 0].set_xticks(range(len(names)), names, fontsize=8, rotation=30, ha="right")
    style.legend_below(figure, all_axes[:, 0], columns=2)
    kinds = "simulated" if set(rows["source"]) == {"Tessera"} else "simulated, beside published"
    style.headline(figure, "GUPS of 64GB by placement of tables and data", kinds)
    return figure, rows


def _bars(axes, rows: pd.DataFrame, names: list[str], shift: float, size: str) -> None:
    deciding = rows[rows["assumption"].isin(("", SWEEP[1.0]))].set_index("configuration")["ratio"]
    spread = rows.groupby("configuration")["ratio"].agg(["min", "max"])
    at = [names.index(name) + shift for name in deciding.index]
    low = deciding - spread["min"].reindex(deciding.index)
    high = spread["max"].reindex(deciding.index) - deciding
    axes.bar(
        at, deciding, width=0.38, color=_COLOURS[size], hatch=_HATCHES[size], edgecolor=style.INK,
        label=f"simulated, {size} pages", yerr=[low, high],
        error_kw={"ecolor": style.INK, "elinewidth": 1, "capsize": 2},
    )  # fmt: skip
