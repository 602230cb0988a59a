"""Tables of studies of the simulator and of designs, and of energy (docs/explain/energy.md).

See docs/explain/studies.md.
"""

from __future__ import annotations

from tessera.core.results.cell_tables import CELLS
from tessera.core.results.schema import MESSAGE, PAIR, PROVENANCE, Table, columns

# Studies of the simulator (docs/explain/studies.md): sampling, ablations, a sweep over assumed values.

_STATUS = columns("status  text  -  ok or failed")
SAMPLING = Table(
    "sampling", lambda t, w="*": t.sampling(w, "errors"), "tessera lab run sampling", "column",
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
    "intervals", lambda t, w="*": t.sampling(w, "intervals"), "tessera lab run sampling", "column",
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
    place=lambda t, w="*", p="*": t.ablations(w, p, "cells"), writer="tessera lab run ablations",
    about="cells of every ablation",
)  # fmt: skip
SHAPES = Table(
    "shapes", lambda t, w="*", p="*": t.ablations(w, p, "shapes"), "tessera lab run ablations", "column",
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
    "sweep", lambda t, w="*", p="*": t.sweep(w, p), "tessera lab run sweep", "column",
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
STUDY_TABLES = (SAMPLING, INTERVALS, SHAPES, VARIANTS, SWEEP)


# The study of translation designs (docs/explain/studies.md): cells, structures, mappings; probes of
# structures.

_DESIGN_WRITER = "tessera lab run designs"
_DESIGN_KEYS = columns("""
design   text  -  name of the design (`mmu.design`)
mapping  text  -  kind of the mapping
""")
DESIGN_CELLS = Table(
    "design_cells", lambda t, w="*", p="*": t.designs(w, p, "cells"), _DESIGN_WRITER, "column",
    "every design under every mapping, the whole window simulated",
    (*PAIR, *_DESIGN_KEYS, *columns("""
    status                       text    -             ok, failed, or refused (by the simulator)
    """), *MESSAGE, *columns("""
    runtime_cycles               count   cycles        R
    stlb_hits                    count   translations  H: hits of any structure behind the first look-up
    stlb_misses                  count   translations  M: accesses whose translation read tables in memory
    walk_cycles                  count   cycles        C: cycles of these reads
    instructions                 count   instructions  instructions of the window
    accesses                     count   accesses      loads and stores of the window
    misses_to_baseline_percent   number  percent       change of M to the design baseline, same mapping
    runtime_to_baseline_percent  number  percent       change of R to the design baseline, same mapping
    misses_to_thp_percent        number  percent       change of M to the design thp, same mapping
    runtime_to_thp_percent       number  percent       change of R to the design thp, same mapping
    energy_nj                    number  nJ            assumed: energy of the arrays of data; empty if unknown
    """), *PROVENANCE),
)  # fmt: skip
DESIGN_STRUCTURES = Table(
    "design_structures", lambda t, w="*", p="*": t.designs(w, p, "structures"), _DESIGN_WRITER, "column",
    "counts of the structures of each design; `first-level` is the L1 DTLB (baseline, thp, anchor), "
    "`second-level` (baseline, thp) has H + M accesses",
    (*PAIR, *_DESIGN_KEYS, *columns("""
    structure          text    -         name of the structure; background: loads that no access waits for
    accesses           count   accesses  look-ups, or background loads
    hits               count   accesses  hits (first-level: empty), or background loads that a cache served
    lookup_cycles      count   cycles    what the look-ups added to accesses
    background_cycles  count   cycles    B: latency of background loads
    read_energy_nj     number  nJ        assumed: energy of the reads; empty if it is unknown
    """), *PROVENANCE),
)  # fmt: skip
DESIGN_MAPPINGS = Table(
    "design_mappings", lambda t, w="*", p="*": t.designs(w, p, "mappings"), _DESIGN_WRITER, "column",
    "mappings of the study, with the anchor distance by both readings of Algorithm 1",
    (*PAIR, *columns("""
    mapping           text    -         kind of the mapping
    seed              count   1         seed of lengths and addresses
    accesses          count   accesses  loads and stores of the window
    touched_pages     count   pages     4KB pages of the pools that the window touches
    status            text    -         ok or failed
    """), *MESSAGE, *columns("""
    mapped_pages      count   pages     4KB pages with a frame
    chunks            count   chunks    chunks: maximal runs with constant frame minus page
    pages_per_chunk   number  pages     average chunk
    share_2mb         number  1         share of the mapped memory in 2MB pages
    distance_count    count   pages     anchor distance, if Algorithm 1 counts TLB entries
    cost_count        number  1         its cost
    distance_printed  count   pages     anchor distance, if it weighs entries as the listing prints
    cost_printed      number  1         its cost
    """), *PROVENANCE),
)  # fmt: skip
PROBES = Table(
    "probes", lambda t: t.probes, "tessera lab run probes", "column",
    "single structures of Park's designs under accesses from a formula",
    columns("""
    probe       text    -         index-cache (Figure 2.7b) or synonym-filter (Tables 2.1 and 2.2)
    case        text    -         segments and fill of the nodes, or a workload of Table 2.1
    platform    text    -         platform, with the keys of the probe
    accesses    count   accesses  accesses of the stream
    quantity    text    -         what the value is
    value       number  percent   hits, or share of the accesses
    status      text    -         ok or failed
    """) + MESSAGE + PROVENANCE,
)  # fmt: skip
DESIGN_TABLES = (DESIGN_CELLS, DESIGN_STRUCTURES, DESIGN_MAPPINGS, PROBES)


# Energy of cells with assumed constants, and hit rates by size of L3 (docs/explain/energy.md).

ENERGY = Table(
    "energy", lambda t: t.energy("energy"), "tessera lab run energy", "column",
    "E8 of every cell with the assumed constants as given: no measured joules",
    (*PAIR, *columns("""
    layout        text    -       canonical name of the layout
    energy_j      number  joules  E8 with assumed constants
    static_share  number  1       share of L R/f in it
    """), *PROVENANCE),
)  # fmt: skip
SAVINGS = Table(
    "savings", lambda t: t.energy("savings"), "tessera lab run energy", "column",
    "runtime and energy that mosaics save of the 4KB run, under each set of constants; without 1gb",
    (*PAIR, *columns("""
    constants              text    -  set of constants: as given, one of them changed, or a limit
    layouts                count   layouts  mosaics of the pair
    static_share           number  1  share of L R/f in the energy of the 4KB run
    runtime_saved_2mb      number  1  share of R that 2MB pages save
    energy_saved_2mb       number  1  the same of the energy
    ratio_2mb              number  1  the second over the first; 1 is OPERA's statement
    fastest_layout         text    -  layout with the least R
    runtime_saved_fastest  number  1  share of R that it saves
    energy_saved_fastest   number  1  the same of the energy
    least_energy_layout    text    -  layout with the least energy
    energy_saved_least     number  1  share of the energy that it saves
    excess_of_fastest      number  1  energy of the fastest layout over the least, minus one
    fastest_needs_least    truth   -  whether this is at most 0.001
    reversed_share         number  1  share of pairs of layouts whose faster one needs more energy
    """), *PROVENANCE),
)  # fmt: skip
THREADS_SWEEP = Table(
    "threads_sweep", lambda t, w="*", p="*": t.threads_sweep(w, p), "tessera lab run threads-sweep", "column",
    "hit rate of one trace with L3 / n, as n threads that share L3 evenly and share no data would see it",
    (*PAIR, *columns("""
    threads            count   threads       n
    l3_bytes           count   bytes         L3 / n, rounded to whole sets
    status             text    -             ok or failed
    """), *MESSAGE, *columns("""
    accesses           count   accesses      memory instructions: loads and stores of the trace
    dram_loads         count   loads         the program's loads that reached memory, scaled by accesses
    hit_rate           number  1             P = 1 - dram_loads / accesses
    fitted_hit_rate    number  1             E2 with the two values behind
    locality_exponent  number  1             a of E2, fitted to all rows
    locality_bytes     number  bytes         w of E2, fitted to all rows
    """), *PROVENANCE),
)  # fmt: skip
ENERGY_TABLES = (ENERGY, SAVINGS, THREADS_SWEEP)
