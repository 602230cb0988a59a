"""Summaries of the tables of the studies: a few sentences for each table, with its numbers."""

from __future__ import annotations

import pandas as pd

from tessera.core.results.outcomes import SKIPPED
from tessera.core.units import percent_text
from tessera.lab.studies.design_catalogue import BASELINE_DESIGN, IDEAL, VARIANT_NAMES, behind_l3
from tessera.lab.studies.sweep import conclusion_named
from tessera.lab.studies.variations import BASELINE, NO_MISPREDICTIONS

# Sampling, ablations and the sweep: three sentences for each table.

PERFECT = "perfect"
MAX_NAMED = 3


def sampling_sentences(errors: pd.DataFrame) -> list[str]:
    """``errors`` as :data:`tessera.core.results.study_tables.SAMPLING`, good rows only."""
    runtime = errors[errors["quantity"] == "R"]
    plans = list(dict.fromkeys(runtime[runtime["warmup"] != PERFECT]["warmup"]))
    own = runtime[runtime["warmup"] == plans[0]]
    cost = (own["timed_instructions"] / own["window_instructions"]).max()
    worst = own.loc[own["difference_error"].abs().idxmax()]
    first = (
        f"The pipeline takes systematic samples with a warm-up of {plans[0]} and times at most "
        f"{percent_text(cost)} of the instructions. Its errors are at most "
        f"{percent_text(abs(worst['difference_error']))} of the full gain for differences of runtime "
        f"({worst['workload']}, {worst['layout']}), and {percent_text(own['error'].abs().max())} for totals."
    )
    perfect = runtime[runtime["warmup"] == PERFECT]
    reached = {
        name: part["difference_error"].abs().max() for name, part in perfect.groupby("method", sort=False)
    }
    parts = [f"{name.replace('-', ', ')} {percent_text(reached[name])}" for name in reached]
    second = (
        "Errors of differences that come from the choice of intervals alone (same cost, exact contents of "
        f"TLBs and caches), at most: {'; '.join(parts)}."
    )
    third = _coverage(errors)
    if len(plans) > 1:
        short = runtime[runtime["warmup"] == plans[-1]]
        third += (
            f" With a warm-up of {plans[-1]}, errors are at most "
            f"{percent_text(short['error'].abs().max())} for totals and "
            f"{percent_text(short['difference_error'].abs().max())} for differences."
        )
    return [first, second, third]


def _coverage(errors: pd.DataFrame) -> str:
    plans = errors[errors["warmup"] != PERFECT]
    own = plans[plans["warmup"] == plans["warmup"].iloc[0]]
    totals, differences = (own[name].dropna() for name in ("covers", "difference_covers"))
    return (
        f"The 95% interval contains the value of the full simulation for {int(differences.sum())} of "
        f"{len(differences)} differences and {int(totals.sum())} of {len(totals)} totals of R and C."
    )


def ablation_sentences(shapes: pd.DataFrame) -> list[str]:
    """``shapes`` as :data:`tessera.core.results.study_tables.SHAPES`, good rows only."""
    slope, bend = (
        shapes.pivot_table(index=["workload", "platform"], columns="variant", values=name, sort=False)
        for name in ("slope", "curvature")
    )
    pairs = len(slope)

    def said(table: pd.DataFrame, limit: float) -> str:
        """Pairs above the limit and the median; the variant that changes the median most."""
        if BASELINE not in table:
            return "in no pair: the baseline was not simulated."
        above = {name: f"{int((table[name] > limit).sum())} of {table[name].notna().sum()}" for name in table}
        medians = table.median()
        text = f"in {above[BASELINE]} pairs (median {medians[BASELINE]:.2f})."
        others = (medians.drop(BASELINE) - medians[BASELINE]).abs().dropna()
        if others.empty:
            return text
        most = others.idxmax()
        return f"{text} The median changes most with {most}: to {medians[most]:.2f}, {above[most]} pairs."

    extra = shapes.pivot_table(index=["workload", "platform"], columns="variant", values="extra_l3_loads")
    more = extra[extra.get("baseline", pd.Series(dtype=float)) > 0] if "baseline" in extra else extra.iloc[:0]
    third = "In no pair does the program load more often from L3 with 4KB pages than with 2MB pages."
    if len(more) and "no-pollution" in more:
        gone = (1 - more["no-pollution"] / more["baseline"]).median()
        third = (
            f"In {len(more)} of {pairs} pairs the program loads more often from L3 with 4KB pages than with "
            f"2MB pages; without pollution, this excess is {percent_text(gone)} smaller in the median pair."
        )
    return [
        f"The slope of R over C is above 1 {said(slope, 1)}",
        f"R over C bends upwards {said(bend, 0)}",
        third,
    ]


def slopes(shapes: pd.DataFrame) -> pd.DataFrame:
    """workload, platform, slope with and without mispredictions: pairs of good rows that have both."""
    found = shapes.pivot_table(index=["workload", "platform"], columns="variant", values="slope", sort=False)
    if not {BASELINE, NO_MISPREDICTIONS} <= set(found):
        return pd.DataFrame(columns=["workload", "platform", "with_them", "without"])
    names = {BASELINE: "with_them", NO_MISPREDICTIONS: "without"}
    return found[list(names)].rename(columns=names).rename_axis(columns=None).dropna().reset_index()


def mispredictions_sentence(table: pd.DataFrame) -> str:
    """``table`` as :func:`slopes` gives it, not empty."""
    added = table["with_them"] - table["without"]
    most = table.loc[added.idxmax()]
    above = {name: int((table[name] > 1).sum()) for name in ("with_them", "without")}
    return (
        f"With mispredicted branches, the slope of R over C exceeds 1 in {above['with_them']} of "
        f"{len(table)} pairs; without them, in {above['without']}. They make the slope steeper in "
        f"{int((added > 0).sum())} pairs, by {added.median():.3f} in the median pair and most in "
        f"{most['workload']} on {most['platform']} (from {most['without']:.2f} to {most['with_them']:.2f})."
    )


def sweep_sentences(survival: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    """``survival`` as :func:`tessera.lab.studies.sweep.survival`; ``table`` is the whole sweep."""
    variations = int(survival["points"].max())
    whole = survival[survival["survives"] == survival["points"]]
    rest = survival[survival["survives"] < survival["points"]]
    first = (
        f"{len(whole)} of {len(survival)} conclusions stay the same in all variations (up to {variations})."
    )
    weakest = rest.sort_values("survives").head(MAX_NAMED)
    named = [
        f"\u201c{conclusion_named(row.conclusion).sentence}\u201d agrees with the baseline in {row.survives} "
        f"of {row.points}"
        for row in weakest.itertuples()
    ]
    second = f"The least robust: {'; '.join(named)}." if named else "No variation changes any of them."
    refused = table[table["status"] == "refused"][["key", "alternative"]].drop_duplicates()
    skipped = table[table["status"] == SKIPPED]["key"].nunique()
    third = (
        f"Variations that the simulator rejected as impossible configurations: {len(refused)}. "
        f"Assumed values that could not be varied: {skipped}. The table lists both with the reason."
    )
    return [first, second, third]


# What the study of designs found, in one sentence for each mapping, from its tables.


def design_sentences(cells: pd.DataFrame) -> list[str]:
    """For each mapping the design with the smallest median of misses relative to the baseline; no variant."""
    other = cells["design"].isin((BASELINE_DESIGN, IDEAL, *VARIANT_NAMES)) | cells["design"].map(behind_l3)
    rows = cells[cells["misses_to_baseline_percent"].notna() & ~other]
    found = []
    for mapping, part in rows.groupby("mapping", sort=False):
        workloads = part["workload"].nunique()
        by_design = part.groupby("design", sort=False)["misses_to_baseline_percent"]
        whole = by_design.count() == workloads  # a median over fewer workloads is of other programs
        left = (100 + by_design.median())[whole].sort_values(kind="stable")
        if len(left) < 2:
            continue
        first, second = left.index[:2]
        found.append(
            f"Mapping {mapping}: {first} leaves the fewest misses, {left.iloc[0]:.1f}% of the baseline's "
            f"(median of {workloads} workloads); then {second} with {left.iloc[1]:.1f}%."
        )
    return found
