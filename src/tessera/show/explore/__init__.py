"""What the notebooks call, so that their cells stay short: one results tree, one pair, a few pictures.

Bottom up: `look` < `source` (which data, which workload and platform) < `fits`, `designs`, `hot`, `compare`,
`estimators` < `controls` (the menus of notebook 02). Nothing here computes a model or a verdict of its own:
numbers come from `tessera.fit.models`, `tessera.fit.predict`, `tessera.layouts`, `tessera.judge.claims`.
"""

from tessera.show.explore.compare import claims, findings, published_errors, scores, verdict_counts
from tessera.show.explore.controls import controls
from tessera.show.explore.designs import Design, simulate_designs
from tessera.show.explore.estimators import judge_models, register
from tessera.show.explore.fits import (
    FAMILIES,
    anchors,
    coefficient_shares,
    draw_fits,
    draw_inputs,
    error_table,
    split_by_family,
)
from tessera.show.explore.hot import draw_heat, draw_windows, hot_regions, profile, suggestion
from tessera.show.explore.look import look, tidy
from tessera.show.explore.source import Pair, Source, open_results

__all__ = [
    "Design", "FAMILIES", "Pair", "Source", "anchors", "claims", "coefficient_shares", "controls",
    "draw_fits", "draw_heat", "draw_inputs", "draw_windows", "error_table", "findings", "hot_regions",
    "judge_models", "look", "open_results", "profile", "published_errors", "register",
    "scores", "simulate_designs", "split_by_family", "suggestion", "tidy", "verdict_counts",
]  # fmt: skip
