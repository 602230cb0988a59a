"""Names of the figures. A new figure is one file with a ``draw`` and one line in :data:`FIGURES`.

Contract of a figure function: ``draw(results, reference)`` (with ``workload, platform`` behind them when
``per_pair``) returns ``(matplotlib figure, tidy table)``; ``results`` is a folder or a ``Results``,
``reference`` the folder of published numbers. The table holds every number that is drawn, published ones
too, with a ``provenance`` column. Without data it raises ``NotDrawn`` with the reason.
"""

from __future__ import annotations

from tessera.core.errors import unknown_name
from tessera.show.figures.entry import Entry
from tessera.show.figures.mitosis_entries import MITOSIS_FIGURES
from tessera.show.figures.opera_entries import OPERA_FIGURES

__all__ = ["FIGURES", "Entry", "get", "select"]


def _case(name: str, title: str, caption: str) -> Entry:
    return Entry(name, "case_studies:draw", title, caption, argument=name)


FIGURES: tuple[Entry, ...] = (
    Entry(
        "fig2",
        "fig2_max_errors:draw",
        "Largest error of each model",
        "Largest relative error of each model over all workloads and platforms. Diamonds are the values "
        "printed in the paper; small circles are the platforms.",
        group="summary",
    ),
    Entry(
        "fig5",
        "benchmark_errors:draw",
        "Largest error per workload",
        "Largest relative error of the models for each workload, one panel per platform, log scale; "
        "the paper's chart on its side. Its bars are not published as data; the dashed line is its caption.",
        argument="max_error",
    ),
    Entry(
        "fig6",
        "benchmark_errors:draw",
        "Geometric mean error per workload",
        "Geometric mean of the relative errors of the models for each workload, one panel per "
        "platform, log scale. Exact predictions (error 0) are left out of the mean and counted in the data."
        " The paper's bars are not published as data.",
        argument="geomean_error",
    ),
    _case(
        "fig3",
        "A linear model against Mosmodel",
        "Runtime against walk cycles with the lines and with Mosmodel's predictions. Above the paper's pair"
        " or its stand-in, below the most extreme pair of this run; the paper's curve is not published as "
        "data.",
    ),
    _case(
        "fig7",
        "What the Basu model predicts",
        "Runtime against TLB misses, with the line that the Basu model draws from its one point. Above the "
        "paper's pair or its stand-in, below the most extreme pair of this run; the paper's curve is not "
        "published as data.",
    ),
    _case(
        "fig8",
        "Where a straight line is enough",
        "Runtime against walk cycles for a workload that a line describes well, and for the one that it "
        "describes worst. The paper's curve is not published as data.",
    ),
    _case(
        "fig9",
        "The slope of runtime against walk cycles",
        "A slope above 1 means that a walk costs more than its own cycles. Above the paper's pair or its "
        "stand-in, below the most extreme pair of this run; the paper's curve is not published as data.",
    ),
    _case(
        "fig10",
        "Where a straight line is not enough",
        "The best line, parabola and cubic in walk cycles. The paper's curves are not published as data; if"
        " the paper's pair is the one where the line errs most, it is drawn alone.",
    ),
    _case(
        "fig11",
        "Predicting 1GB pages",
        "The 1GB layout was never fitted: both models predict it from its H, M and C. Above the paper's "
        "pair or its stand-in, below the most extreme pair of this run; the paper's curve is not published "
        "as data.",
    ),
    Entry(
        "table6",
        "table6_cross_validation:draw",
        "Cross-validation errors",
        "Largest K-fold cross-validation error over all workloads and platforms. The paper doesn't print "
        "K, so every K that was run is drawn; the headline is K = 6.",
    ),
    Entry(
        "table7",
        "table7_cache_loads:draw",
        "Who loads from the caches",
        "Runtime, walk cycles, TLB misses and loads of the program and of the page walker that reached each"
        " level, with 4KB and with 2MB pages: the paper's xalancbmk as printed (MICRO'20 Table 7, the same "
        "measurement as OPERA Table 6), what stands in for it, and the pair with the largest slope.",
    ),
    Entry(
        "table8",
        "table8_rsquared:draw",
        "How much C, M and H explain alone",
        "R\u00b2 of a straight line in one input, beside the paper's row for the same kind of workload.",
    ),
    Entry(
        "sensitivity",
        "sensitivity:draw",
        "How much huge pages help",
        "Runtime saved with 2MB and with 1GB pages, compared to 4KB pages. From 5% on a workload counts "
        "as TLB-sensitive.",
        group="workloads",
    ),
    Entry(
        "host",
        "real_runs:draw",
        "Real runs beside simulation",
        "Difference in clock time between a layout and all-4KB pages on this machine (measured, 95% "
        "confidence interval) beside the simulated difference. Hybrid: H, M and C are simulated.",
        group="validation",
    ),
    Entry(
        "sampling",
        "sampling_errors:draw",
        "Errors of sampling",
        "Full simulation of a window against samples of it at the same cost. Above: error of the "
        "runtime's difference to 4KB pages, as a share of the full gain from 4KB to 2MB pages; below: error "
        "of the runtime. Whiskers: 95% intervals, which only systematic samples have. `Perfect contents`: "
        "TLBs and caches are right at the start of each sample.",
        group="validation",
    ),
    Entry(
        "sampling-phases",
        "sampling_phases:draw",
        "Phases of the window",
        "Cycles per instruction of each interval of the window in full simulation; the marks below are the "
        "intervals that each sampling method simulates.",
        group="validation",
    ),
    Entry(
        "ablations",
        "ablations:draw",
        "What a mechanism does to slope and curvature",
        "Runtime above that of the all-2MB layout against walk cycles, with one mechanism switched off at a "
        "time. Each point is a layout; the dotted line has slope 1.",
        group="validation",
    ),
    Entry(
        "sweep",
        "sweep:draw",
        "Conclusions under other assumptions",
        "Each column is one assumed value changed; a cross means that the conclusion is not what it is at "
        "the baseline.",
        group="platforms",
    ),
    Entry(
        "validation-chase",
        "validation_chase:draw",
        "Pointer chases: measured and simulated",
        "Cycles per access over growing footprints: this machine (medians of rounds), its platform file "
        "as detected, and the file calibrated on these chases. Dashed lines: steps found in the "
        "measurement.",
        group="validation",
    ),
    Entry(
        "validation-mosaics",
        "validation_mosaics:draw",
        "Differences between layouts: simulated against measured",
        "Each point is a layout's runtime relative to all-4KB pages; on the diagonal simulation and real run "
        "agree, within the band their difference is at most 25% of the measured gain of 2MB pages. Whiskers: "
        "95% intervals of the measurement.",
        group="validation",
    ),
    Entry(
        "timeline",
        "timeline:draw",
        "Jobs of the run",
        "Start and end of each job, from the pipeline's start with the most work. A slot is a core as "
        "Snakemake counts them. Compilers inside a job use all cores, so a gap is not always an idle core.",
        group="provenance",
    ),
    *OPERA_FIGURES,
    *MITOSIS_FIGURES,
    Entry(
        "curves",
        "curves:draw",
        "Runtime and the models' curves",
        "Every layout's runtime against walk cycles and against TLB misses, with what the models "
        "predict for the same layouts.",
        per_pair=True,
    ),
    Entry(
        "layouts",
        "layouts_overview:draw",
        "Misses over the pools, and the layouts",
        "Above: STLB misses with 4KB pages, by position in the used heap and then anonymous memory (log "
        "shade). Below, a row per layout: huge pages cover the heat, what stays visible still misses; "
        "runtime at the right.",
        per_pair=True,
        group="layouts",
    ),
)


def _index() -> dict[str, Entry]:
    names: dict[str, Entry] = {}
    for entry in FIGURES:
        if entry.name in names:
            raise RuntimeError(f"figure '{entry.name}' is registered twice")
        names[entry.name] = entry
    return names


def get(name: str) -> Entry:
    """The entry of that name; the error lists the valid names."""
    index = _index()
    if name not in index:
        raise unknown_name("figure", name, list(index))
    return index[name]


def select(names: list[str] | None) -> list[Entry]:
    """The named entries in registry order; all of them without names."""
    _index()
    wanted = {get(name).name for name in names} if names else None
    return [entry for entry in FIGURES if wanted is None or entry.name in wanted]
