"""Where the TLB misses of a program lie: heat over its address space, hot regions, the windows on them."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.colors import PowerNorm
from matplotlib.patches import Rectangle

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.layouts.generation import HOT_PERCENT, ORDER, Space, hot_region, miss_vector
from tessera.core.layouts.layout import ALL_4KB, Layout
from tessera.core.results.cell_tables import ARCHIVED_PROFILE, PROFILE
from tessera.core.results.table_io import read_file
from tessera.measure.suggest.profile import (
    Profile,
    compact_order,
    fewest_pages,
    layout_of_pages,
    page_of,
    ranked_pages,
)
from tessera.report.explore.source import PairSamples, ResultsSource
from tessera.report.figures import style
from tessera.simulate.runner import miss_profile

COLUMNS = 64  #: of the heat map


def profile(source: ResultsSource, pair: PairSamples) -> tuple[Space, pd.DataFrame]:
    """The program's address space, and its misses under 4KB pages: `pool,offset_bytes,stlb_misses` per 2MB.

    From the archive's table, or counted by the simulator from the trace of the results tree.

    Raises:
        TesseraError: neither is there.
    """
    info, trace = pair.tree.info(pair.workload), pair.tree.trace(pair.workload)
    if not info.is_file():
        raise _absent(f"info.json of {pair.workload} in {source.where}")
    space = Space.from_trace_info(json.loads(info.read_text()))
    if source.archived:
        return space, source.results.strict(ARCHIVED_PROFILE, pair.workload, pair.platform)
    if not trace.is_file():
        raise _absent(f"trace of {pair.workload} in {source.where}")
    with tempfile.TemporaryDirectory(prefix="tessera-profile-") as scratch:
        out = Path(scratch) / "misses.csv"
        return space, read_file(PROFILE, miss_profile(trace, platforms.load_platform(pair.platform), out))


def _absent(what: str) -> TesseraError:
    return TesseraError(
        what, "no such file", "record it: ./run reproduce; or set results_dir = 'notebooks/data'"
    )


def hot_regions(space: Space, misses: pd.DataFrame) -> pd.DataFrame:
    """The smallest region with X% of the misses (MICRO'20 VI-B): first and last MB of S, share of S."""
    vector = miss_vector(space, misses)
    rows = []
    for percent in HOT_PERCENT:
        start, end = hot_region(vector, percent / 100)
        held = vector[start:end].sum() / (vector.sum() or 1)
        rows.append((f"{percent}%", 2 * start, 2 * end, (end - start) / len(vector), held))
    columns = ["misses asked for", "from_mb", "to_mb", "share of the space", "misses held"]
    table = pd.DataFrame(rows, columns=columns).set_index("misses asked for").rename_axis(None)
    for name in columns[3:]:
        table[name] = [style.percent_text(value) for value in table[name]]
    return table


def draw_heat(pair: PairSamples, space: Space, misses: pd.DataFrame):
    """The space S as a map, row by row, :data:`COLUMNS` pieces a row; dark is hot (the scale is a square
    root, so that warm parts show beside hot ones). Hot regions below it.
    """
    vector = miss_vector(space, misses)
    piece = max(1, -(-len(vector) // (COLUMNS * 16)))  # at most 16 rows
    sums = np.add.reduceat(vector, range(0, len(vector), piece))
    rows = -(-len(sums) // COLUMNS)
    grid = np.full(rows * COLUMNS, np.nan)
    grid[: len(sums)] = sums / (vector.sum() or 1)
    with style.context():
        figure, (heat, regions) = style.panels(
            2, 1, width=8.6, height=2.2 + 0.2 * rows, gridspec_kw={"height_ratios": [max(rows, 4), 4]}
        )
        drawn = heat.pcolormesh(
            grid.reshape(rows, COLUMNS), cmap="Blues", norm=PowerNorm(0.5, vmin=0), rasterized=True
        )
        heat.set_facecolor(style.GRID)  # beyond the end of S
        heat.set_ylim(rows, 0)
        row_mb = 2 * piece * COLUMNS
        step = -(-rows // 8)
        heat.set_yticks([row + 0.5 for row in range(0, rows, step)],
                        [f"{row * row_mb} MB" for row in range(0, rows, step)])  # fmt: skip
        heat.set_xticks([])
        heat.grid(False)
        bar = figure.colorbar(drawn, ax=heat, label="share of all misses")
        style.percent_axis(bar.ax.yaxis)
        for place, percent in enumerate(HOT_PERCENT):
            start, end = hot_region(vector, percent / 100)
            regions.broken_barh(
                [(2 * start, 2 * (end - start))], (place - 0.36, 0.72), facecolors=style.ORANGE
            )
        regions.set_yticks(range(len(HOT_PERCENT)), [f"{percent}%" for percent in HOT_PERCENT])
        regions.set_xlim(0, 2 * len(vector))
        regions.set_xlabel(
            "position in the address space (MB); smallest region with that share of the misses"
        )
        _pools(regions, space)
        title = f"TLB misses of {pair.title}, each cell {2 * piece} MB"
        style.headline(figure, title, "simulated")
    return figure


def draw_windows(pair: PairSamples, space: Space, layouts: list[Layout]):
    """One strip per layout: which part of S has 2MB pages; right, the runtime that followed."""
    runtimes = pair.table.frame["runtime_cycles"]
    with style.context():
        figure, (left, right) = style.panels(
            1,
            2,
            width=8.6,
            height=1.2 + 0.16 * len(layouts),
            sharey=True,
            gridspec_kw={"width_ratios": [3, 1]},
        )
        for place, layout in enumerate(layouts):
            left.add_patch(
                Rectangle((0, place - 0.4), space.size / 2**20, 0.8, color=style.GRID, linewidth=0)
            )
            spans = [
                (space.position(w.pool, w.start) / 2**20, (w.end - w.start) / 2**20) for w in layout.windows
            ]
            left.broken_barh(spans, (place - 0.4, 0.8), facecolors=style.BLUE, linewidth=0)
        names = [layout.name for layout in layouts]
        left.set_yticks(range(len(names)), names, fontsize=7.5)
        left.set_ylim(len(names) - 0.4, -0.6)
        left.set_xlim(0, space.size / 2**20)
        left.set_xlabel("position (MB); blue has 2MB pages, grey 4KB")
        left.grid(False)
        shown = [runtimes.get(name, np.nan) / runtimes[ALL_4KB] for name in names]
        right.plot(shown, range(len(names)), "o", color=style.INK, markersize=4)
        right.set_xlabel("R / R with 4KB pages")
        style.headline(figure, f"Layouts of {pair.name}", pair.provenance)
    return figure


def suggestion(pair: PairSamples, space: Space, misses: pd.DataFrame, share: float) -> Layout:
    """The layout of the fewest 2MB pages that hold ``share`` of the misses (as `tessera mosalloc suggest`).

    By the profile alone: huge pages miss too, which only `suggest` on a trace counts.

    Raises:
        TesseraError: no miss lies in the pools.
    """
    counted: dict = {}
    for row in misses.itertuples(index=False):
        page = page_of(row.pool, int(row.offset_bytes))
        counted[page] = counted.get(page, 0) + float(row.stlb_misses)
    method = f"misses of {pair.workload} under 4KB pages, simulated on {pair.platform}"
    known = Profile("simulated", method, counted, sum(counted.values()), dict(space.pool_bytes))
    pages = ranked_pages(known)
    if not pages:
        raise TesseraError(method, "none lies in the pools", "choose a workload with TLB misses")
    count = fewest_pages(known, pages, share) or len(pages)
    return layout_of_pages(f"hot-{share:.0%}".removesuffix("%"), known, compact_order(known)[:count])


def _pools(axes, space: Space) -> None:
    """A line between the heap and the anonymous pool, if both are in use."""
    border = space.used_bytes.get(ORDER[0], 0) / 2**20
    if 0 < border < space.size / 2**20:
        axes.axvline(border, color=style.MUTED, linewidth=1)
