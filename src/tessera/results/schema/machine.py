"""What was measured on this machine: real runs, the allocator, chases, and what they say of the simulator."""

from __future__ import annotations

from tessera.results.schema.table import PROVENANCE, Table, columns

COMPARISON = Table(
    "host_comparison", lambda t: t.host_comparison, "tessera pipeline host", "measured and simulated",
    "differences of real runs to the all-4KB layout, beside simulated ones",
    columns("""
    layout           text    -      canonical name
    measured_delta   number  1      mean ratio of clock times of the same round, minus one
    measured_ci95    number  1      half-width of its 95% interval
    simulated_delta  number  1      ratio of simulated runtimes, minus one
    pairs            count   pairs  rounds in which both layouts ran
    """), needs="measured_delta",
)  # fmt: skip
RUNS = Table(
    "host_runs", lambda t: t.host_runs, "tessera pipeline host", "measured",
    "every single real run, appended as it ends",
    columns("""
    key         text   -   hash of what was run: program, input, layout
    workload    text   -   workload
    layout      text   -   canonical name
    round       count  1   number of the round, from 0
    status      text   -   ok or failed
    message     text   -   why it failed
    runtime_ns  count  ns  clock time of the region of interest
    """),
)  # fmt: skip
ALLOCATOR = Table(
    "host_allocator", lambda t: t.host_allocator, "tessera mosalloc overhead", "column",
    "every run of a program with the allocator and with glibc",
    columns("""
    workload      text   -      program and size
    allocator     text   -      glibc or mosalloc
    pair          count  1      number of the pair of runs, from 0
    memory_bytes  count  bytes  peak of memory
    cpu_ns        count  ns     processor time
    """) + PROVENANCE,
)  # fmt: skip

_CHASE = "tessera validate chase"
_EXPLAIN = "tessera validate explain"
CHASE = Table(
    "chase", lambda t: t.validation("chase"), _CHASE, "column",
    "every measured chase; rows with 0 elements give the clock: `accesses` cycles took `ns`",
    columns("""
    series    text   -         name of the series (docs/validation.md)
    elements  count  elements  footprint, in elements of the series
    chains    count  1         chains that are followed at the same time
    round     count  1         number of the round, from 0
    accesses  count  accesses  accesses that were timed
    ns        count  ns        clock time of all of them
    """) + PROVENANCE,
)  # fmt: skip
CHASE_SERIES = Table(
    "chase_series", lambda t: t.validation("chase_series"), _CHASE, "measured",
    "how each series went, and which frames it had",
    columns("""
    series                    text    -  name of the series
    title                     text    -  what it is
    status                    text    -  ok, failed or skipped
    message                   text    -  why it has no numbers
    frames_known              truth   -  whether the kernel told frame numbers
    contiguous_frames         number  1  share of pages whose frame follows that of the page before
    aligned_runs_of_8_frames  count   1  runs of 8 frames that begin at a multiple of 8
    """),
)  # fmt: skip
STEPS = Table(
    "steps", lambda t: t.validation("steps"), _EXPLAIN, "measured and simulated: `source`",
    "jumps of the chases' cycles, with 95% intervals",
    columns("""
    source        text    -        measured, or a simulated platform
    series        text    -        name of the series
    step          count   1        number of the jump, from 1
    what          text    -        structure that it is the end of
    key           text    -        the platform's key for it
    entries       number  entries  footprint at the jump
    low           number  entries  low end of its interval
    high          number  entries  high end
    below_cycles  number  cycles   cycles per access before the jump
    above_cycles  number  cycles   cycles per access after it
    added_cycles  number  cycles   their difference
    added_low     number  cycles   low end of its interval
    added_high    number  cycles   high end
    file_entries  count   entries  what the platform file says
    file_source   text    -        where the file has it from
    """),
)  # fmt: skip
FINDINGS = Table(
    "findings", lambda t: t.validation("findings"), _EXPLAIN, "measured",
    "what the chases say of this machine",
    columns("""
    finding  text    -  what was asked
    answer   text    -  yes, no or unknown
    value    number  1  the number behind it
    because  text    -  why
    """),
)  # fmt: skip
LATENCY = Table(
    "chase_latency", lambda t: t.validation("chase_latency"), _EXPLAIN, "column",
    "cycles per access of every chase, measured and simulated",
    columns("""
    source      text    -         measured, or a simulated platform
    provenance  text    -         measured or simulated
    series      text    -         name of the series
    elements    count   elements  footprint
    chains      count   1         chains that are followed at the same time
    cycles      number  cycles    median over rounds
    low_cycles  number  cycles    least of the rounds
    """),
)  # fmt: skip
CALIBRATION = Table(
    "calibration", lambda t: t.validation("calibration"), _EXPLAIN, "measured",
    "what calibration changed in this machine's platform, and the error before and after",
    columns("""
    key     text  -  the platform's key
    before  text  -  value in the detected file
    after   text  -  value in the calibrated one
    source  text  -  where the new value is from
    """),
)  # fmt: skip

_MOSAICS = "tessera validate mosaics"
MOSAICS = Table(
    "mosaics", lambda t: t.validation("mosaics"), _MOSAICS, "measured and simulated",
    "simulated against measured differences between mosaics",
    columns("""
    platform            text    -       simulated platform
    layout              text    -       canonical name
    measured_delta      number  1       measured runtime over that of all-4KB, minus one
    measured_ci95       number  1       half-width of its 95% interval
    pairs               count   pairs   rounds in which both layouts ran
    simulated_delta     number  1       the same of simulated cycles
    yaniv_delta         number  1       the same of the line through the measured 4KB and 2MB points
    error_of_gain       number  1       |simulated - measured| over the measured gain of 2MB pages
    walk_cycles         number  cycles  simulated C
    runtime_provenance  text    -       of the measured difference
    """), needs="measured_delta",
)  # fmt: skip
MOSAICS_SUMMARY = Table(
    "mosaics_summary", lambda t: t.validation("mosaics_summary"), _MOSAICS, "measured and simulated",
    "errors, skills and ranks of each platform",
    columns("""
    platform  text    -  simulated platform
    quantity  text    -  what is judged
    value     number  1  its value, in `unit`
    unit      text    -  unit, or what the value is a share of
    aim       text    -  what is good enough
    verdict   text    -  MET, MISSED, NOT MEASURED or empty
    reason    text    -  why it is no surprise, or why nothing was measured
    """),
)  # fmt: skip
ENGINES = Table(
    "engines", lambda t: t.validation("engines"), "tessera validate engines", "simulated",
    "cells of each engine that differ from the reference engine's on random cases",
    columns("""
    comparison        text   -      engine and options
    platform          text   -      platform or variant of one
    cells             count  cells  cells compared
    differing         count  cells  cells that differ
    first_difference  text   -      the first of them
    message           text   -      why nothing was compared
    """),
)  # fmt: skip
CLOSED_FORMS = Table(
    "closed_forms", lambda t: t.validation("closed_forms"), "tessera validate closed-forms", "simulated",
    "simulated counts beside formulas",
    columns("""
    case       text    -  access pattern
    platform   text    -  platform
    quantity   text    -  column of the cells, or l1_misses (H + M)
    formula    text    -  the formula
    expected   number  1  its value
    obtained   number  1  the simulated one
    tolerance  number  1  largest difference allowed
    holds      truth   -  whether it is within
    message    text    -  why nothing was obtained
    """),
)  # fmt: skip
INVARIANTS = Table(
    "invariants", lambda t: t.validation("invariants"), "tessera validate invariants", "simulated",
    "what must hold for every simulated cell",
    columns("""
    invariant     text   -      the sentence
    because       text   -      why it must hold
    cells         count  cells  cells checked
    broken        count  cells  cells that break it
    first_broken  text   -      the first of them
    """),
)  # fmt: skip
TIMELINE = Table(
    "timeline", lambda t: t.timeline, "snakemake", "measured",
    "every job of the pipeline that ended, in that order; each start of the pipeline adds its jobs",
    columns("""
    run        text    -        start of the pipeline that ran the job, UTC
    job        text    -        rule
    subject    text    -        workload, platform, part or the like
    started_s  number  s        start of the job, from the start of the pipeline
    ended_s    number  s        end of the job
    threads    count   threads  cores that it reserved
    outcome    text    -        ok or failed
    """),
)  # fmt: skip

TABLES = (
    COMPARISON, RUNS, ALLOCATOR, ENGINES, CLOSED_FORMS, INVARIANTS, CHASE, CHASE_SERIES, STEPS, FINDINGS,
    LATENCY, CALIBRATION, MOSAICS, MOSAICS_SUMMARY, TIMELINE,
)  # fmt: skip
