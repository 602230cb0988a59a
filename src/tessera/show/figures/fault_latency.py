"""Latency of page faults on this machine: shares of touches by latency, and combs beside chance."""

from __future__ import annotations

import pandas as pd

from tessera.results.schema.faults import COMB, LATENCY
from tessera.show.figures import style
from tessera.show.results import Results

COMMAND = "./run tessera faults measure --out results/default"
_FIGURE = "fault-latency"
_LOOKS = (
    (style.BLUE, "o", "-"),
    (style.ORANGE, "s", "--"),
    (style.GREEN, "^", "-."),
    (style.VERMILLION, "D", ":"),
    (style.GREY, "P", "--"),
)


def table(results) -> pd.DataFrame:
    """Columns: panel (latency, comb, chance), kind, reason, share (a fraction), us, provenance."""
    results = Results.of(results)
    why = "page faults were not measured"
    latency = results.needed(LATENCY, _FIGURE, COMMAND, why)
    curves = pd.DataFrame(
        {"panel": "latency", "kind": latency["kind"], "reason": "", "share": latency["share"],
         "us": latency["ns"] / 1e3, "provenance": latency["provenance"]}
    )  # fmt: skip
    combs = results.needed(COMB, _FIGURE, COMMAND, why)
    bars = [
        pd.DataFrame(
            {"panel": panel, "kind": combs["kind"], "reason": combs["reason"], "share": share,
             "us": float("nan"), "provenance": combs["provenance"]}
        )
        for panel, share in (("comb", combs["hits"] / combs["asked"]), ("chance", combs["chance"]))
    ]  # fmt: skip
    return pd.concat([curves, *bars], ignore_index=True)


def draw(results, reference):
    """A line for each kind; below, two bars for each comb."""
    rows = table(results)
    figure, (above, below) = style.panels(2, 1, width=style.WIDTH, height=6.4, height_ratios=(3, 2))
    curves = rows[rows["panel"] == "latency"]
    for (kind, line), (colour, marker, dash) in zip(curves.groupby("kind", sort=False), _LOOKS, strict=False):
        above.plot(
            line["us"], line["share"], dash, color=colour, marker=marker, markersize=3.5, linewidth=1.3,
            label=kind,
        )  # fmt: skip
    above.set_xscale("log")
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
