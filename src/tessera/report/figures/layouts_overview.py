"""Where the misses are, and what each layout does about it: a heat map over the pools, windows, runtimes.

The heat is the STLB misses of each 2MB region with 4KB pages on this platform (``profile/misses.csv`` beside
the layouts, what the sliding windows follow: MICRO'20 VI-B). Each row is a layout: huge pages cover the heat,
what stays visible still misses. Positions are those of S, the used heap and then the used anonymous memory.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import ALL_1GB, ALL_2MB, ALL_4KB, canonical_name, read_layout
from tessera.core.results.cell_tables import PROFILE
from tessera.core.units import PAGE_1GB, PAGE_2MB, PAGE_4KB
from tessera.report.figures import figure, style
from tessera.report.results import NotDrawn, Results

COLUMNS = (
    "what",
    "layout",
    "pool",
    "start_bytes",
    "end_bytes",
    "page_bytes",
    "stlb_misses",
    "runtime_cycles",
)
BINS = 256  #: columns of the picture, each a whole number of 2MB regions
_POOLS = ("brk", "mmap")
_HEURISTICS = ("growing", "random", "sliding-20", "sliding-40", "sliding-60", "sliding-80", ALL_1GB)
_COLD = 0.10  #: how visible a region with the fewest misses is


def table(results, workload: str, platform: str) -> pd.DataFrame:
    """Rows ``pages`` (a window of a layout, or a pool's extent in 4KB pages) and ``misses`` (of a column of
    the picture); offsets are bytes in S."""
    results = Results.of(results)
    paths = results.tree.found(results.tree.layout(workload, platform, "*"))
    layouts = sorted(_layouts(paths), key=lambda one: _order(one.name))
    if not layouts:
        raise NotDrawn(f"layouts of {workload} on {platform}", "no layout files in the results tree")
    spans = _spans(layouts)
    bases = {pool: sum(list(spans.values())[:i]) for i, pool in enumerate(spans)}
    runtimes = results.samples(workload, platform).set_index("layout")["runtime_cycles"]
    rows = []
    for layout in layouts:
        about = (layout.name, runtimes.get(layout.name))
        extents = [(pool, 0, spans[pool], PAGE_4KB) for pool in _POOLS]
        windows = [(w.pool, w.start, min(w.end, spans[w.pool]), w.page_bytes) for w in layout.windows]
        for pool, start, end, page_bytes in extents + windows:
            if end > start:
                base = bases[pool]
                rows.append(("pages", about[0], pool, base + start, base + end, page_bytes, None, about[1]))
    rows += _misses(results.read(PROFILE, workload, platform, expected=False), spans, bases)
    tidy = pd.DataFrame(rows, columns=list(COLUMNS)).assign(workload=workload, platform=platform)
    return tidy.assign(provenance="simulated")


def _layouts(paths) -> list:
    found = []
    for path in paths:
        try:
            layout = read_layout(path)
        except TesseraError:
            continue  # no layout: the manifest, or a table that someone put there
        found.append(type(layout)(canonical_name(layout.name), layout.pool_bytes, layout.windows))
    return found


def _spans(layouts: list) -> dict[str, int]:
    """Used bytes of each pool: what growing-8 covers, else the furthest 2MB window, else the whole pool."""
    whole = [one for one in layouts if one.name == ALL_2MB] or [o for o in layouts if o.name != ALL_1GB]
    spans = {
        pool: max((w.end for one in whole for w in one.windows if w.pool == pool), default=0)
        for pool in _POOLS
    }
    return spans if any(spans.values()) else {pool: layouts[0].pool_bytes.get(pool, 0) for pool in _POOLS}


def _misses(profile: pd.DataFrame, spans: dict[str, int], bases: dict[str, int]) -> list[tuple]:
    """Misses by column of the picture; no rows without a profile."""
    if profile.empty:
        return []
    profile = profile[profile["pool"].isin(_POOLS)]
    profile = profile[profile["offset_bytes"] < profile["pool"].map(spans)]
    width = _width(sum(spans.values()))
    place = (profile["pool"].map(bases) + profile["offset_bytes"]) // width
    binned = profile.groupby([profile["pool"], place], sort=True)["stlb_misses"].sum()
    return [
        ("misses", ALL_4KB, pool, int(i * width), int((i + 1) * width), PAGE_4KB, int(count), None)
        for (pool, i), count in binned.items()
    ]


def _width(size: int) -> int:
    """Bytes of a column: whole 2MB regions, at most :data:`BINS` columns."""
    return max(1, -(-size // (BINS * PAGE_2MB))) * PAGE_2MB


@figure(
    "layouts",
    "STLB misses by address, and the layouts",
    "Top: STLB misses with 4KB pages, by position in the used heap and then in anonymous memory (log "
    "scale). Bottom: a row per layout. Huge pages hide the misses that they remove; the misses that are "
    "left stay visible. The runtime is at the right.",
    per_pair=True,
)
def draw(results, reference, workload: str, platform: str):
    """The heat, a strip per layout below it, and runtimes at the right."""
    rows = table(results, workload, platform)
    pages = rows[rows["what"] == "pages"]
    names = list(dict.fromkeys(pages["layout"]))
    size = pages["end_bytes"].max()
    heat = _heat(rows[rows["what"] == "misses"], size)
    figure, ((top, corner), (left, right)) = _panels(len(names))
    corner.set_axis_off()
    extent = (0, size / 2**20)
    top.imshow(heat[None], aspect="auto", interpolation="none", extent=(*extent, 0, 1))
    hot = bool(heat[:, 3].any())
    top.set_ylabel(
        "misses\nwith 4KB" if hot else "no miss\nprofile", rotation=0, ha="right", va="center", fontsize=7.5
    )
    strips = _cover(heat, pages, names, size)
    left.imshow(strips, aspect="auto", interpolation="none", extent=(*extent, len(names) - 0.5, -0.5))
    left.set_yticks(range(len(names)), names, fontsize=6.5)
    left.set_xlabel("offset in the used heap, then anonymous memory (MB)")
    heap = pages.loc[pages["pool"] == "brk", "end_bytes"].max() / 2**20
    for axes in (top, left):
        axes.grid(False)
        if 0 < heap < extent[1]:
            axes.axvline(heap, color=style.INK, linewidth=1)
    top.set_xticks([])
    top.set_yticks([])
    if 0 < heap < extent[1]:
        top.set_title(
            f"heap: {heap:.0f} MB | anonymous: {extent[1] - heap:.0f} MB", fontsize=7.5, color=style.MUTED
        )
    _runtimes(right, pages, names)
    figure.legend(handles=_legend(hot), loc="lower center", ncols=4)
    style.headline(figure, f"Misses and layouts of {workload} on {platform}", "simulated")
    return figure, rows


def _panels(layouts: int):
    """Four axes at fixed places: a solver of margins would cost more than all the rest of the figure."""
    strips, top, bottom = 0.135 * max(layouts, 4), 1.1, 0.8  # inches
    figure, axes = style.panels(2, 2, width=8.6, height=top + strips + bottom)
    figure.set_layout_engine("none")
    height = top + strips + bottom
    for (row, column), one in np.ndenumerate(axes):
        left, width = ((0.095, 0.665), (0.79, 0.19))[column]
        low, high = ((bottom + strips + 0.1, 0.4), (bottom, strips))[row]
        one.set_position((left, low / height, width, high / height))
    return figure, axes


def _runtimes(axes, pages: pd.DataFrame, names: list[str]) -> None:
    times = pages.drop_duplicates("layout").set_index("layout")["runtime_cycles"].reindex(names).astype(float)
    scale, unit = style.count_unit(times.max())
    axes.plot(times / scale, range(len(names)), "o", markersize=4, color=style.INK)
    axes.set_xlabel(f"runtime (cycles, {unit})")
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks([])


def _heat(misses: pd.DataFrame, size: float) -> np.ndarray:
    """RGBA of each column; opacity is the logarithm of its misses: it reads on light and dark paper."""
    width = _width(int(size))
    heat = np.zeros((max(1, -(-int(size) // width)), 4))
    heat[:, :3] = to_rgb(style.VERMILLION)
    for row in misses.itertuples():
        heat[min(int(row.start_bytes // width), len(heat) - 1), 3] += row.stlb_misses
    counts = heat[:, 3]
    some = counts > 0
    if some.any():
        low, high = np.log(counts[some].min()), np.log(counts[some].max())
        shade = _COLD + (1 - _COLD) * (np.log(counts[some]) - low) / ((high - low) or 1)
        heat[some, 3] = np.minimum(shade, 1) if high > low else 1
    return heat


def _cover(heat: np.ndarray, pages: pd.DataFrame, names: list[str], size: float) -> np.ndarray:
    """The heat once a layout, with the layout's huge pages over it."""
    strips, width = np.repeat(heat[None], len(names), axis=0), _width(int(size))
    place = {name: i for i, name in enumerate(names)}
    huge = pages[pages["page_bytes"] > PAGE_4KB]
    for name, start, end, page_bytes in huge[["layout", "start_bytes", "end_bytes", "page_bytes"]].to_numpy():
        strips[place[name], int(start // width) : -(-int(end) // width)] = (*_colour(page_bytes), 1)
    return strips


def _colour(page_bytes: int) -> tuple[float, float, float]:
    return to_rgb(style.GREEN if page_bytes == PAGE_1GB else style.BLUE)


def _legend(hot: bool) -> list[Patch]:
    heat = [
        Patch(color=style.VERMILLION, alpha=0.25, label="few misses"),
        Patch(color=style.VERMILLION, label="many misses (log)"),
    ]
    pages = [
        Patch(color=_colour(PAGE_2MB), label="2MB pages"),
        Patch(color=_colour(PAGE_1GB), label="1GB pages"),
    ]
    return (heat if hot else []) + pages


def _order(name: str) -> tuple[int, int]:
    kind = next((h for h in _HEURISTICS if name.startswith(h)), name)
    place = _HEURISTICS.index(kind) if kind in _HEURISTICS else len(_HEURISTICS)
    number = re.search(r"(\d+)$", name.removeprefix(kind))
    return place, int(number.group(1)) if number else 0
