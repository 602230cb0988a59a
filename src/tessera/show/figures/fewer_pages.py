"""OPERA figure 10: runtime against walk cycles, with the number of 2MB pages (mcf, SandyBridge).

Every layout is drawn; those with room for it get their number. The lower panel shows the fastest ones closer.
"""

from __future__ import annotations

import pandas as pd

from tessera.judge.fewer_pages import Loss, loss
from tessera.layouts.names import ALL_1GB, ALL_2MB, ALL_4KB
from tessera.results.schema.cells import MANIFEST
from tessera.show.figures import cases, published, style
from tessera.show.results import NotDrawn, Results

_CLOSE = 0.12  #: of the range of runtimes is shown in the lower panel
_COUNTERS = ["layout", "pages_2mb", "walk_cycles", "stlb_misses", "runtime_cycles"]


def points(results: Results, workload: str, platform: str) -> pd.DataFrame | None:
    """Columns of :data:`_COUNTERS` for the fitted layouts; None without a manifest or cells."""
    manifest = results.read(MANIFEST, workload, platform, expected=False)
    rows = results.samples(workload, platform).merge(manifest[["layout", "pages_2mb"]], on="layout")
    rows = rows[rows["layout"] != ALL_1GB]
    return rows[_COUNTERS].reset_index(drop=True) if len(rows) else None


def comparison(rows: pd.DataFrame) -> Loss | None:
    """What all-2MB loses, from the rows of :func:`points`."""
    by_name = rows.set_index("layout")
    return loss(by_name["runtime_cycles"], by_name["pages_2mb"])


def choose(results: Results) -> tuple[str, str, str]:
    """The paper's pair or its stand-in, else the analysed pair that loses most with all pages."""
    for workload, platform in results.pairs():
        if platform == cases.SANDYBRIDGE and (workload == "network-simplex" or "mcf" in workload.split("-")):
            return workload, platform, "stands in for the paper's spec06/mcf on SandyBridge"
    losses = {}
    for pair in results.analysed_pairs():
        rows = points(results, *pair)
        found = comparison(rows) if rows is not None else None
        if found:
            losses[pair] = found.loss
    if not losses:
        raise NotDrawn("figure opera-fig10", "no pair has layouts with a count of 2MB pages")
    return *max(losses, key=losses.get), "the pair where all-2MB loses most"


def table(results, reference) -> pd.DataFrame:
    """Every layout with its pages and counters; ``fastest`` marks the fastest with fewer than all pages."""
    results = Results.of(results)
    workload, platform, why = choose(results)
    rows = points(results, workload, platform)
    found = comparison(rows) if rows is not None else None
    if found is None:
        raise NotDrawn("figure opera-fig10", f"{workload} on {platform} lacks the all-2MB layout")
    return rows.assign(
        fastest=rows["layout"] == found.fastest, workload=workload, platform=platform, choice=why,
        loss_of_all_2mb=found.loss, printed=_printed(reference), provenance="simulated",
    )  # fmt: skip


def _printed(reference) -> str:
    names = ("mcf_best_pages", "mcf_all_pages", "mcf_degradation")
    best, everything, loss = (published.opera_value(reference, name) for name in names)
    words = f"{everything:g} pages of 2MB are {loss:g}% slower than {best:g}; " if best else ""
    return f"{words}the curve is not published as data"


def draw(results, reference):
    """Runtime against walk cycles: all layouts above, the fastest below."""
    rows = table(results, reference)
    spot = rows.iloc[0]
    figure, (whole, close) = style.panels(2, 1, width=style.WIDTH, height=7.2)
    low, high = rows["runtime_cycles"].min(), rows["runtime_cycles"].max()
    scale, unit = style.count_unit(high)
    for axes, shown in ((whole, rows), (close, rows[rows["runtime_cycles"] <= low + _CLOSE * (high - low)])):
        _panel(axes, shown, scale)
        axes.set_ylabel(f"runtime (cycles, {unit})")
    loss = spot["loss_of_all_2mb"]
    obtained = f"{style.percent(abs(loss))} {'slower' if loss > 0 else 'faster'}"
    words = style.wrapped(
        f"{spot['workload']} on {spot['platform']}: {spot['choice']}; labels are 2MB pages",
        f"obtained: all 2MB pages are {obtained} than the best with fewer", f"paper: {spot['printed']}",
    )  # fmt: skip
    whole.set_title(words, fontsize=8.5, color=style.MUTED)
    close.set_title("the fastest layouts", fontsize=8.5, color=style.MUTED)
    style.legend_below(figure, [whole])
    style.headline(figure, "Is the layout with the most large pages the fastest?", "simulated")
    return figure, rows


def _panel(axes, rows: pd.DataFrame, y_scale: float) -> None:
    x_scale, x_unit = style.count_unit(rows["walk_cycles"].max())
    x, y = rows["walk_cycles"] / x_scale, rows["runtime_cycles"] / y_scale
    for part, marker, face, size, words in (
        (~rows["fastest"] & (rows["layout"] != ALL_2MB), "o", style.PAPER, 5.5, "layouts"),
        (rows["layout"] == ALL_2MB, "s", style.BLUE, 8, "all 2MB pages"),
        (rows["fastest"], "*", style.ORANGE, 13, "fastest with fewer"),
    ):
        axes.plot(
            x[part], y[part], marker, markerfacecolor=face, markeredgecolor=style.INK, markersize=size,
            label=words, zorder=3 + size / 10,
        )  # fmt: skip
    middle = (x.max() + x.min()) / 2
    for place in _with_room(rows, x, y):
        left = x[place] > middle
        axes.annotate(
            f"{rows.loc[place, 'pages_2mb']:g}", (x[place], y[place]), xytext=(-9 if left else 9, -3),
            textcoords="offset points", ha="right" if left else "left", fontsize=8.5, zorder=7,
        )  # fmt: skip
    axes.set_xlabel(f"walk cycles C ({x_unit})")


def _with_room(rows: pd.DataFrame, x: pd.Series, y: pd.Series) -> list:
    """Rows whose labels don't meet: the fastest, all-2MB and all-4KB first, then in order of pages."""
    first = rows["fastest"] * 3 + (rows["layout"] == ALL_2MB) * 2 + (rows["layout"] == ALL_4KB)
    order = rows.assign(first=-first).sort_values(["first", "pages_2mb"]).index
    width, tall = (x.max() - x.min()) or 1, (y.max() - y.min()) or 1
    chosen: list = []
    for place in order:
        near = [abs(x[place] - x[o]) < 0.1 * width and abs(y[place] - y[o]) < 0.075 * tall for o in chosen]
        if not any(near):
            chosen.append(place)
    return chosen
