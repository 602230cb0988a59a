"""What the studies' tables say: three sentences each, made of their numbers."""

from __future__ import annotations

import pandas as pd

from tessera.judge.studies.conclusions import get
from tessera.results.status import SKIPPED

PERFECT = "perfect"
MAX_NAMED = 3


def percent(fraction: float) -> str:
    """``0.0123`` as ``1.2%``."""
    size = abs(100 * fraction)
    return f"{100 * fraction:.{0 if size >= 10 else 1 if size >= 1 else 2}f}%"


def sampling(errors: pd.DataFrame) -> list[str]:
    """``errors`` as :data:`tessera.results.schema.studies.SAMPLING`, good rows only."""
    runtime = errors[errors["quantity"] == "R"]
    plans = list(dict.fromkeys(runtime[runtime["warmup"] != PERFECT]["warmup"]))
    own = runtime[runtime["warmup"] == plans[0]]
    cost = (own["timed_instructions"] / own["window_instructions"]).max()
    worst = own.loc[own["difference_error"].abs().idxmax()]
    first = (
        f"Systematic samples as the pipeline takes them (warmed by {plans[0]}, at most "
        f"{percent(cost)} of the "
        "instructions timed) miss differences of runtime by at most "
        f"{percent(abs(worst['difference_error']))} of "
        f"the full gain ({worst['workload']}, {worst['layout']}), and totals by "
        f"{percent(own['error'].abs().max())}."
    )
    perfect = runtime[runtime["warmup"] == PERFECT]
    reached = {
        name: part["difference_error"].abs().max() for name, part in perfect.groupby("method", sort=False)
    }
    parts = [f"{name.replace('-', ', ')} {percent(reached[name])}" for name in reached]
    second = (
        "The choice of places alone, at the same cost and with perfect contents of TLBs and caches, makes "
        f"differences wrong by up to: {'; '.join(parts)}."
    )
    third = _coverage(errors)
    if len(plans) > 1:
        short = runtime[runtime["warmup"] == plans[-1]]
        third += (
            f" With a warm-up of {plans[-1]} totals are off by up to "
            f"{percent(short['error'].abs().max())} and "
            f"differences by up to {percent(short['difference_error'].abs().max())}."
        )
    return [first, second, third]


def _coverage(errors: pd.DataFrame) -> str:
    plans = errors[errors["warmup"] != PERFECT]
    own = plans[plans["warmup"] == plans["warmup"].iloc[0]]
    totals, differences = (own[name].dropna() for name in ("covers", "difference_covers"))
    return (
        f"The 95% interval holds the truth for {int(differences.sum())} of {len(differences)} "
        "differences and "
        f"{int(totals.sum())} of {len(totals)} totals of R and C."
    )


def ablations(shapes: pd.DataFrame) -> list[str]:
    """``shapes`` as :data:`tessera.results.schema.studies.SHAPES`, good rows only."""
    slope, bend = (
        shapes.pivot_table(index=["workload", "platform"], columns="variant", values=name, sort=False)
        for name in ("slope", "curvature")
    )
    pairs = len(slope)

    def count(table: pd.DataFrame, limit: float) -> str:
        return ", ".join(f"{name} {int((table[name] > limit).sum())}" for name in table)

    def median(table: pd.DataFrame) -> str:
        return ", ".join(f"{name} {table[name].median():.2f}" for name in table)

    extra = shapes.pivot_table(index=["workload", "platform"], columns="variant", values="extra_l3_loads")
    more = extra[extra.get("baseline", pd.Series(dtype=float)) > 0] if "baseline" in extra else extra.iloc[:0]
    third = "In no pair does the program load more often from L3 with 4KB than with 2MB pages."
    if len(more) and "no-pollution" in more:
        gone = (1 - more["no-pollution"] / more["baseline"]).median()
        third = (
            f"In {len(more)} of {pairs} pairs the program loads more often from L3 with 4KB than with "
            "2MB pages; "
            f"without pollution the median pair loses {percent(gone)} of that excess."
        )
    return [
        f"The slope of R over C exceeds 1 in this many of {pairs} pairs: {count(slope, 1)} (medians: "
        f"{median(slope)}).",
        f"R bends upwards with C in this many of {pairs} pairs: {count(bend, 0)} (median curvatures: "
        f"{median(bend)}).",
        third,
    ]


def sweep(survival: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    """``survival`` as :func:`tessera.judge.studies.sweep.survival`; ``table`` is the whole sweep."""
    variations = int(survival["points"].max())
    whole = survival[survival["survives"] == survival["points"]]
    rest = survival[survival["survives"] < survival["points"]]
    first = (
        f"{len(whole)} of {len(survival)} conclusions are the same in each of up to {variations} variations."
    )
    weakest = rest.sort_values("survives").head(MAX_NAMED)
    named = [
        f"\u201c{get(row.conclusion).sentence}\u201d agrees with the baseline in {row.survives} "
        f"of {row.points}"
        for row in weakest.itertuples()
    ]
    second = f"The least robust: {'; '.join(named)}." if named else "No variation overturns any of them."
    refused = table[table["status"] == "refused"][["key", "alternative"]].drop_duplicates()
    skipped = table[table["status"] == SKIPPED]["key"].nunique()
    third = (
        f"{len(refused)} variations were refused by the simulator as no possible machine, and "
        f"{skipped} assumed "
        "values could not be varied; both are listed with the reason."
    )
    return [first, second, third]
