"""Measurements on this machine and its clock (real runs, allocator, chases), beside the simulated core."""

from __future__ import annotations

from tessera.core.results.schema import PROVENANCE, Table, columns

# Measurements on this machine (real runs, allocator, chases), and their comparison with the simulator.

COMPARISON = Table(
    "host_comparison", lambda t: t.host_comparison, "tessera dev step host", "measured and simulated",
    "differences of real runs to the all-4KB layout, compared with simulated differences",
    columns("""
    layout           text    -      canonical name
    measured_delta   number  1      mean ratio of clock times of the same round, minus one
    measured_ci95    number  1      half-width of its 95% interval
    simulated_delta  number  1      ratio of simulated runtimes, minus one
    pairs            count   pairs  rounds in which both layouts ran
    """), needs="measured_delta",
)  # fmt: skip
RUNS = Table(
    "host_runs", lambda t: t.host_runs, "tessera dev step host", "measured",
    "every real run, appended when it ends",
    columns("""
    key         text   -   hash of program, input and layout
    workload    text   -   workload
    layout      text   -   canonical name
    round       count  1   number of the round, from 0
    status      text   -   ok or failed
    message     text   -   why it failed
    runtime_ns  count  ns  clock time of the region of interest
    """),
)  # fmt: skip
ALLOCATOR = Table(
    "host_allocator", lambda t: t.host_allocator, "tessera lab allocator overhead", "column",
    "every run of a program with the allocator and with glibc",
    columns("""
    workload      text   -      program and size
    allocator     text   -      glibc or mosalloc
    pair          count  1      number of the pair of runs, from 0
    memory_bytes  count  bytes  peak memory
    cpu_ns        count  ns     processor time
    """) + PROVENANCE,
)  # fmt: skip

_CHASE = "tessera lab run chase"
_EXPLAIN = "tessera lab run explain-chase"
CHASE = Table(
    "chase", lambda t: t.validation("chase"), _CHASE, "column",
    "every measured chase; rows with 0 elements give the clock: `accesses` cycles took `ns`",
    columns("""
    series    text   -         name of the series (docs/explain/validation.md)
    elements  count  elements  footprint, in elements of the series
    chains    count  1         number of chains that are followed at the same time
    round     count  1         number of the round, from 0
    accesses  count  accesses  timed accesses
    ns        count  ns        clock time of all of them
    """) + PROVENANCE,
)  # fmt: skip
CHASE_SERIES = Table(
    "chase_series", lambda t: t.validation("chase_series"), _CHASE, "measured",
    "outcome of each series, and its page frames",
    columns("""
    series                    text    -  name of the series
    title                     text    -  title of the series
    status                    text    -  ok, failed or skipped
    message                   text    -  why the series has no numbers
    frames_known              truth   -  whether the kernel shows frame numbers
    contiguous_frames         number  1  share of pages whose frame follows the frame of the previous page
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
    what          text    -        structure whose capacity ends here
    key           text    -        platform key of that structure
    entries       number  entries  footprint at the jump
    low           number  entries  lower end of the interval of entries
    high          number  entries  upper end of that interval
    below_cycles  number  cycles   cycles per access before the jump
    above_cycles  number  cycles   cycles per access after it
    added_cycles  number  cycles   difference of the two
    added_low     number  cycles   lower end of the interval of the difference
    added_high    number  cycles   upper end of that interval
    file_entries  count   entries  entries in the platform file
    file_source   text    -        source of that value in the file
    """),
)  # fmt: skip
FINDINGS = Table(
    "findings", lambda t: t.validation("findings"), _EXPLAIN, "measured",
    "conclusions from the chases about this machine",
    columns("""
    finding  text    -  the question
    answer   text    -  yes, no or unknown
    value    number  1  the number behind the answer
    because  text    -  reason
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
    chains      count   1         number of chains that are followed at the same time
    cycles      number  cycles    median over rounds
    low_cycles  number  cycles    minimum over rounds
    """),
)  # fmt: skip
CALIBRATION = Table(
    "calibration", lambda t: t.validation("calibration"), _EXPLAIN, "measured",
    "keys that calibration changed in this machine's platform, and the error before and after",
    columns("""
    key     text  -  platform key
    before  text  -  value in the detected file
    after   text  -  value in the calibrated file
    source  text  -  source of the new value
    """),
)  # fmt: skip

_MOSAICS = "tessera lab run mosaics"
MOSAICS = Table(
    "mosaics", lambda t: t.validation("mosaics"), _MOSAICS, "measured and simulated",
    "simulated differences between mosaics, compared with measured ones",
    columns("""
    platform            text    -       simulated platform
    layout              text    -       canonical name
    measured_delta      number  1       measured runtime over that of all-4KB, minus one
    measured_ci95       number  1       half-width of its 95% interval
    pairs               count   pairs   rounds in which both layouts ran
    simulated_delta     number  1       simulated runtime over that of all-4KB, minus one
    yaniv_delta         number  1       the same by the line through the measured 4KB and 2MB points
    error_of_gain       number  1       absolute difference of both deltas over the measured gain of 2MB pages
    walk_cycles         number  cycles  simulated C
    runtime_provenance  text    -       provenance of the measured difference
    """), needs="measured_delta",
)  # fmt: skip
MOSAICS_SUMMARY = Table(
    "mosaics_summary", lambda t: t.validation("mosaics_summary"), _MOSAICS, "measured and simulated",
    "errors, skills and ranks of each platform",
    columns("""
    platform  text    -  simulated platform
    quantity  text    -  judged quantity
    value     number  1  value, in `unit`
    unit      text    -  unit, or the whole that the value is a share of
    aim       text    -  the aim that the value must meet
    verdict   text    -  MET, MISSED, NOT MEASURED or empty
    reason    text    -  explanation of the verdict, or why nothing was measured
    """),
)  # fmt: skip
ENGINES = Table(
    "engines", lambda t: t.validation("engines"), "tessera lab run engines", "simulated",
    "cells of each engine that differ from the reference engine on random cases",
    columns("""
    comparison        text   -      engine and options
    platform          text   -      platform or variant of one
    cells             count  cells  cells compared
    differing         count  cells  cells that differ
    first_difference  text   -      the first cell that differs
    message           text   -      why nothing was compared
    """),
)  # fmt: skip
CLOSED_FORMS = Table(
    "closed_forms", lambda t: t.validation("closed_forms"), "tessera lab run closed-forms", "simulated",
    "simulated counts compared with formulas",
    columns("""
    case       text    -  access pattern
    platform   text    -  platform
    quantity   text    -  column of the cells, or l1_misses (H + M)
    formula    text    -  the formula
    expected   number  1  value of the formula
    obtained   number  1  simulated value
    tolerance  number  1  largest difference allowed
    holds      truth   -  whether the difference is within the tolerance
    message    text    -  why there is no simulated value
    """),
)  # fmt: skip
INVARIANTS = Table(
    "invariants", lambda t: t.validation("invariants"), "tessera lab run invariants", "simulated",
    "rules that every simulated cell must satisfy",
    columns("""
    invariant     text   -      the rule
    because       text   -      why the rule must hold
    cells         count  cells  cells checked
    broken        count  cells  cells that break the rule
    first_broken  text   -      the first such cell
    """),
)  # fmt: skip
RECORDINGS = Table(
    "recordings", lambda t: t.validation("recordings"), "tessera lab run known-recordings", "none",
    "recordings beside the known ones of config/known-recordings.csv",
    columns("""
    workload  text   -         workload
    size      text   -         its size
    outcome   text   -         equal, differs (an error), other key, unknown (no known one), or not compared
    sha256    text   -         of the trace
    key       text   -         hash of program, libraries, image, inputs, limits; empty if not compared
    accesses  count  accesses  of the trace
    message   text   -         what differs, or why it was not compared
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

MACHINE_TABLES = (
    COMPARISON, RUNS, ALLOCATOR, ENGINES, CLOSED_FORMS, INVARIANTS, RECORDINGS, CHASE, CHASE_SERIES, STEPS,
    FINDINGS, LATENCY, CALIBRATION, MOSAICS, MOSAICS_SUMMARY, TIMELINE,
)  # fmt: skip


# Micro-benchmarks and programs on this machine's clock, beside the simulated core.

_CLOCK = "tessera lab run clock"
_MEASURED = """
    pages        text    -       4KB or 2MB: pages behind the data
    source       text    -       native, or a simulated platform
    cycles       number  cycles  one round of a mark, or the region of interest of a program
    low_cycles   number  cycles  lower end of the 95% interval; simulated: the same
    high_cycles  number  cycles  upper end of that interval
    runs         count   1       measurements behind it
    provenance   text    -       measured or simulated
    status       text    -       ok, failed or skipped
    message      text    -       why there is no number
    """
CLOCK_MEASURED = Table(
    "clock_measured", lambda t: t.validation("clock_measured"), "tessera lab run clock-measure", "measured",
    "micro-benchmarks and programs on this machine's clock",
    columns("""
    kind         text    -       mark or program
    name         text    -       of the micro-benchmark, or of the program and its size
    pages        text    -       4KB or 2MB: pages behind the data
    cycles       number  cycles  one round of a mark, or the region of interest of a program
    low_cycles   number  cycles  lower end of the 95% interval; empty: too few measurements
    high_cycles  number  cycles  upper end of that interval
    runs         count   1       measurements behind it
    status       text    -       ok, failed or skipped
    message      text    -       why there is no number
    """),
)  # fmt: skip
CLOCK_MARKS = Table(
    "clock_marks", lambda t: t.validation("clock_marks"), _CLOCK, "column",
    "micro-benchmarks on this machine and simulated",
    columns("""
    mark         text    -       name of the micro-benchmark
    family       text    -       what kind it is
    half         text    -       calibrate or judge
""" + _MEASURED.strip("\n")),
)  # fmt: skip
CLOCK_PROGRAMS = Table(
    "clock_programs", lambda t: t.validation("clock_programs"), _CLOCK, "column",
    "programs on this machine and simulated, in sizes of their own",
    columns("""
    program      text    -       name of the program and its size
""" + _MEASURED.strip("\n")),
)  # fmt: skip
CLOCK_KEYS = Table(
    "clock_keys", lambda t: t.validation("clock_keys"), _CLOCK, "measured",
    "keys of the core that the calibrating marks set",
    columns("""
    key       text  -  platform key
    before    text  -  value in the platform before
    after     text  -  value that was set
    marks     text  -  marks that it comes from
    measured  text  -  their measured times
    """),
)  # fmt: skip
CLOCK_TABLES = (CLOCK_MEASURED, CLOCK_MARKS, CLOCK_PROGRAMS, CLOCK_KEYS)
