"""Counters of one layout against another: misses, walk cycles, cache references."""

from __future__ import annotations

from tessera.judge.claims import distribution
from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.judge.claims.selection import aggregate, select
from tessera.layouts.names import ALL_2MB
from tessera.results.pair import Pair


def ratio(evidence: Evidence, pair: Pair, column: str, layout: str, base: str) -> float:
    """``column`` of ``layout`` over that of ``base``."""
    below = evidence.cell(pair, base, column)
    if below == 0:
        raise Missing(f"{pair}: {column} of {base} is zero, so there is no ratio")
    return evidence.cell(pair, layout, column) / below


def walk_cycles_over_runtime(claim, evidence, layout: str, how: str) -> Outcome:
    """C / R of one layout."""
    return select(claim, evidence).each(
        lambda p: evidence.cell(p, layout, "walk_cycles") / evidence.cell(p, layout, "runtime_cycles"),
        how,
    )


def load_ratio(claim, evidence, column: str, layout: str, base: str, how: str) -> Outcome:
    """Any column of the cells, one layout over another."""
    return select(claim, evidence).each(lambda p: ratio(evidence, p, column, layout, base), how)


def share_of_loads(claim, evidence, column: str, of: str, layout: str, how: str) -> Outcome:
    """One column of the cells over another, for the same layout."""

    def part(pair: Pair) -> float:
        whole = evidence.cell(pair, layout, of)
        if whole == 0:
            raise Missing(f"{pair}: {of} of {layout} is zero, so there is no share")
        return evidence.cell(pair, layout, column) / whole

    return select(claim, evidence).each(part, how)


def miss_ratio(claim, evidence, layout: str, base: str, how: str) -> Outcome:
    """STLB misses of one layout over those of another; pairs without misses in either count as 0."""

    def of(pair: Pair) -> float:
        if evidence.cell(pair, layout, "stlb_misses") == 0:
            return 0.0
        return ratio(evidence, pair, "stlb_misses", layout, base)

    return select(claim, evidence).each(of, how)


def miss_ratios(claim, evidence, layouts: list, base: str, how: str) -> Outcome:
    """``how`` over the pairs of the worst such ratio among ``layouts``."""
    return select(claim, evidence).each(
        lambda p: aggregate([ratio(evidence, p, "stlb_misses", x, base) for x in layouts], "max"),
        how,
    )


def miss_ratio_within_reach(claim, evidence, layout: str, base: str, entries) -> Outcome:
    """Largest such ratio among the pairs whose 2MB pages number at most ``entries``."""
    selection = select(claim, evidence)
    reach = evidence.number(entries)
    within = []
    for pair in selection.pairs:
        manifest = evidence.manifest(pair)
        if ALL_2MB in manifest.index and manifest.loc[ALL_2MB, "pages_2mb"] <= reach:
            within.append(pair)
    if not within:
        raise Missing(f"no footprint fits in the reach of {reach:g} entries")
    ratios = [ratio(evidence, pair, "stlb_misses", layout, base) for pair in within]
    return selection.outcome(aggregate(ratios, "max"), distribution.describe(ratios, "max"))


EVALUATORS = {
    "walk_cycles_over_runtime": walk_cycles_over_runtime,
    "load_ratio": load_ratio,
    "share_of_loads": share_of_loads,
    "miss_ratio": miss_ratio,
    "miss_ratios": miss_ratios,
    "miss_ratio_within_reach": miss_ratio_within_reach,
}
