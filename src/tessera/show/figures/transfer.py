"""Share of points that each model of P predicts, by class of design and declared input."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tessera.results.schema.transfer import VERDICTS
from tessera.show.figures import style
from tessera.show.results import Results

#: verdict, worth -> mark behind the share
MARKS = {"survives": "+", "mixed": "~", "fails": "-"}
WORTH = {"useless": "x", "trivial": "o", "": ""}


def table(results) -> pd.DataFrame:
    """Columns of the verdicts that are drawn."""
    rows = Results.of(results).needed(VERDICTS, "transfer", why="no study of transfer was made")
    rows = rows[rows["judged"] > 0]
    columns = ["platform", "inputs", "group", "model", "verdict", "worth", "judged", "passing", "pass_share"]
    return rows[[*columns, "provenance"]].reset_index(drop=True)


def draw(results, reference):
    """A panel for each platform and input; a cell is a model in a class."""
    rows = table(results)
    inputs, platforms = (list(dict.fromkeys(rows[name])) for name in ("inputs", "platform"))
    groups, models = (list(dict.fromkeys(rows[name])) for name in ("group", "model"))
    figure, all_axes = style.panels(
        len(platforms),
        len(inputs),
        width=max(style.WIDTH, 1.5 + len(inputs) * (0.6 + 0.5 * len(groups))),
        height=1.0 + len(platforms) * (0.7 + 0.22 * len(models)),
        sharey=True,
        squeeze=False,
    )
    for line, platform in zip(all_axes, platforms, strict=True):
        for axes, name in zip(line, inputs, strict=True):
            part = rows[(rows["platform"] == platform) & (rows["inputs"] == name)]
            _panel(axes, part, groups, models)
            axes.set_title(name if len(platforms) == 1 else f"{name}, {platform}")
        line[0].set_yticks(range(len(models)), models)
    style.headline(figure, "Points that a model of P predicts, by class of design", "simulated")
    return figure, rows


def _panel(axes, rows: pd.DataFrame, groups: list[str], models: list[str]) -> None:
    shares = np.full((len(models), len(groups)), np.nan)
    for row in rows.itertuples():
        place = models.index(row.model), groups.index(row.group)
        shares[place] = row.pass_share
        text = f"{100 * row.pass_share:.0f}{MARKS.get(row.verdict, '')}{WORTH[row.worth]}"
        dark = row.pass_share > 0.6
        axes.text(place[1], place[0], text, ha="center", va="center", fontsize=6.5,
                  color=style.PAPER if dark else style.INK)  # fmt: skip
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(groups)), groups)
    axes.grid(visible=False)
