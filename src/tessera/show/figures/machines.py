"""R against C of each workload on each real machine whose bundle took part: a panel a workload."""

from __future__ import annotations

import pandas as pd

from tessera.layouts.names import ALL_1GB, ALL_2MB, ALL_4KB, PAGE_SIZE_OF
from tessera.show.figures import style
from tessera.show.figures.machines_kept import Kept, kept
from tessera.show.results import NotDrawn, Results

COMMAND = "./run measure --minutes 20 --out B"
COLUMNS = ["machine", "bundle", "workload", "layout", "walk_cycles", "walk_cycles_ci95", "runtime_cycles",
           "runtime_cycles_ci95", "provenance"]  # fmt: skip
#: layouts with one page size have a mark of their own
_MARKS = {ALL_4KB: ("v", style.VERMILLION), ALL_2MB: ("^", style.GREEN), ALL_1GB: ("*", style.ORANGE)}


def table(results) -> pd.DataFrame:
    """:data:`COLUMNS`, a row for each layout with R and C in cycles; half-widths are of 95% intervals."""
    bundles = kept(Results.of(results).directory)
    if not bundles:
        raise NotDrawn("figure machines", "no bundle of a real machine took part", COMMAND)
    found = pd.concat([rows_of(one) for one in bundles], ignore_index=True)
    if found.empty:
        raise NotDrawn("figure machines", "no bundle has a layout with both R and C", COMMAND)
    return found


def rows_of(one: Kept) -> pd.DataFrame:
    """The rows of one bundle."""
    good = one.good.dropna(subset=["runtime_cycles", "walk_cycles"])
    named = good.assign(
        machine=one.bundle.about.platform, bundle=one.identity, provenance=good["runtime_provenance"]
    )
    numbers = [name for name in COLUMNS if "cycles" in name]
    return named.astype(dict.fromkeys(numbers, "float64"))[COLUMNS].reset_index(drop=True)


def draw(results, reference):
    """Two panels beside each other; discs are layouts, other marks those with one page size."""
    rows = table(results)
    return picture(rows, "R against C on real machines"), rows


def picture(rows: pd.DataFrame, title: str):
    """The panels of these rows (:func:`table`), a panel for each bundle and workload."""
    pairs = list(rows.groupby(["bundle", "workload"], sort=False))
    lines = (len(pairs) + 1) // 2
    figure, axes = style.panels(lines, 2, width=style.WIDTH, height=1.2 + 2.5 * lines, squeeze=False)
    panels = list(axes.flat)
    for panel, (_, part) in zip(panels, pairs, strict=False):
        _panel(panel, part)
    for panel in panels[len(pairs) :]:
        panel.set_axis_off()
    style.legend_below(figure, panels[: len(pairs)], columns=4)
    style.headline(figure, title, " and ".join(sorted(set(rows["provenance"]))))
    return figure


def _panel(axes, part: pd.DataFrame) -> None:
    across, of = style.count_unit(part["walk_cycles"].max())
    up, unit = style.count_unit(part["runtime_cycles"].max())
    for layout, (marker, colour) in {"": ("o", style.BLUE), **_MARKS}.items():
        mine = part[part["layout"] == layout] if layout else part[~part["layout"].isin(_MARKS)]
        if mine.empty:
            continue
        axes.errorbar(
            mine["walk_cycles"] / across, mine["runtime_cycles"] / up,
            xerr=mine["walk_cycles_ci95"].fillna(0) / across, yerr=mine["runtime_cycles_ci95"].fillna(0) / up,
            fmt=marker, color=colour, markeredgecolor=style.INK, markersize=6, elinewidth=0.8,
            label=f"{PAGE_SIZE_OF[layout]} pages" if layout else "layouts",
        )  # fmt: skip
    axes.set_title(f"{part['workload'].iloc[0]}\n{part['machine'].iloc[0]}", fontsize=9)
    axes.set_xlabel(f"C (walk cycles, {of})")
    axes.set_ylabel(f"R (cycles, {unit})")
