"""Tables of cells, of the layouts they belong to, and of the runtime models that are fitted to them."""

from __future__ import annotations

from tessera.core.results.schema import PAIR, Table, columns
from tessera.core.results.tree import ADAPTIVE_TABLES, FIT_TABLES, MODEL_TABLES

# Cells (R, H, M, C of a workload, platform and layout) and the layouts they belong to.

_CELL = columns("""
workload                 text    -             workload
platform                 text    -             platform, simulated or this machine (host-sim)
layout                   text    -             canonical name of the layout
repeat                   count   1             number of the repetition, from 0
status                   text    -             ok, failed or skipped
message                  text    -             why there are no numbers; changes by --set; number of real runs
runtime_cycles           count   cycles        R: unhalted cycles of the region of interest
runtime_cycles_ci95      count   cycles        half-width of R's 95% interval
runtime_ns               number  ns            measured clock time of the region of interest
runtime_ns_ci95          number  ns            half-width of its 95% interval
stlb_hits                count   translations  H: hits of the second-level TLB, data side
stlb_misses              count   translations  M: page walks, data side
walk_cycles              count   cycles        C: cycles of those walks
walk_cycles_ci95         count   cycles        half-width of C's 95% interval
instructions             count   instructions  instructions of the region of interest
accesses                 count   accesses      loads and stores
timed_instructions       count   instructions  instructions that were timed; the others only warmed the state
program_l1d_loads        count   loads         the program's loads that reached L1d
program_l2_loads         count   loads         the program's loads that reached L2
program_l3_loads         count   loads         the program's loads that reached L3
program_dram_loads       count   loads         the program's loads that reached memory
walker_l1d_loads         count   loads         the page walker's loads that reached L1d
walker_l2_loads          count   loads         the page walker's loads that reached L2
walker_l3_loads          count   loads         the page walker's loads that reached L3
walker_dram_loads        count   loads         the page walker's loads that reached memory
runtime_provenance       text    -             provenance of R: measured, simulated, published or empty
tlb_provenance           text    -             provenance of H, M and C
engine                   text    -             partial, timing, host, launcher (bundles), or perf (logs)
instruction_stlb_hits    count   translations  hits of the second-level TLB by instruction fetches
instruction_stlb_misses  count   translations  page walks of instruction fetches
instruction_walk_cycles  count   cycles        cycles of those walks
""")
_NAMES = [column.name for column in _CELL]
#: Older files, also archived ones, lack what stands after ``engine``: a new column is a new last line.
_ADDED = tuple(_NAMES[_NAMES.index("engine") + 1 :])


def _cells(name, place, writer, about) -> Table:
    return Table(name, place, writer, "column", about, _CELL, added=_ADDED)


CELLS = _cells("cells", lambda t: t.cells, "tessera dev step concat", "all cells of the run")
CELLS_OF = _cells(
    "cells_of",
    lambda t, w="*", p="*": t.cells_of(w, p),
    "tessera dev step cells",
    "simulated cells of a pair",
)
HOST_CELLS = _cells("host_cells", lambda t: t.host_cells, "tessera dev step host", "hybrid cells: real runs")
HOST_SIMULATED = _cells(
    "host_simulated", lambda t: t.host_simulated, "tessera dev step cells",
    "simulated cells for the layouts of the real runs",
)  # fmt: skip
CALIBRATED_CELLS = _cells(
    "host_calibrated", lambda t: t.validation("host_calibrated"), "tessera dev step cells",
    "the same simulated cells on the calibrated platform",
)  # fmt: skip

_MANIFEST = columns("""
layout        text   -      canonical name; the layout file is in the same folder
heuristic     text   -      growing, random, sliding-20 to sliding-80, or 1gb
parameter     text   -      number of the layout within its heuristic
pages_2mb     count  pages  2MB pages in its windows
pages_1gb     count  pages  1GB pages in its windows
duplicate_of  text   -      an earlier layout with the same windows, or empty
""")
MANIFEST = Table(
    "manifest", lambda t, w="*", p="*": t.manifest(w, p), "tessera dev step layouts", "none",
    "layouts of a pair", _MANIFEST,
)  # fmt: skip
HOST_MANIFEST = Table(
    "host_manifest", lambda t: t.host_manifest, "tessera dev step select", "none",
    "layouts of the real runs", _MANIFEST,
)  # fmt: skip
_PROFILE = columns("""
    pool          text   -             pool of the region (docs/contracts.md, "Layout file")
    offset_bytes  count  bytes         start of the 2MB region in its pool
    stlb_misses   count  translations  misses in the region
""")
PROFILE = Table(
    "profile", lambda t, w="*", p="*": t.profile(w, p), "tessera dev step layouts", "simulated",
    "misses under 4KB pages; sliding windows are chosen from them", _PROFILE,
)  # fmt: skip
ARCHIVED_PROFILE = Table(
    "archive/profile", lambda t, w="*", p="*": t.archived_profile(w, p), "tessera dev notebooks archive",
    "simulated", "the same, archived for use without a trace", _PROFILE,
)  # fmt: skip
ARCHIVED_DESIGNS = Table(
    "archive/designs", lambda t, w="*", p="*": t.archived_designs(w, p), "tessera dev notebooks archive",
    "column",
    "designs of notebooks 02 and 03 with 4KB pages, simulated by engine `timing`",
    columns("""
    design            text   -             name of the design
    changes           text   -             changed platform keys: key=value
    stlb_hits         count  translations  H
    stlb_misses       count  translations  M
    walk_cycles       count  cycles        C
    walk_cycles_ci95  count  cycles        half-width of C's 95% interval
    tlb_provenance    text   -             simulated
    runtime_cycles    count  cycles        R; empty in archives that were made without time
    """),
    added=("runtime_cycles",),
)  # fmt: skip
CELL_TABLES = (
    CELLS,
    CELLS_OF,
    HOST_CELLS,
    HOST_SIMULATED,
    CALIBRATED_CELLS,
    MANIFEST,
    HOST_MANIFEST,
    PROFILE,
    ARCHIVED_PROFILE,
    ARCHIVED_DESIGNS,
)


# Tables of runtime models: one per pair, and one for the whole run with `workload,platform` in front.
#
# Errors are relative to the runtime, as fractions.

#: The tables of one pair, by name: :data:`tessera.core.results.tree.MODEL_TABLES`.
MODELS_OF_PAIR: dict[str, Table] = {}
ADDED = ("effective_n",)  #: columns that older files lack
#: ``protocol`` of cv.csv: folds of one seed; each distinct sample left out; 6 folds under several seeds
K_FOLD, LEAVE_ONE_OUT, SEEDS = "", "leave-one-out", "seeds"


def _declare_models(name: str, about: str, text: str, needs: str = "", added: tuple[str, ...] = ()) -> None:
    own = columns(text)
    says_itself = any(column.name.endswith("provenance") for column in own)
    MODELS_OF_PAIR[name] = Table(
        name, lambda t, w="*", p="*": t.models_of(w, p, name), _models_writer(name),
        "column" if says_itself else "that of the pair's cells", about, own, needs, added,
    )  # fmt: skip


def _models_writer(name: str) -> str:
    if name in FIT_TABLES:
        return "tessera dev step fit"
    return "tessera dev step adaptive" if name in ADAPTIVE_TABLES else "tessera dev step one-gb"


_declare_models("coefficients", "terms of each model, in raw units", """
    model        text    -       name of a model (docs/explain/models.md)
    term         text    -       product of inputs: 1, C, M, H, C^2, C M, ...
    coefficient  number  cycles  cycles per unit of the term
""")  # fmt: skip
_declare_models("predictions", "predicted runtimes, including 1gb", """
    layout                    text    -       canonical name
    model                     text    -       name of a model
    predicted_runtime_cycles  number  cycles  R predicted by the model
""")  # fmt: skip
_declare_models("errors", "errors of each model when fitted to all layouts, and on the test point 1gb", """
    model                text    -        name of a model
    protocol             text    -        all (fitted to and tested on all layouts), or 1gb (the test point)
    samples              count   layouts  tested samples
    max_error            number  1        largest error
    geomean_error        number  1        geometric mean of the errors that are not zero
    zero_errors          count   layouts  samples with error 0
    dropped_zero_errors  count   layouts  samples that the geometric mean leaves out
    effective_n          count   1        distinct (H, M, C) rows among the fitted samples of the pair
    message              text    -        why there are no numbers
""", "max_error", ADDED)  # fmt: skip
_declare_models("cv", "errors under cross validation", """
    model                text    -        name of a model
    protocol             text    -        empty: K folds; leave-one-out; seeds: 6 folds under several seeds
    folds                count   1        number of folds, K; for leave-one-out the number of distinct samples
    seed                 count   1        seed of the shuffle into folds; empty: it plays no part
    max_error            number  1        largest error
    geomean_error        number  1        geometric mean of the errors that are not zero
    samples              count   layouts  tested samples
    zero_errors          count   layouts  samples with error 0
    dropped_zero_errors  count   layouts  samples that the geometric mean leaves out
    effective_n          count   1        distinct (H, M, C) rows among the fitted samples of the pair
    message              text    -        a remark, or why there are no numbers
""", "max_error", (*ADDED, "protocol"))  # fmt: skip
_declare_models("rsquared", "R squared of a straight line in one input (MICRO'20 Table 8)", """
    input        text    -  C, M or H
    r_squared    number  1  squared correlation with R
    effective_n  count   1  distinct (H, M, C) rows among the fitted samples of the pair
""", "r_squared", ADDED)  # fmt: skip
_declare_models("protocols", "errors of every model under every protocol", """
    model          text    -        name of a model
    protocol       text    -        how training and test samples are chosen (docs/explain/models.md)
    setting        text    -        parameter: number of folds, or the training and test groups
    samples        count   layouts  samples of the pair
    train_samples  count   layouts  training samples of the smallest fit
    test_samples   count   layouts  tested samples
    max_error      number  1        largest error
    geomean_error  number  1        geometric mean of the errors that are not zero
    effective_n    count   1        distinct (H, M, C) rows among the training samples of the smallest fit
    message        text    -        a warning, or why the numbers are missing
""", "max_error", ADDED)  # fmt: skip
_declare_models("anchored", "errors with both anchors always in training; no claim of a paper uses them", """
    model           text    -     name of a model
    protocol        text    -     anchored (6 folds of the other distinct rows), or 1gb (the test point)
    part            text    -     tested rows: all, low-leverage (at most 0.9), interpolation or extrapolation
    seeds           count   1     number of shuffles into folds; 1 for the test point
    failed_seeds    count   1     shuffles with a fold to which the model cannot be fitted
    effective_n     count   1     distinct (H, M, C) rows among the fitted samples of the pair
    tested_rows     count   rows  tested rows of this part, over all shuffles
    max_error       number  1     median over shuffles of the largest error
    max_error_low   number  1     its smallest value over the shuffles
    max_error_high  number  1     its largest value over the shuffles
    geomean_error   number  1     median over shuffles of the geometric mean of the errors that are not zero
    message         text    -     a remark, or why there are no numbers
""", "max_error")  # fmt: skip
_declare_models("learning_curve", "errors against the number of fitted layouts", """
    model                 text    -        name of a model
    train_samples         count   layouts  fitted layouts
    draws                 count   1        number of random choices of that many layouts
    seed                  count   1        seed of the draws
    failed_draws          count   1        draws to which the model cannot be fitted
    max_error             number  1        median over draws of the largest error
    max_error_p10         number  1        its 10th percentile
    max_error_p90         number  1        its 90th percentile
    geomean_error         number  1        median over draws of the geometric mean
    geomean_error_p10     number  1        its 10th percentile
    geomean_error_p90     number  1        its 90th percentile
    unseen_max_error      number  1        median over draws of the largest error on the other layouts
    unseen_max_error_p10  number  1        its 10th percentile
    unseen_max_error_p90  number  1        its 90th percentile
    message               text    -        why draws failed
""", "max_error")  # fmt: skip
_declare_models("adaptive", "layouts that an order needs to reach, and to keep, the error of all layouts", """
    model           text    -        name of a model
    order           text    -        adaptive or random
    slack           number  1        allowed excess over the target error
    target_error    number  1        error after fitting all layouts
    orders          count   1        number of orders
    total_layouts   count   layouts  layouts of the pair
    reached_median  number  layouts  median over orders of the layouts needed to reach the target error once
    reached_p10     number  layouts  its 10th percentile
    reached_p90     number  layouts  its 90th percentile
    held_median     number  layouts  median over orders of the layouts needed to stay at the target error
    held_p10        number  layouts  its 10th percentile
    held_p90        number  layouts  its 90th percentile
""", "reached_median")  # fmt: skip
_declare_models("adaptive_curve", "errors after each layout of an order", """
    order          text    -        adaptive or random
    seed           count   1        seed of a random order
    layouts        count   layouts  layouts so far
    layout         text    -        layout that was added last
    model          text    -        name of a model
    max_error      number  1        largest error over all layouts of the pair
    geomean_error  number  1        geometric mean of the errors that are not zero
""", "max_error")  # fmt: skip
_declare_models("one_gb", "the 1GB layout predicted from the others", """
    design                    text    -             predicted design: 1gb
    model                     text    -             name of a model
    stlb_hits                 number  translations  H of the design
    stlb_misses               number  translations  M
    walk_cycles               number  cycles        C
    predicted_runtime_cycles  number  cycles        R predicted by the model
    low_cycles                number  cycles        lower end of the interval
    high_cycles               number  cycles        upper end of the interval
    level                     number  1             probability of the interval
    interval_method           text    -             method of the interval
    inside_hull               truth   -             whether the design lies in the samples' convex hull
    outside_by                number  1             distance to the hull, as a share of the samples' ranges
    runtime_provenance        text    -             provenance of the samples' R
    tlb_provenance            text    -             provenance of the design's H, M, C
    message                   text    -             warnings, or why there is no interval
""")  # fmt: skip
_declare_models("budget", "error budget of the prediction of the 1GB layout", """
    design             text    -       predicted design: 1gb
    model              text    -       name of a model
    part               text    -       source of error: model, simulator, sampling, noise, or their total
    half_width_cycles  number  cycles  half-width of the part's 95% interval
    relative           number  1       the same as a share of the prediction
    provenance         text    -       measured or simulated; empty if the part is unknown
    message            text    -       how the part was estimated, or which data are missing
""", "relative")  # fmt: skip

#: The same tables for the whole run.
MODELS_OF_RUN = {
    name: MODELS_OF_PAIR[name].with_columns(
        PAIR,
        name=f"models/{name}",
        place=lambda t, name=name: t.models(name),
        writer="tessera models collect",
    )  # fmt: skip
    for name in MODEL_TABLES
}
RUNTIME_MODEL_TABLES = (*MODELS_OF_PAIR.values(), *MODELS_OF_RUN.values())
