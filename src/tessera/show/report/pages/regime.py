"""The regime: what each pair asks of address translation, and model errors with and without gups."""

from __future__ import annotations

import pandas as pd

from tessera.show import recorded
from tessera.show.figures import looks
from tessera.show.figures import regime_table as regime
from tessera.show.report.pages import walk_cost


def page(facts) -> dict:
    rows = facts.regime
    ours = rows[rows["source"] == regime.THIS_RUN]
    return {
        "title": "Regime",
        "figure": facts.figure("regime"),
        "sentences": sentences(ours, rows[rows["source"] != regime.THIS_RUN]) if len(ours) else [],
        "rows": [row | {"place": recorded.place(row)} for row in map(_known, rows.to_dict("records"))],
        "this_run": regime.THIS_RUN,
        "walk_cost": walk_cost.section(facts),
        "errors": [
            row | {"label": looks.look(row["model"]).label}
            for row in regime.errors_without_gups(facts.results)
        ],
    }


def sentences(ours: pd.DataFrame, printed: pd.DataFrame) -> list[str]:
    """What the table says, in numbers of this run."""
    walk = ours["walk_cycles_per_miss"].dropna()
    said = []
    if len(walk):
        text = f"A walk takes {walk.median():.0f} cycles in the median pair"
        text += f" ({walk.min():.0f} to {walk.max():.0f})."
        for row in printed.dropna(subset=["walk_cycles_per_miss"]).to_dict("records"):
            text += f" {row['source']} prints {row['walk_cycles_per_miss']:.0f} for {row['workload']}."
        said.append(text)
    known = ours[ours["as_published"].notna() & (ours["as_published"] != "")]
    programs = known.drop_duplicates("workload")
    if len(programs):
        less = sorted(programs.loc[programs["as_published"] == "no", "workload"])
        text = f"{len(programs) - len(less)} of {len(programs)} workloads touch at least 90% of the "
        text += "published footprint."
        said.append(text + (f" Those that touch less are {', '.join(less)}." if less else ""))
        smaller = programs.dropna(subset=["published_share"]).sort_values("workload")
        if len(smaller):
            shares = zip(smaller["workload"], smaller["published_share"], strict=True)
            listed = ", ".join(f"{name} ({share:.0%})" for name, share in shares)
            said.append(f"By declaration, smaller than published are {listed}.")
    beyond = int((ours["leaf_bytes_per_l3"] > 1).sum())
    said.append(f"Leaf page-table entries exceed L3 in {beyond} of {len(ours)} pairs.")
    return said


def _known(row: dict) -> dict:
    return {key: None if pd.isna(value) or value == "" else value for key, value in row.items()}
