"""What the layout heuristics achieve (MICRO'20 section VI-B): hot regions and diverse samples."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.judge.claims.selection import select
from tessera.layouts.names import ALL_2MB, ALL_4KB
from tessera.results.pair import Pair


def hot_region_share(claim, evidence, layout: str, how: str) -> Outcome:
    """Size of the hot region (the window of a sliding layout's step 0), percent of the space."""

    def of(pair: Pair) -> float:
        pages = evidence.manifest(pair)["pages_2mb"]
        if layout not in pages.index or not pages.get(ALL_2MB, 0):
            raise Missing(f"{pair}: the manifest lacks {layout} or {ALL_2MB}")
        return 100 * float(pages[layout]) / float(pages[ALL_2MB])

    return select(claim, evidence).each(of, how)


def _places(evidence: Evidence, pair: Pair) -> pd.Series:
    """Misses of each layout on a scale from 0 (all-2MB) to 1 (all-4KB)."""
    misses = evidence.samples(pair)["stlb_misses"].dropna()
    low = evidence.cell(pair, ALL_2MB, "stlb_misses")
    high = evidence.cell(pair, ALL_4KB, "stlb_misses")
    if high <= low:
        raise Missing(f"{pair}: 2MB pages don't reduce the misses, so there is no range")
    return (misses - low) / (high - low)


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

    return select(claim, evidence).each(of, how)


def random_near_anchors(claim, evidence, tenths: int, how: str) -> Outcome:
    """Share of random layouts in the outer ``tenths`` of the miss range, either end, percent."""

    def of(pair: Pair) -> float:
        places = _places(evidence, pair)
        places = places[places.index.str.startswith("random-")]
        if places.empty:
            raise Missing(f"{pair}: no random layout ran")
        edge = tenths / 10
        return 100 * float(((places <= edge) | (places >= 1 - edge)).mean())

    return select(claim, evidence).each(of, how)


EVALUATORS = {
    "hot_region_share": hot_region_share,
    "diversity_ratio": diversity_ratio,
    "random_near_anchors": random_near_anchors,
}
