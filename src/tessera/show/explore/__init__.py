"""What the notebooks call, so that their cells stay short: one results tree, one pair, a few pictures.

Bottom up: `look` < `source` (which data, which workload and platform) < `fits`, `designs`, `hot`,
`compare`, `estimators`, `machine` < `answers`, `controls` (the menus of notebook 02), `threads` (notebook
08), `kernel` (notebook 09). Nothing here computes a model or a verdict of its own: numbers come from
`tessera.fit.models`, `tessera.fit.predict`, `tessera.layouts`, `tessera.judge.claims`,
`tessera.judge.machines`, `tessera.judge.studies.transfer`.
"""

from tessera.show.explore.answers import answers, for_a_new_design, formulas, studied_pair
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
from tessera.show.explore.machine import (
    MyMachine,
    by_cross_validation,
    decided,
    draw_machine,
    my_machine,
    sizes,
    touched,
)
from tessera.show.explore.source import Pair, Source, open_results

__all__ = [
    "Design", "FAMILIES", "MyMachine", "Pair", "Source", "anchors", "answers", "by_cross_validation",
    "claims", "coefficient_shares", "controls", "decided", "draw_fits", "draw_heat", "draw_inputs",
    "draw_machine", "draw_windows", "error_table", "findings", "for_a_new_design", "formulas", "hot_regions",
    "judge_models", "look", "my_machine", "open_results", "profile", "published_errors", "register", "scores",
    "simulate_designs", "sizes", "split_by_family", "studied_pair", "suggestion", "tidy", "touched",
    "verdict_counts",
]  # fmt: skip
