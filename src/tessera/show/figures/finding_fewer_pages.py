"""Fewer huge pages beating more (OPERA 2.5.3): all-2MB against the fastest layout with fewer 2MB pages."""

from __future__ import annotations

import pandas as pd

from tessera.show.figures import fewer_pages, pair_rows, published, style
from tessera.show.results import NotDrawn, Results

CLEAR = 0.005  #: a loss above this is no sampling noise (claim opera-fewer-pages-win)


def table(results, reference) -> pd.DataFrame:
    """Columns: source, workload, platform, loss (fraction), fastest, fastest_pages, all_pages, provenance."""
    results = Results.of(results)
    rows = []
    for workload, platform in pair_rows.pairs(results):
        points = fewer_pages.points(results, workload, platform)
        found = fewer_pages.comparison(points) if points is not None else None
        if found is not None:
            rows.append(("Tessera", workload, platform, *found, "simulated"))
    if not rows:
        raise NotDrawn("figure finding-fewer-pages", "no analysed pair has layouts with a count of 2MB pages")
    columns = [
        "source",
        "workload",
        "platform",
        "loss",
        "fastest",
        "fastest_pages",
        "all_pages",
        "provenance",
    ]
    ours = pd.DataFrame(rows, columns=columns)
    loss = published.opera_value(reference, "mcf_degradation")
    if loss is None:
        return ours
    pages = [published.opera_value(reference, f"mcf_{which}_pages") for which in ("best", "all")]
    paper = ("paper", "spec06/mcf", "sandybridge", loss / 100, "", *pages, "published")
    return pd.concat([ours, pd.DataFrame([paper], columns=columns)], ignore_index=True)


def draw(results, reference):
    """A row per workload; right of zero fewer pages are faster; the published value is a line."""
    rows = table(results, reference)
    ours, paper = rows[rows["source"] == "Tessera"], rows[rows["source"] == "paper"]
    figure, axes = style.panels(width=style.WIDTH, height=pair_rows.height(ours))
    pair_rows.panel(axes, ours, "loss")
    axes.axvline(0, color=style.MUTED, linewidth=1)
    for row in paper.itertuples():
        axes.axvline(
            row.loss, color=style.INK, linestyle=(0, (5, 3)), linewidth=1.2,
            label=f"published: {row.workload} on {row.platform}, {style.percent(row.loss)}",
        )  # fmt: skip
    axes.set_xlabel("all-2MB slower than the fastest with fewer 2MB pages")
    style.percent_axis(axes.xaxis)
    style.legend_below(figure, [axes], columns=2)
    wins = int((ours["loss"] > CLEAR).sum())
    title = f"Fewer 2MB pages clearly faster in {wins} of {len(ours)} pairs"
    style.headline(figure, title, "simulated, beside published")
    return figure, rows
