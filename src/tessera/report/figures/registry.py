"""Names of the figures. A new figure is one file with a ``draw`` and one line in :data:`FIGURES`.

Contract of a figure function: ``draw(results, reference)`` (with ``workload, platform`` behind them when
``per_pair``) returns ``(matplotlib figure, tidy table)``; ``results`` is a folder or a ``Results``,
``reference`` the folder of published numbers. The table holds every number that is drawn, published ones
too, with a ``provenance`` column. Without data it raises ``NotDrawn`` with the reason.
"""

from __future__ import annotations

from tessera.core.errors import unknown_name
from tessera.report.figures.entries import MITOSIS_FIGURES, OPERA_FIGURES, OS_FIGURES, VIRTUOSO_FIGURES, Entry


def _case(name: str, title: str, caption: str) -> Entry:
    return Entry(name, "case_studies:draw_case", title, caption, argument=name)


FIGURES: tuple[Entry, ...] = (
    Entry(
        "fig2",
        "model_errors:draw_max_errors",
        "Largest error of each model",
        "Largest relative error of each model over all workloads and platforms. Diamonds are the values "
        "printed in the paper; small circles are the platforms.",
        group="summary",
    ),
    Entry(
        "fig5",
        "model_errors:draw_workload_errors",
        "Largest error per workload",
        "Largest relative error of the models for each workload, one panel per platform, log scale; "
        "the axes of the paper's chart are swapped. The paper does not publish its bars as data. The dashed "
        "line is the number in the paper's caption.",
        argument="max_error",
    ),
    Entry(
        "fig6",
        "model_errors:draw_workload_errors",
        "Geometric mean error per workload",
        "Geometric mean of the relative errors of the models for each workload, one panel per "
        "platform, log scale. Exact predictions (error 0) are left out of the mean and counted in the data."
        " The paper does not publish its bars as data.",
        argument="geomean_error",
    ),
    _case(
        "fig3",
        "A linear model against Mosmodel",
        "Runtime against walk cycles, with the linear models and with Mosmodel's predictions. Top: the "
        "paper's pair or its stand-in. Bottom: the most extreme pair of this run. The paper does not publish "
        "its curve as data.",
    ),
    _case(
        "fig7",
        "What the Basu model predicts",
        "Runtime against TLB misses, with the line of the Basu model, which is fitted to one point. Top: the "
        "paper's pair or its stand-in. Bottom: the most extreme pair of this run. The paper does not publish "
        "its curve as data.",
    ),
    _case(
        "fig8",
        "Workloads that a straight line describes well and badly",
        "Runtime against walk cycles for a workload that a line describes well, and for the workload that it "
        "describes worst. The paper does not publish its curve as data.",
    ),
    _case(
        "fig9",
        "The slope of runtime against walk cycles",
        "A slope above 1 means that one walk cycle adds more than one cycle to the runtime. Top: the paper's "
        "pair or its stand-in. Bottom: the most extreme pair of this run. The paper does not publish its "
        "curve as data.",
    ),
    _case(
        "fig10",
        "A workload that a straight line describes badly",
        "The best line, parabola and cubic in walk cycles. The paper does not publish its curves as data. If"
        " the line's error is largest for the paper's pair, the figure shows only that pair.",
    ),
    _case(
        "fig11",
        "Predicting 1GB pages",
        "No model was fitted to the 1GB layout: the models predict its runtime from its H, M and C. Top: "
        "the paper's pair or its stand-in. Bottom: the most extreme pair of this run. The paper does not "
        "publish its curve as data.",
    ),
    Entry(
        "table6",
        "model_errors:draw_cross_validation",
        "Cross-validation errors",
        "Largest cross-validation error over all workloads and platforms: K folds of one seed, and "
        "leave-one-out, which decides the claims. Mosmodel (authors) has the authors' settings.",
    ),
    Entry(
        "table7",
        "case_studies:draw_counters",
        "Cache loads of the program and of the page walker",
        "Runtime, walk cycles, TLB misses and loads of the program and of the page walker that reached each"
        " level, with 4KB and with 2MB pages: the paper's xalancbmk as printed (MICRO'20 Table 7, the same "
        "measurement as OPERA Table 6), its stand-in, and the pair with the largest slope.",
    ),
    Entry(
        "table8",
        "rsquared:draw",
        "R\u00b2 of C, M and H alone",
        "R\u00b2 of a straight line in one input. In brackets: the paper's value for the same kind of "
        "workload.",
    ),
    Entry(
        "regime",
        "workload_regimes:draw_regime",
        "The regime of each pair",
        "Cycles of a walk and share of walk cycles with 4KB pages. Filled marks: the recording touches at "
        "least 90% of the published footprint. Hollow marks: less, or the footprint is unknown. Dashed: "
        "printed numbers.",
        group="workloads",
    ),
    Entry(
        "sensitivity",
        "workload_regimes:draw_sensitivity",
        "How much huge pages help",
        "Runtime saved with 2MB and with 1GB pages, compared to 4KB pages. A workload counts as "
        "TLB-sensitive if it saves at least 5%.",
        group="workloads",
    ),
    Entry(
        "host",
        "host_validation:draw_real_runs",
        "Real runs and simulation",
        "Difference in clock time between a layout and all-4KB pages on this machine (measured, 95% "
        "confidence interval), and the simulated difference. Hybrid: H, M and C are simulated.",
        group="validation",
    ),
    Entry(
        "sampling",
        "simulator_studies:draw_sampling_errors",
        "Errors of sampling",
        "Full simulation of a window, compared with samples of it at the same cost. Top: error of the "
        "runtime's difference to 4KB pages, as a share of the gain from 4KB to 2MB pages. Bottom: error "
        "of the runtime. Whiskers: 95% intervals; only systematic samples have them. `Perfect contents`: "
        "TLBs and caches have the correct contents at the start of each sample.",
        group="validation",
    ),
    Entry(
        "sampling-phases",
        "simulator_studies:draw_sampling_phases",
        "Phases of the window",
        "Cycles per instruction of each interval of the window in full simulation. The marks below show "
        "which intervals each sampling method simulates.",
        group="validation",
    ),
    Entry(
        "ablations",
        "simulator_studies:draw_ablations",
        "Effect of one mechanism on slope and curvature",
        "Runtime minus the runtime of the all-2MB layout, against walk cycles, with one mechanism switched "
        "off at a time. Each point is a layout. The dotted line has slope 1.",
        group="validation",
    ),
    Entry(
        "designs",
        "designs:draw_design_misses",
        "Misses of translation designs, by mapping",
        "Misses of each design as a share of the baseline's (4KB pages only) under the same mapping. A panel "
        "is a mapping of pages to frames, a colour a workload. no cell: the simulator rejected the "
        "design under this mapping. For designs behind L3 (hvc-*), misses are of accesses that missed L3.",
        group="validation",
    ),
    Entry(
        "designs-nested",
        "designs:draw_nested_misses",
        "Misses with a guest alone and over its host",
        "Misses of each design as a share of the baseline's under the same mapping. Left: the guest's "
        "mapping alone. Right: the guest over its host. The designs run on the composed mapping; loads of "
        "two-dimensional walks are not part of these counts.",
        group="validation",
    ),
    Entry(
        "new-designs",
        "designs:draw_answers",
        "Answers for new designs",
        "Change of R by a design: what the timing engine says, and what the bracket answers, with its "
        "interval. Only answered points whose R differs from that of the processor by more than 3%. On the "
        "dashed line is what the model constant answers: no design matters.",
        group="summary",
    ),
    Entry(
        "transfer",
        "designs:draw_transfer",
        "Models of P in classes of designs",
        "Share of the judged points that each model predicts (percent), by class of design and by what H "
        "and C count. + survives, ~ mixed, - fails. The model constant predicts that no design matters. "
        "x: useless, it passes no more points than constant. o: fewer than 20 informative points.",
        group="validation",
    ),
    Entry(
        "transfer-ladder",
        "designs:draw_ladder",
        "From P to a design, one mechanism a step",
        "What each mechanism adds to R, as a share of R of P under the same mapping. The bars of a line "
        "follow each other and sum to the gap between P and the design.",
        group="validation",
    ),
    Entry(
        "sweep",
        "simulator_studies:draw_sweep",
        "Conclusions under other assumed values",
        "Each column changes one assumed value. A cross means that the conclusion differs from that of the "
        "baseline.",
        group="platforms",
    ),
    Entry(
        "validation-chase",
        "host_validation:draw_chase",
        "Pointer chases: measured and simulated",
        "Cycles per access over growing footprints: this machine (medians of rounds), its platform file "
        "as detected, and the file calibrated on these chases. Dashed lines: steps found in the "
        "measurement.",
        group="validation",
    ),
    Entry(
        "validation-clock",
        "host_validation:draw_clock",
        "Simulated core against this machine's clock",
        "Simulated cycles over native cycles of micro-benchmarks and programs. Whiskers: 95% interval of the "
        "measured median. Band: within 10%, the aim for the median of those that judge.",
        group="validation",
    ),
    Entry(
        "validation-mosaics",
        "host_validation:draw_mosaics",
        "Differences between layouts: simulated against measured",
        "Each point is a layout's runtime relative to all-4KB pages. On the diagonal, simulation and real "
        "run agree. Within the band, they differ by at most 25% of the measured gain of 2MB pages. Whiskers: "
        "95% intervals of the measurement.",
        group="validation",
    ),
    Entry(
        "timeline",
        "job_timeline:draw",
        "Jobs of the run",
        "Start and end of each job, from the pipeline's start with the most work. A slot is a core as "
        "Snakemake counts them. Compilers inside a job use all cores, so a gap is not always an idle core.",
        group="provenance",
    ),
    *OPERA_FIGURES,
    *MITOSIS_FIGURES,
    *OS_FIGURES,
    *VIRTUOSO_FIGURES,
    Entry(
        "curves",
        "curves:draw",
        "Runtime and the models' curves",
        "Every layout's runtime against walk cycles and against TLB misses, with what the models "
        "predict for the same layouts.",
        per_pair=True,
    ),
    Entry(
        "machines",
        "measured_machines:draw_machines",
        "R against C on real machines",
        "A panel for each workload of each bundle that took part. Bars are 95% intervals over rounds. Barred "
        "bundles are drawn, too.",
        group="platforms",
    ),
    Entry(
        "fault-latency",
        "page_faults:draw_fault_latency",
        "Latency of page faults on this machine",
        "Top: first touches of memory, quantiles as the median over passes. Bottom: slow touches at the "
        "distances of page tables, LRU batches and fault-around, beside the share of random places.",
        group="platforms",
    ),
    Entry(
        "layouts",
        "layouts_overview:draw",
        "STLB misses by address, and the layouts",
        "Top: STLB misses with 4KB pages, by position in the used heap and then in anonymous memory (log "
        "scale). Bottom: a row per layout. Huge pages hide the misses that they remove; the misses that are "
        "left stay visible. The runtime is at the right.",
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
