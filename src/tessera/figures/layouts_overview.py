"""The layouts of one workload on one platform: where huge pages are, and the runtime that follows."""

from __future__ import annotations

import re

import pandas as pd
from matplotlib.patches import Rectangle

from tessera.errors import TesseraError
from tessera.figures import style
from tessera.figures.tables import NotDrawn, Results
from tessera.layouts.model import canonical_name, read_layout
from tessera.units import PAGE_1GB, PAGE_2MB, PAGE_4KB

_COLOURS = {PAGE_4KB: style.GRID, PAGE_2MB: style.BLUE, PAGE_1GB: style.ORANGE}
_POOLS = ("brk", "mmap")
_HEURISTICS = ("growing", "random", "sliding-20", "sliding-40", "sliding-60", "sliding-80", "1gb")


def table(results, workload: str, platform: str) -> pd.DataFrame:
    """Columns: layout, pool, start_bytes, end_bytes (in the joined space), page_bytes, runtime_cycles."""
    results = Results.of(results)
    folder = results.directory / "layouts" / workload / platform
    layouts = []
    for path in folder.glob("*.csv"):
        if path.stem == "manifest":
            continue
        try:
            layouts.append(read_layout(path))
        except TesseraError:
            continue
    if not layouts:
        raise NotDrawn(f"layouts of {workload} on {platform}", "no layout files in the results tree")
    runtimes = results.samples(workload, platform).set_index("layout")["runtime_cycles"]
    rows = []
    for layout in sorted(layouts, key=lambda one: _order(canonical_name(one.name))):
        name, base = canonical_name(layout.name), 0
        for pool in _POOLS:
            size = layout.pool_bytes.get(pool, 0)
            rows.append((name, pool, base, base + size, PAGE_4KB, runtimes.get(name)))
            rows += [
                (name, pool, base + w.start, base + w.end, w.page_bytes, runtimes.get(name))
                for w in layout.windows
                if w.pool == pool
            ]
            base += size
    columns = ["layout", "pool", "start_bytes", "end_bytes", "page_bytes", "runtime_cycles"]
    tidy = pd.DataFrame(rows, columns=columns).assign(workload=workload, platform=platform)
    return tidy.assign(provenance="simulated")


def draw(results, reference, workload: str, platform: str):
    """A strip per layout (left) and its runtime (right)."""
    rows = table(results, workload, platform)
    names = list(dict.fromkeys(rows["layout"]))
    figure, (left, right) = style.panels(
        1,
        2,
        width=8.6,
        height=1.5 + 0.135 * len(names),
        sharey=True,
        gridspec_kw={"width_ratios": [3, 1]},
    )
    used = _used_end(rows)
    for place, name in enumerate(names):
        mine = rows[rows["layout"] == name]
        spans = list(zip(mine["start_bytes"], mine["end_bytes"] - mine["start_bytes"], strict=True))
        shades = [_COLOURS.get(size, style.BLUE) for size in mine["page_bytes"]]
        left.broken_barh(spans, (place - 0.4, 0.8), facecolors=shades, linewidth=0)
    heap = rows[(rows["pool"] == "brk") & (rows["layout"] != "1gb")]["end_bytes"].max()
    if 0 < heap < used:
        left.axvline(heap, color=style.INK, linewidth=1)
        left.annotate(
            "heap | anonymous",
            (heap, 0),
            xytext=(0, 6),
            textcoords="offset points",
            ha="center",
            fontsize=7.5,
            color=style.MUTED,
            annotation_clip=False,
        )
    ticks = [used * i / 4 for i in range(5)]
    left.set_xticks(ticks, [f"{tick / (1 << 20):.0f}" for tick in ticks])
    left.set_xlim(0, used)
    left.set_xlabel("offset (MB)")
    times = rows.drop_duplicates("layout").set_index("layout")["runtime_cycles"].reindex(names)
    scale, unit = style.count_unit(times.max())
    right.plot(times / scale, range(len(names)), "o", markersize=4, color=style.INK)
    right.set_xlabel(f"runtime (cycles, {unit})")
    left.set_yticks(range(len(names)), names, fontsize=6.5)
    left.set_ylim(len(names) - 0.4, -0.6)
    left.grid(False)
    handles = [Rectangle((0, 0), 1, 1, color=colour) for colour in _COLOURS.values()]
    figure.legend(handles, ["4KB", "2MB", "1GB"], loc="outside lower center", ncols=3)
    style.headline(figure, f"Layouts of {workload} on {platform}", "simulated")
    return figure, rows


def _used_end(rows: pd.DataFrame) -> float:
    """End of what is worth drawing: pools are larger than what the program uses; growing-8 covers that."""
    huge = rows[(rows["page_bytes"] > PAGE_4KB) & (rows["layout"] != "1gb")]["end_bytes"]
    return float(huge.max() if len(huge) else rows["end_bytes"].max())


def _order(name: str) -> tuple[int, int]:
    kind = next((h for h in _HEURISTICS if name.startswith(h)), name)
    place = _HEURISTICS.index(kind) if kind in _HEURISTICS else len(_HEURISTICS)
    number = re.search(r"(\d+)$", name.removeprefix(kind))
    return place, int(number.group(1)) if number else 0
