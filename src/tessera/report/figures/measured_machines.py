"""Bundles of real machines that took part, and R against C of each of their workloads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.layouts.layout import ALL_1GB, ALL_2MB, ALL_4KB, PAGE_SIZE_OF
from tessera.core.results.loader import workload_order
from tessera.core.results.outcomes import ok_rows
from tessera.core.results.tree import ResultsTree
from tessera.measure.bundles import cell_arithmetic
from tessera.measure.bundles.bundle import Bundle
from tessera.measure.bundles.head_checks import why_no_evidence
from tessera.measure.bundles.reader import read_bundle
from tessera.measure.bundles.store import bundle_id
from tessera.report.figures import figure, style
from tessera.report.results import NotDrawn, Results

# Bundles that took part in a results folder, as pages, figures and notebooks read them.


@dataclass(frozen=True)
class Kept:
    """A bundle; ``bars``: why it decides no claim. ``cells``: its table (docs/reference/tables.md)."""

    identity: str
    bundle: Bundle
    bars: tuple[str, ...]
    cells: pd.DataFrame

    @property
    def good(self) -> pd.DataFrame:
        """Cells with numbers."""
        return ok_rows(self.cells)

    @property
    def provenance(self) -> str:
        """``measured``, or ``simulated`` of a rehearsal."""
        return "simulated" if self.bundle.about.rehearsal else "measured"


def open_kept(folder: Path) -> Kept:
    """A sealed bundle by its folder or zip file; TesseraError if it can't be read."""
    bundle = read_bundle(folder)
    return Kept(
        bundle_id(bundle), bundle, tuple(why_no_evidence(bundle)), cell_arithmetic.compute_cells(bundle)
    )


def kept_bundles(results: Path) -> list[Kept]:
    """All bundles that took part, by id."""
    return [open_kept(folder) for folder in ResultsTree(results).machines.bundles()]


def page_size_rows(one: Kept) -> list[dict]:
    """A row for each workload: R and C with one page size, C / R, and what larger pages save of R.

    ``None`` stands for a number that the bundle lacks. R and C are in cycles, the rest are fractions.
    """
    rows = []
    for workload in workload_order(one.cells["workload"]):
        good = one.good[one.good["workload"] == workload].set_index("layout")
        r = {name: _cell_number(good, name, "runtime_cycles") for name in (ALL_4KB, ALL_2MB, ALL_1GB)}
        base, walks = r[ALL_4KB], _cell_number(good, ALL_4KB, "walk_cycles")
        saved = {name: None if not base or r[name] is None else 1 - r[name] / base for name in r}
        rows.append({
            "workload": workload, "layouts": len(good),
            "others": int((one.cells["workload"] == workload).sum()) - len(good),
            "R": base, "C": walks, "share": walks / base if base and walks is not None else None,
            "saved_2mb": saved[ALL_2MB], "saved_1gb": saved[ALL_1GB],
        })  # fmt: skip
    return rows


def _cell_number(table: pd.DataFrame, layout: str, column: str) -> float | None:
    if layout not in table.index or pd.isna(table.at[layout, column]):
        return None
    return float(table.at[layout, column])


# R against C of each workload on each real machine whose bundle took part: a panel a workload.

MEASURE_COMMAND = "./run measure --minutes 20 --out B"
MACHINE_COLUMNS = [
    "machine", "bundle", "workload", "layout", "walk_cycles", "walk_cycles_ci95", "runtime_cycles",
    "runtime_cycles_ci95", "provenance",
]  # fmt: skip
#: layouts with one page size have a mark of their own
_PAGE_SIZE_MARKS = {
    ALL_4KB: ("v", style.VERMILLION),
    ALL_2MB: ("^", style.GREEN),
    ALL_1GB: ("*", style.ORANGE),
}


def machines_table(results) -> pd.DataFrame:
    """:data:`MACHINE_COLUMNS`, a row for each layout; R and C are in cycles, half-widths of 95% intervals."""
    bundles = kept_bundles(Results.of(results).directory)
    if not bundles:
        raise NotDrawn("figure machines", "no bundle of a real machine took part", MEASURE_COMMAND)
    found = pd.concat([machine_rows(one) for one in bundles], ignore_index=True)
    if found.empty:
        raise NotDrawn("figure machines", "no bundle has a layout with both R and C", MEASURE_COMMAND)
    return found


def machine_rows(one: Kept) -> pd.DataFrame:
    """The rows of one bundle."""
    good = one.good.dropna(subset=["runtime_cycles", "walk_cycles"])
    named = good.assign(
        machine=one.bundle.about.platform, bundle=one.identity, provenance=good["runtime_provenance"]
    )
    numbers = [name for name in MACHINE_COLUMNS if "cycles" in name]
    return named.astype(dict.fromkeys(numbers, "float64"))[MACHINE_COLUMNS].reset_index(drop=True)


@figure(
    "machines",
    "R against C on real machines",
    "A panel for each workload of each bundle that took part. Bars are 95% intervals over rounds. Barred "
    "bundles are drawn, too.",
    page="machines.html",
)
def draw_machines(results, reference):
    """Two panels beside each other; discs are layouts, other marks those with one page size."""
    rows = machines_table(results)
    return machines_picture(rows, "R against C on real machines"), rows


def machines_picture(rows: pd.DataFrame, title: str):
    """Panels of these rows (:func:`machines_table`), a panel for each bundle and workload."""
    pairs = list(rows.groupby(["bundle", "workload"], sort=False))
    lines = (len(pairs) + 1) // 2
    figure, axes = style.panels(lines, 2, width=style.WIDTH, height=1.2 + 2.5 * lines, squeeze=False)
    panels = list(axes.flat)
    for panel, (_, part) in zip(panels, pairs, strict=False):
        _machine_panel(panel, part)
    for panel in panels[len(pairs) :]:
        panel.set_axis_off()
    style.legend_below(figure, panels[: len(pairs)], columns=4)
    style.headline(figure, title, " and ".join(sorted(set(rows["provenance"]))))
    return figure


def _machine_panel(axes, part: pd.DataFrame) -> None:
    across, of = style.count_unit(part["walk_cycles"].max())
    up, unit = style.count_unit(part["runtime_cycles"].max())
    for layout, (marker, colour) in {"": ("o", style.BLUE), **_PAGE_SIZE_MARKS}.items():
        mine = part[part["layout"] == layout] if layout else part[~part["layout"].isin(_PAGE_SIZE_MARKS)]
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
