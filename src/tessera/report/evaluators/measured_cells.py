"""Cells of one layout against another: counters, runtimes, the fastest layout, and what the heuristics reach.

Read from the cells of a run (``cells.csv``) and its layouts.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tessera.core.layouts.layout import ALL_1GB, ALL_2MB, ALL_4KB
from tessera.core.results.loader import Pair
from tessera.report.claims.claim import Missing, Outcome
from tessera.report.claims.evidence import Evidence
from tessera.report.claims.registry import evaluator
from tessera.report.claims.selection import aggregate, deciding_pairs, describe_distribution
from tessera.report.results import against_fewer_pages


@evaluator
def miss_ratio_within_reach(claim, evidence, layout: str, base: str, entries) -> Outcome:
    """Largest ratio of misses to those of ``base``, over pairs whose 2MB pages number at most ``entries``."""
    selection = deciding_pairs(claim, evidence)
    reach = evidence.number(entries)
    within = []
    for pair in selection.pairs:
        manifest = evidence.manifest(pair)
        if ALL_2MB in manifest.index and manifest.loc[ALL_2MB, "pages_2mb"] <= reach:
            within.append(pair)
    if not within:
        raise Missing(f"no footprint fits in the reach of {reach:g} entries")
    ratios = [_miss_ratio(evidence, pair, layout, base) for pair in within]
    return selection.outcome(aggregate(ratios, "max"), describe_distribution(ratios, "max"))


def _miss_ratio(evidence: Evidence, pair: Pair, layout: str, base: str) -> float:
    below = evidence.cell(pair, base, "stlb_misses")
    if below == 0:
        raise Missing(f"{pair}: stlb_misses of {base} is zero, so there is no ratio")
    return evidence.cell(pair, layout, "stlb_misses") / below


# Runtimes of layouts against each other: what large pages gain, and when fewer gain more.


RUNTIME = "runtime_cycles"


def gain_percent(evidence: Evidence, pair: Pair, layout: str) -> float:
    """Runtime that ``layout`` saves against all-4KB, percent of the latter."""
    return 100 * (1 - evidence.cell(pair, layout, RUNTIME) / evidence.cell(pair, ALL_4KB, RUNTIME))


@evaluator
def sensitivity_ratio(claim, evidence, layout: str, platform: str, base: str) -> Outcome:
    """Median gain on one generation over the median gain on another."""
    selection = deciding_pairs(claim, evidence, insensitive=True)
    medians = {
        name: aggregate(
            [gain_percent(evidence, p, layout) for p in selection.pairs if p.generation == name],
            "median",
        )
        for name in (platform, base)
    }
    if medians[base] <= 0:
        raise Missing(f"{layout} gains nothing on {base}, so there is no ratio")
    return selection.outcome(medians[platform] / medians[base])


@evaluator
def loss_of_all_large_pages(claim, evidence, layout: str, how: str) -> Outcome:
    """By how much ``layout`` is slower than the fastest layout with fewer 2MB pages, percent."""

    def of(pair: Pair) -> float:
        pages = evidence.manifest(pair)["pages_2mb"]
        if layout not in pages.index:
            raise Missing(f"{pair}: layout {layout} is not in the manifest")
        evidence.cell(pair, layout, RUNTIME)
        found = against_fewer_pages(evidence.samples(pair)[RUNTIME], pages, layout)
        if found is None:
            raise Missing(f"{pair}: no layout with fewer 2MB pages ran")
        return 100 * found.loss

    return deciding_pairs(claim, evidence).each(of, how)


# The fastest of the fitted layouts, and what the others lose against it (OPERA 2.5.3).


def _fastest(evidence: Evidence, pair: Pair) -> str:
    runtimes = evidence.samples(pair)[RUNTIME].drop(index=ALL_1GB, errors="ignore").dropna()
    if runtimes.empty:
        raise Missing(f"{pair}: no fitted layout has a runtime")
    return str(runtimes.idxmin())


@evaluator
def loss_against_fastest(claim, evidence, layout: str, how: str) -> Outcome:
    """By how much ``layout`` is slower than the fastest fitted layout, percent; below 0 it is faster."""

    def of(pair: Pair) -> float:
        best = evidence.cell(pair, _fastest(evidence, pair), RUNTIME)
        return 100 * (evidence.cell(pair, layout, RUNTIME) / best - 1)

    return deciding_pairs(claim, evidence).each(of, how)


@evaluator
def least_over_fastest(claim, evidence, column: str, how: str) -> Outcome:
    """``column`` of the fastest fitted layout over the smallest of any: 1 if it has the least."""

    def of(pair: Pair) -> float:
        counts = evidence.samples(pair)[column].drop(index=ALL_1GB, errors="ignore").dropna()
        if counts.empty or counts.min() == 0:
            raise Missing(f"{pair}: {column} is missing or zero for some layout, so there is no ratio")
        return float(evidence.cell(pair, _fastest(evidence, pair), column) / counts.min())

    return deciding_pairs(claim, evidence).each(of, how)


@evaluator
def layout_over_fastest(claim, evidence, column: str, layout: str, how: str) -> Outcome:
    """``column`` of ``layout`` over that of the fastest fitted layout: 1 if ``layout`` is the fastest."""

    def of(pair: Pair) -> float:
        best = evidence.cell(pair, _fastest(evidence, pair), column)
        if best == 0:
            raise Missing(f"{pair}: {column} of the fastest layout is zero, so there is no ratio")
        return evidence.cell(pair, layout, column) / best

    return deciding_pairs(claim, evidence).each(of, how)


# What the layout heuristics achieve (MICRO'20 section VI-B): hot regions and diverse samples.


def _places(evidence: Evidence, pair: Pair) -> pd.Series:
    """Misses of each layout on a scale from 0 (all-2MB) to 1 (all-4KB)."""
    misses = evidence.samples(pair)["stlb_misses"].dropna()
    low = evidence.cell(pair, ALL_2MB, "stlb_misses")
    high = evidence.cell(pair, ALL_4KB, "stlb_misses")
    if high <= low:
        raise Missing(f"{pair}: 2MB pages don't reduce the misses, so there is no range")
    return (misses - low) / (high - low)


@evaluator
def diversity_ratio(claim, evidence, bins: int, how: str) -> Outcome:
    """Bins of the miss range that the best sliding group reaches, over those of random windows."""

    def of(pair: Pair) -> float:
        places = _places(evidence, pair)
        reached = np.clip((places * bins).astype(int), 0, bins - 1)
        groups = reached.groupby(reached.index.str.replace(r"-\d+$", "", regex=True)).nunique()
        sliding = groups[groups.index.str.startswith("sliding-")]
        if "random" not in groups.index or sliding.empty:
            raise Missing(f"{pair}: no random or no sliding layout ran")
        return float(sliding.max() / groups["random"])

    return deciding_pairs(claim, evidence).each(of, how)


@evaluator
def random_near_anchors(claim, evidence, tenths: int, how: str) -> Outcome:
    """Share of random layouts in the outer ``tenths`` of the miss range, either end, percent."""

    def of(pair: Pair) -> float:
        places = _places(evidence, pair)
        places = places[places.index.str.startswith("random-")]
        if places.empty:
            raise Missing(f"{pair}: no random layout ran")
        edge = tenths / 10
        return 100 * float(((places <= edge) | (places >= 1 - edge)).mean())

    return deciding_pairs(claim, evidence).each(of, how)
