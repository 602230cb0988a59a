"""Tables of the study of transfer, and of ``tessera predict`` (docs/explain/predict.md).

See docs/explain/transfer.md.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath

from tessera.core.results.schema import MESSAGE, PAIR, PROVENANCE, Table, columns

# The study of transfer (docs/explain/transfer.md): a runtime model of P, asked for a new design.

_WRITER = "tessera lab run transfer-verdicts"
_POINT = columns("""
group    text  -  class of the variant (docs/explain/transfer.md)
variant  text  -  name of the variant of P
layout   text  -  layout or mapping
inputs   text  -  counted, latency or busy: what H and C count
""")
_FAMILY = columns("""
family   text    -  family of designs, by which intervals are made: STLB, coalescing, walk, ...
""")
_COUNTS = columns("""
stlb_hits    number  translations  H
stlb_misses  number  translations  M
walk_cycles  number  cycles        C
""")
SAMPLES = Table(
    "transfer_samples", lambda t: t.transfer("samples"), _WRITER, "column",
    "P under the layouts that the models are fitted to, and under the mappings of the study",
    (*PAIR, *columns("""
    layout                text    -             layout or mapping
    pages                 text    -             layout or mapping: what the row is
    fitted                truth   -             the models are fitted to this row
    """), *_COUNTS, *columns("""
    runtime_cycles        number  cycles        R of P (R_0)
    ideal_runtime_cycles  number  cycles        R of the design ideal
    window_accesses       count   accesses      accesses of the window
    warm_accesses         count   accesses      those of its beginning that only warm TLBs and caches
    touched_pages         count   pages         4KB pages that the window touches
    units                 count   1             intervals that C and R come from
    warm_units            count   1             intervals before them
    interval_instructions count   instructions  instructions of an interval
    seed                  count   1             seed of mappings and random layouts
    """), *PROVENANCE),
)  # fmt: skip
POINTS = Table(
    "transfer_points", lambda t: t.transfer("points"), _WRITER, "column",
    "each variant of P under each layout or mapping, with the three inputs",
    (*PAIR, *_POINT, *_FAMILY, *columns("""
    status                text    -             ok, failed, or refused (by the simulator)
    """), *MESSAGE, *columns("""
    changes               text    -             values of the platform that differ from P
    """), *_COUNTS, *columns("""
    background_cycles     number  cycles        B: latency of loads that no access waits for
    walkers               count   walkers       page walkers of the variant
    miss_cycles           number  cycles        what the look-ups of its misses take more than on P, in total
    runtime_cycles        number  cycles        R
    base_runtime_cycles   number  cycles        R_0: R of P under the same layout or mapping
    ideal_runtime_cycles  number  cycles        R of the design ideal
    gain_cycles           number  cycles        R_0 - R
    gain_ci95_cycles      number  cycles        half-width of its paired 95% interval over units
    judged                truth   -             R_0 - R_ideal is at least 5% of R_0
    informative           truth   -             |R - R_0| is more than 3% of R_0
    """), *PROVENANCE),
)  # fmt: skip
PREDICTIONS = Table(
    "transfer_predictions", lambda t: t.transfer("predictions"), _WRITER, "column",
    "the prediction of each model for each point",
    (*PAIR, *_POINT, *columns("""
    model             text    -       runtime model, fitted to P
    predicted_cycles  number  cycles  predicted R
    error             number  1       (predicted - R) / R
    model_error       number  1       (predicted - R_P(x)) / R; empty without a twin
    bound_holds       truth   -       S1: the absolute error is at most 3%
    gain_holds        truth   -       S2: the gain is predicted within 25%; empty below 5% of R_0
    passes            truth   -       S1, and S2 where it applies; empty if the point is not judged
    hull_distance     number  1       distance to the hull of P's samples in the inputs of the model
    """), *PROVENANCE),
    float_format="%.9g",
)  # fmt: skip
TWINS = Table(
    "transfer_twins", lambda t: t.transfer("twins"), _WRITER, "column",
    "the runtime of P at the H, M, C of each point",
    (*PAIR, *_POINT, *columns("""
    kind                  text    -       exact, near or none
    twin                  text    -       nearest layout of P
    distance              number  1       largest difference of an input, as a share of its range on P
    runtime_cycles        number  cycles  R of the point
    twin_runtime_cycles   number  cycles  R of P under the twin
    correction_cycles     number  cycles  what the slope of ten layouts adds to reach x
    transfer_error        number  1       (R_P(x) - R) / R, with R_P(x) the sum of the two
    gap                   number  1       g: difference of R and R_P(x), as a share of the smaller
    least_error           number  1       g / (2 + g): no function of H, M, C is nearer at both
    hull_distance         number  1       distance to the hull of P's samples; 0 inside
    """), *PROVENANCE),
)  # fmt: skip
LADDER = Table(
    "transfer_ladder", lambda t: t.transfer("ladder"), _WRITER, "column",
    "from P to a design, one mechanism a step",
    (*PAIR, *columns("""
    ladder             text    -       design at the end
    layout             text    -       mapping
    step               count   1       0 is P
    mechanism          text    -       what the step adds
    status             text    -       ok, failed or refused
    """), *MESSAGE, *columns("""
    changes            text    -       values of the platform that differ from P
    """), *_COUNTS, *columns("""
    background_cycles  number  cycles  B
    runtime_cycles     number  cycles  R after the step
    step_cycles        number  cycles  R - R of the step before
    gap_cycles         number  cycles  R of the design - R of P
    predicted_cycles   number  cycles  R that Mosmodel predicts at this H, M, C; empty if it is not fitted
    """), *PROVENANCE),
)  # fmt: skip
VERDICTS = Table(
    "transfer_verdicts", lambda t: t.transfer("verdicts"), _WRITER, "column",
    "does a model of P survive a class of designs",
    (*columns("""
    platform               text    -          platform
    inputs                 text    -          counted, latency or busy
    group                  text    -          class
    model                  text    -          runtime model
    verdict                text    -          survives, fails, mixed, or not judged (no point)
    workloads              count   workloads  workloads with judged points
    points                 count   points     points that are ok
    judged                 count   points     those that translation matters to
    passing                count   points     those that pass S1, and S2 where it applies
    pass_share             number  1          passing / judged
    least_workload_share   number  1          the same in the worst workload
    bound_share            number  1          share of judged points with S1
    gains                  count   points     judged points with a gain or loss of at least 5% of R_0
    gain_share             number  1          share of them with S2
    pairs                  count   pairs      pairs of variants that differ enough to be ordered
    inversions             count   pairs      those in the wrong order (S3)
    worst_error            number  1          largest absolute error of a judged point
    median_error           number  1          median over workloads of the largest absolute error
    good_good              count   workloads  good on P, good on P-bar
    good_bad               count   workloads  good on P, bad on P-bar: against sufficiency
    bad_good               count   workloads  bad on P, good on P-bar: against necessity
    bad_bad                count   workloads  bad on P, bad on P-bar
    inside_pass            count   points     inside the hull, passes
    inside_fail            count   points     inside the hull, does not pass: the warning misses it
    outside_pass           count   points     outside the hull, passes: a false warning
    outside_fail           count   points     outside the hull, does not pass
    informative            count   points     judged points with |R - R_0| above 3% of R_0
    informative_passing    count   points     those of them that pass
    constant_passing       count   points     judged points that the prediction R_0 passes
    variant_share          number  1          mean over variants of passing / judged
    worth                  text    -          trivial, useless, or empty (docs/explain/transfer.md)
    level                  number  1          least level of the intervals from the other workloads
    half_width             number  1          their median half-width, as a share of the prediction
    covered                count   points     judged points inside these intervals
    coverage               number  1          mean over workloads of the share that is inside
    twins                  count   points     points with an exact or near twin
    least_error            number  1          largest g / (2 + g) of these
    """), *PROVENANCE),
)  # fmt: skip
FITS = Table(
    "transfer_fits", lambda t: t.transfer("fits"), _WRITER, "column",
    "how good each model is on P itself",
    (*PAIR, *columns("""
    model                   text    -       runtime model
    status                  text    -       ok or failed
    """), *MESSAGE, *columns("""
    samples                 count   1       layouts
    max_cv_error            number  1       largest absolute error in 6-fold cross validation
    good_on_p               truth   -       it is at most 3%
    inputs_used             text    -       those of H, M, C that the fitted model depends on
    intercept_cycles        number  cycles  prediction at H = M = C = 0; empty if the model gives none
    ideal_runtime_cycles    number  cycles  R of the design ideal
    """), *PROVENANCE),
)  # fmt: skip
WIDTHS = Table(
    "transfer_widths", lambda t: t.transfer("widths"), _WRITER, "column",
    "hierarchical conformal intervals of each model for each workload, from the other workloads",
    columns("""
    platform    text    -          platform
    inputs      text    -          counted, latency or busy
    group       text    -          class
    family      text    -          family of designs
    model       text    -          runtime model
    workload    text    -          workload that is left out
    workloads   count   workloads  K: others with judged points in this class and family
    level       number  1          level: 0.9, or K / (K + 1) with fewer than 9 others; empty without any
    half_width  number  1          |R - predicted| / predicted at this level; inf: no finite interval
    provenance  text    -          simulated
    """),
)  # fmt: skip
ANSWERED = Table(
    "transfer_answers", lambda t: t.transfer("answers"), _WRITER, "column",
    "what the source `bracket` answers for each point, from P's samples and H and C of the design",
    (*PAIR, *columns("""
    group                text    -       class of the variant (docs/explain/transfer.md)
    variant              text    -       name of the variant of P
    family               text    -       family of designs: STLB, coalescing, walk, ...
    layout               text    -       layout or mapping
    source               text    -       bracket
    status               text    -       answered or refused
    codes                text    -       why it is refused, separated by spaces (docs/explain/predict.md)
    """), *MESSAGE, *columns("""
    low_cycles           number  cycles  lower end of the interval; also of a refusal that has one
    centre_cycles        number  cycles  predicted R; empty if refused
    high_cycles          number  cycles  upper end
    half_width           number  1       half the interval, as a share of the centre; empty if refused
    runtime_cycles       number  cycles  R
    base_runtime_cycles  number  cycles  R_0: R of P under the same layout or mapping
    judged               truth   -       R_0 - R_ideal is at least 5% of R_0
    informative          truth   -       |R - R_0| is more than 3% of R_0
    covered              truth   -       the interval contains R; empty if refused
    passes               truth   -       the centre satisfies S1, and S2 where it applies; empty if refused
    constant_passes      truth   -       R_0 as a prediction does
    """), *PROVENANCE),
)  # fmt: skip
NEW_DESIGNS = Table(
    "transfer_new_designs", lambda t: t.transfer("new_designs"), _WRITER, "column",
    "for a new design: how often the bracket answers, and how right its answers are, beside two rivals",
    columns("""
    platform                      text    -          platform
    scope                         text    -          all workloads, or new: those not used for tuning
    group                         text    -          class, or all of them but ideal
    workloads                     count   workloads  workloads with judged points
    judged                        count   points     points that translation matters to
    answered                      count   points     judged points with an answer
    covered                       count   points     answers whose interval contains R
    passing                       count   points     answers whose centre passes S1, and S2 where it applies
    informative                   count   points     judged points with |R - R_0| above 3% of R_0
    informative_answered          count   points     those of them with an answer
    informative_covered           count   points     these answers whose interval contains R
    informative_passing           count   points     these answers whose centre passes
    constant_passing              count   points     answered points that the prediction R_0 passes
    mosmodel_passing              count   points     answered points that Mosmodel passes, input counted
    mosmodel_informative_passing  count   points     informative ones of them
    half_width                    number  1          median half-width of the answers
    interval_score                number  1          mean interval score of the answers (90%), a share of R_0
    constant_interval_score       number  1          the same of R_0 with its interval; empty without one
    worth                         text    -          trivial: fewer than 20 informative points; else empty
    open_for                      count   workloads  workloads for which the class is open; empty for all
    provenance                    text    -          simulated
    """),
)  # fmt: skip
#: Tables of a run, and those of them that each workload and platform has, too.
PARTS = (SAMPLES, FITS, POINTS, PREDICTIONS, ANSWERED, TWINS, LADDER)
OF_RUN = (*PARTS, VERDICTS, WIDTHS, NEW_DESIGNS)


def _of_pair(table: Table) -> Table:
    """The same table of one workload and platform."""
    stem = PurePath(table.file).stem
    return replace(
        table, name=f"{table.name}_of_pair", place=lambda t, w="*", p="*": t.transfer_of(w, p, stem),
        writer="tessera lab run transfer", about=f"{table.about}, for one workload and platform",
    )  # fmt: skip


TRANSFER_TABLES = (*OF_RUN, *(_of_pair(table) for table in PARTS))


# What ``tessera predict`` writes with ``--out``; no part of a results folder (docs/explain/predict.md).

DESIGN_ANSWERS = Table(
    "design_answers", lambda t: t.transfer("design_answers"), "tessera predict", "column",
    "the runtime of a design of the user, with its source and level, or why there is none",
    (*PAIR, *columns("""
    design               text    -       name of the design
    layout               text    -       layout or mapping
    classes              text    -       classes of the study that it falls in
    source               text    -       calibrated, bracket, engine or none
    level                text    -       A to D, or none (docs/explain/predict.md)
    runtime_cycles       number  cycles  R; empty without an answer
    low_cycles           number  cycles  lower end of the interval; empty without one
    high_cycles          number  cycles  upper end
    base_runtime_cycles  number  cycles  R_0: P under the same layout or mapping; empty if it is not known
    change               number  1       R / R_0 - 1
    low_change           number  1       the same of the lower end
    high_change          number  1       the same of the upper end
    codes                text    -       remarks on the answer, or why there is none, separated by spaces
    """), *MESSAGE, *PROVENANCE),
)  # fmt: skip
