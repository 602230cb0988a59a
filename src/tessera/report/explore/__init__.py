"""What the notebooks call, so that their cells stay short: one results tree, one pair, a few pictures.

Bottom up: `display` < `source` (which data, which workload and platform; claims beside) < `miss_heat`,
`fits` (with the menus of notebook 01), `designs` (with what may be said of them), `machine`, `threads`
(notebook 08), `kernel` (notebook 09). Nothing here computes a model or a verdict of its own: numbers come
from `tessera.fit`, `tessera.core.layouts`, `tessera.report.claims`, `tessera.report.machines` and the study
of transfer.
"""

from tessera.report.explore.designs import (
    Design,
    answers,
    for_a_new_design,
    simulate_designs,
    studied_pair,
)
from tessera.report.explore.display import look, tidy
from tessera.report.explore.fits import (
    FAMILIES,
    anchors,
    coefficient_shares,
    controls,
    draw_fits,
    draw_inputs,
    error_table,
    judge_models,
    register,
    split_by_family,
)
from tessera.report.explore.machine import (
    MyMachine,
    decided,
    draw_machine,
    my_machine,
    sizes,
    touched,
)
from tessera.report.explore.miss_heat import draw_heat, draw_windows, hot_regions, profile, suggestion
from tessera.report.explore.source import (
    PairSamples,
    ResultsSource,
    claims,
    findings,
    open_results,
    published_errors,
    scores,
    verdict_counts,
)

__all__ = [
    "Design", "FAMILIES", "MyMachine", "PairSamples", "ResultsSource", "anchors", "answers", "claims",
    "coefficient_shares", "controls", "decided", "draw_fits", "draw_heat", "draw_inputs", "draw_machine",
    "draw_windows", "error_table", "findings", "for_a_new_design", "hot_regions", "judge_models", "look",
    "my_machine", "open_results", "profile", "published_errors", "register", "scores", "simulate_designs",
    "sizes", "split_by_family", "studied_pair", "suggestion", "tidy", "touched", "verdict_counts",
]  # fmt: skip
