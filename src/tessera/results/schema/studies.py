"""Studies of the simulator (docs/studies.md): sampling, ablations, a sweep over assumed values."""

from __future__ import annotations

from tessera.results.schema.cells import CELLS
from tessera.results.schema.table import MESSAGE, PAIR, PROVENANCE, Table, columns

_STATUS = columns("status  text  -  ok or failed")
SAMPLING = Table(
    "sampling", lambda t, w="*": t.sampling(w, "errors"), "tessera study sampling", "column",
    "errors of R, H, M, C estimated from intervals, against the full simulation",
    (*PAIR, *_STATUS, *MESSAGE, *columns("""
    window_accesses       count   accesses      accesses of the window
    window_instructions   count   instructions  instructions of the window
    method                text    -             method that chooses the intervals
    warmup                text    -             initial state of an interval: perfect, or warm-up accesses
    layout                text    -             canonical name
    quantity              text    -             R, H, M or C
    truth                 number  1             value of the full simulation (cycles or translations)
    estimate              number  1             estimated value
    ci95                  number  1             half-width of the 95% interval of the estimate
    error                 number  1             estimate over truth, minus one
    covers                truth   -             whether the interval contains the true value
    true_difference       number  1             true difference to the all-4KB layout
    estimated_difference  number  1             estimated difference to the all-4KB layout
    difference_ci95       number  1             half-width of the 95% interval of the estimated difference
    difference_error      number  1             error of that estimate as a share of the gain of 2MB pages
    difference_covers     truth   -             whether that interval contains the true difference
    timed_instructions    count   instructions  instructions that were timed
    intervals             count   intervals     intervals that were timed
    """), *PROVENANCE), needs="estimate",
)  # fmt: skip
INTERVALS = Table(
    "intervals", lambda t, w="*": t.sampling(w, "intervals"), "tessera study sampling", "column",
    "counts of every interval of the window",
    (*PAIR, *columns("""
    interval        count  1             number of the interval, from 0
    start_access    count  accesses      first access of the interval
    instructions    count  instructions  length of the interval
    layout          text   -             canonical name
    stlb_misses     count  translations  M
    walk_cycles     count  cycles        C
    runtime_cycles  count  cycles        R
    methods         text   -             sampling methods that choose this interval
    """), *PROVENANCE),
)  # fmt: skip
VARIANTS = CELLS.with_columns(
    columns("variant  text  -  baseline, or the mechanism that is switched off"), name="variants", added=(),
    place=lambda t, w="*", p="*": t.ablations(w, p, "cells"), writer="tessera study ablations",
    about="cells of every ablation",
)  # fmt: skip
SHAPES = Table(
    "shapes", lambda t, w="*", p="*": t.ablations(w, p, "shapes"), "tessera study ablations", "column",
    "slope and curvature of R over C in every ablation",
    (*PAIR, *columns("variant  text  -  baseline, or the mechanism that is switched off"), *PROVENANCE,
    *_STATUS, *MESSAGE, *columns("""
    layouts               count   layouts  distinct layouts
    walk_cycles_least     number  cycles   least C
    walk_cycles_greatest  number  cycles   greatest C
    slope                 number  1        slope of a straight line through all layouts
    slope_two_point       number  1        slope of the line through the 4KB and 2MB layouts
    slope_at_least        number  1        slope of the quadratic at the least C
    slope_at_greatest     number  1        slope of the quadratic at the greatest C
    curvature             number  1        coefficient of the square of C, with R and C scaled to their ranges
    curvature_p           number  1        p-value of the curvature (null hypothesis: no curvature)
    linear_max_error      number  1        largest error of the line, as a fraction of R
    quadratic_max_error   number  1        largest error of the quadratic, as a fraction of R
    extra_l2_loads        number  loads    program loads that reach L2: 4KB run minus 2MB run
    extra_l3_loads        number  loads    the same for L3
    extra_dram_loads      number  loads    the same for memory
    """)),
)  # fmt: skip
SWEEP = Table(
    "sweep", lambda t, w="*", p="*": t.sweep(w, p), "tessera study sweep", "column",
    "conclusions under other values of assumed parameters",
    (*PAIR, *columns("""
    key             text  -  changed platform key, or baseline
    alternative     text  -  name of the alternative assumption
    baseline_value  text  -  value in the platform file
    values          text  -  values under the alternative
    status          text  -  ok, failed, refused (by the simulator) or skipped
    """), *MESSAGE, *columns("""
    conclusion          text    -             name of the conclusion
    number              number  1             the number that decides the conclusion
    holds               truth   -             whether the conclusion holds
    baseline_number     number  1             the same number of the baseline
    baseline_holds      truth   -             whether the conclusion holds in the baseline
    survives            truth   -             whether both answers are equal
    window_accesses     count   accesses      accesses of the window
    timed_instructions  count   instructions  instructions that were timed
    layouts             count   layouts       layouts simulated for each alternative
    """), *PROVENANCE),
)  # fmt: skip
XML_GRID = Table(
    "xml_grid", lambda t: t.xml_grid, "tessera study xml-grid", "column",
    "numbers of the claims about xml-transform over a grid of its parameters",
    (*PAIR, *columns("""
    factor                 number  1         XMark's factor of the document's tables
    categories_per_factor  count   1         categories per factor; XMark has 1000
    begin                  text    -         beginning of the region: tree (the transformation) or output
    published_rule         truth   -         whether categories and region are those of the size `published`
    people                 count   elements  people in the document
    items                  count   elements  items in the document
    bids                   count   elements  bids in the document
    categories             count   elements  categories in the document
    status                 text    -         ok or failed
    """), *MESSAGE, *columns("""
    allocated_bytes        count   bytes     used bytes of the pools when recording ended
    touched_bytes          count   bytes     distinct 4KB pages that the recording touched, in bytes
    accesses               count   accesses  recorded accesses
    layouts                count   layouts   simulated layouts
    slope                  number  1         slope of the line through all layouts (R over C)
    slope_two_point        number  1         slope of the line through the 4KB and 2MB layouts
    best_degree            count   1         degree of the polynomial in C with the smallest largest error
    max_error_degree_1     number  1         largest error of the line, as a fraction of R
    max_error_degree_2     number  1         the same of the quadratic
    max_error_degree_3     number  1         the same of the cubic
    shortfall_percent      number  percent   excess of the 4KB run over R = C + R2M - C2M, of the latter
    gain_2mb_percent       number  percent   runtime that 2MB pages save, of the 4KB run
    gain_1gb_percent       number  percent   runtime that 1GB pages save, of the 4KB run
    """), *PROVENANCE), needs="slope",
)  # fmt: skip
TABLES = (SAMPLING, INTERVALS, SHAPES, VARIANTS, SWEEP, XML_GRID)
