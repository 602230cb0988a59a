"""Tables of page faults, and of programs under scenarios of a system (docs/explain/os.md).

See docs/explain/faults.md.
"""

from __future__ import annotations

from tessera.core.results.schema import MESSAGE, PAIR, PROVENANCE, Table, columns

# What page faults cost on this machine (docs/explain/faults.md).

_MEASURE = "tessera lab faults measure"
FAULT_LATENCY = Table(
    "fault_latency", lambda t: t.host_faults("latency"), _MEASURE, "column",
    "quantiles of the latency of first touches, over the passes that count",
    columns("""
    kind         text    -           what a touch does (docs/explain/faults.md)
    share        number  1           share of touches that are at most as slow
    tsc_cycles   number  TSC cycles  median over passes
    low_cycles   number  TSC cycles  minimum over passes
    high_cycles  number  TSC cycles  maximum over passes
    ns           number  ns          the median as time
    passes       count   passes      passes that count
    """) + PROVENANCE,
)  # fmt: skip
FAULT_COMB = Table(
    "fault_comb", lambda t: t.host_faults("comb"), _MEASURE, "column",
    "touches at regular distances that take longer than those around them",
    columns("""
    kind          text    -           what a touch does
    reason        text    -           what the kernel does at such a touch
    period        count   touches     distance
    asked         count   1           multiples of the period, or distances of neighbouring teeth
    hits          count   1           those that are teeth, or are the period
    chance        number  1           share of hits that random places would have
    extra_cycles  number  TSC cycles  median of what a hit takes more than the touches around it
    """) + PROVENANCE,
)  # fmt: skip
FAULT_PASSES = Table(
    "fault_passes", lambda t: t.host_faults("passes"), _MEASURE, "column",
    "every pass; cosines as Virtuoso computes them",
    columns("""
    kind              text    -           what a touch does
    pass              count   1           number of the pass, from 0
    refused           text    -           why it does not count; empty if it counts
    touches           count   touches     touches
    outside           count   touches     touches over 1 ms, which are dropped
    minor_faults      count   faults      faults of the process that the kernel counted
    huge_bytes        count   bytes       memory with 2MB pages at the end
    median_cycles     number  TSC cycles  median without dropped touches
    cosine_constant   number  1           cosine with a constant series
    cosine_repeat     number  1           cosine with the pass that counts next
    clipped_constant  number  1           cosine with a constant, values clipped at the 99.9% quantile
    clipped_repeat    number  1           cosine with that pass, both clipped
    """) + PROVENANCE,
)  # fmt: skip
FAULT_ENVIRONMENT = Table(
    "fault_environment", lambda t: t.host_faults("environment"), _MEASURE, "column",
    "one row: what the latencies depend on",
    columns("""
    kernel        text    -           release
    processor     text    -           model name
    virtual       truth   -           whether a hypervisor is below
    thp           text    -           chosen word of transparent_hugepage/enabled
    governor      text    -           governor of the processor's frequency; empty if the kernel has none
    free_bytes    count   bytes       available memory before
    tsc_hertz     number  1/s         rate of the time-stamp counter
    clock_cycles  count   TSC cycles  least difference of two readings; a part of each latency
    pass_bytes    count   bytes       memory of a pass
    """) + PROVENANCE,
)  # fmt: skip
MACHINE_FAULT_TABLES = (FAULT_LATENCY, FAULT_COMB, FAULT_PASSES, FAULT_ENVIRONMENT)


# What page faults cost a program, as figures of Virtuoso (ASPLOS 2025) show it (docs/explain/faults.md).

_FAULTS_WRITER = "tessera lab run virtuoso"
_SCENARIO = columns("scenario  text  -  name of the scenario (config/scenarios)")

FAULT_SHARES = Table(
    "fault_shares", lambda t, w="*": t.virtuoso(w, "shares"), _FAULTS_WRITER, "column",
    "a program with the kernel work of its page faults: parts of its runtime under each scenario",
    (*PAIR, *_SCENARIO, *columns("status  text  -  ok or failed"), *MESSAGE, *columns("""
    runtime_cycles         number  cycles        R, with the kernel's work in faults
    runtime_cycles_ci95    number  cycles        half-width of its 95% interval
    faultless_cycles       number  cycles        R under the same scenario if faults take no time
    instructions           count   instructions  of the program
    accesses               count   accesses      of the program
    faults                 count   faults        page faults
    faults_2mb             count   faults        those that gave a 2MB page
    stlb_misses            count   translations  M of the program
    walk_cycles            number  cycles        C of the program
    kernel_instructions    count   instructions  of the kernel in faults
    kernel_cycles          number  cycles        part of R in faults
    kernel_walk_cycles     number  cycles        walk cycles of the kernel's own accesses
    fault_share            number  1             kernel_cycles over R
    translation_share      number  1             C over R; walks overlap with other work, so a bound
    cycles_per_walk        number  cycles        C over M
    """), *PROVENANCE),
)  # fmt: skip
FAULT_TIMES = Table(
    "fault_times", lambda t, w="*": t.virtuoso(w, "latency"), _FAULTS_WRITER, "column",
    "quantiles of the latencies of its simulated faults",
    (*PAIR, *_SCENARIO, *columns("""
    kind        text    -       template of the fault (docs/reference/page-faults.md), or all
    share       number  1       share of faults that are at most as slow
    cycles      number  cycles  latency of the fault, in cycles of the simulated core
    us          number  us      the same as time; empty if the platform states no frequency
    time_above  number  1       share of the time of these faults in slower ones
    faults      count   faults  timed faults of the kind
    """), *PROVENANCE),
)  # fmt: skip
FAULT_TIME_COMBS = Table(
    "fault_time_combs", lambda t, w="*": t.virtuoso(w, "combs"), _FAULTS_WRITER, "column",
    "simulated faults at regular distances that take longer than those around them",
    (*PAIR, *_SCENARIO, *columns("""
    kind          text    -       template of the faults
    reason        text    -       what the kernel does at such a fault
    period        count   faults  distance
    runs          count   1       runs of faults on consecutive pages
    faults        count   faults  faults of these runs
    asked         count   1       multiples of the period, or distances of neighbouring teeth
    hits          count   1       those that are teeth, or are the period
    chance        number  1       share of hits that random places would have
    extra_cycles  number  cycles  median of what a hit takes more than the faults around it
    """), *PROVENANCE),
)  # fmt: skip
SIMULATOR_COSTS = Table(
    "simulator_costs", lambda t, w="*": t.virtuoso(w, "simulator"),
    "tessera lab run virtuoso-costs", "column",
    "processor time and memory of the simulator with and without the work of its faults",
    (*PAIR, *_SCENARIO, *columns("""
    repeats                     count   1             runs with and without this work
    instructions                count   instructions  of the program
    accesses                    count   accesses      of the program
    kernel_instructions         count   instructions  of the kernel in faults
    kernel_accesses             count   accesses      of the kernel in faults
    plain_seconds               number  s             processor time without the kernel's work: median
    plain_seconds_low           number  s             minimum
    plain_seconds_high          number  s             maximum
    woven_seconds               number  s             with it: median
    woven_seconds_low           number  s             minimum
    woven_seconds_high          number  s             maximum
    plain_memory_bytes          count   bytes         largest resident memory without it: median
    woven_memory_bytes          count   bytes         with it: median
    slowdown                    number  1             time with over time without, of one repeat: median
    memory_ratio                number  1             woven_memory_bytes over plain_memory_bytes
    instruction_ratio           number  1             all simulated instructions over those of the program
    access_ratio                number  1             all simulated accesses over those of the program
    time_per_instruction_ratio  number  1             slowdown over instruction_ratio
    time_per_access_ratio       number  1             slowdown over access_ratio
    """), *PROVENANCE),
)  # fmt: skip
#: What the study `virtuoso` writes.
OF_PROGRAM = (FAULT_SHARES, FAULT_TIMES, FAULT_TIME_COMBS)
PROGRAM_FAULT_TABLES = (*OF_PROGRAM, SIMULATOR_COSTS)


# The study of scenarios (docs/explain/os.md): one program under several states of a machine's memory.

_SCENARIO_WRITER = "tessera lab run scenarios"
_SCENARIO_KEYS = columns("""
workload  text  -  workload, recorded from its first instruction
scenario  text  -  name of the scenario (config/scenarios)
""")


def _scenario_table(name: str, about: str, text: str) -> Table:
    return Table(
        f"scenario_{name}", lambda t, w="*": t.scenarios(w, name), _SCENARIO_WRITER, "column", about,
        (*_SCENARIO_KEYS, *columns(text), *PROVENANCE),
    )  # fmt: skip


SCENARIO_CELLS = Table(
    "scenario_cells", lambda t, w="*": t.scenarios(w, "cells"), _SCENARIO_WRITER, "column",
    "what each scenario decides, with H, M, C and R behind it, beside layouts of the same recording",
    columns("""
    workload            text    -             workload, recorded from its first instruction
    platform            text    -             simulated platform
    pages               text    -             who gives pages their sizes: scenario or layout
    name                text    -             name of the scenario, or canonical name of the layout
    status              text    -             ok or failed
    """) + MESSAGE + columns("""
    runtime_cycles      number  cycles        R; a fault takes no time in it
    runtime_cycles_ci95 number  cycles        half-width of its 95% interval
    stlb_hits           count   translations  H
    stlb_misses         count   translations  M
    walk_cycles         number  cycles        C
    walk_cycles_ci95    number  cycles        half-width of its 95% interval
    instructions        count   instructions  instructions of the recording
    accesses            count   accesses      loads and stores of the recording
    faults              count   faults        page faults; empty for layouts, which have none
    major_faults        count   faults        those that read a disk or swap
    swapped_out_pages   count   pages         pages of 4KB that went to swap
    most_mapped_bytes   count   bytes         largest memory in pages of 4KB and 2MB at one time
    most_2mb_bytes      count   bytes         largest memory in pages of 2MB at one time
    areas               count   areas         areas (VMAs) at the end
    """) + PROVENANCE,
)  # fmt: skip
SCENARIO_SIZES = _scenario_table("sizes", "pages by size at up to 201 places of the recording", """
    block            count  blocks  executed blocks before this place
    pages_4kb        count  pages   pages of 4KB with a frame of their own
    zero_pages_4kb   count  pages   pages of 4KB that share the page of zeros
    pages_2mb        count  pages   pages of 2MB
    areas            count  areas   areas (VMAs)
    faults           count  faults  page faults so far
    """)  # fmt: skip
SCENARIO_FAULTS = _scenario_table("faults", "page faults by kind", """
    kind       text   -       kind of the fault (docs/reference/scenarios.md)
    page_size  text   -       4KB, 2MB or 1GB
    faults     count  faults  faults of this kind
    """)  # fmt: skip
SCENARIO_CHUNKS = _scenario_table(
    "chunks", "chunks (pages with consecutive frames), at the moment when most memory is mapped", """
    least_pages  count  pages   smallest number of 4KB pages of the chunks in this row, a power of two
    chunks       count  chunks  chunks of at least so many pages, and of less than twice as many
    pages        count  pages   pages of 4KB in these chunks
    """,
)  # fmt: skip
SCENARIO_AREAS = _scenario_table("areas", "areas (VMAs) at the end", """
    pool        text   -      pool of libmosalloc, or outside
    page        count  pages  first page, from the begin of the pool
    pages       count  pages  pages of 4KB
    rights      text   -      read, write, execute
    huge_pages  text   -      advice for huge pages
    """)  # fmt: skip
SCENARIO_COUNTERS = _scenario_table(
    "counters", "counters of the kernel, from the begin of the program on", """
    counter  text   -  name, as in /proc/vmstat
    value    count  1  its value
    """,
)  # fmt: skip
#: The tables that `tessera lab os show` gives, by its name for them.
OF_LOG: dict[str, Table] = {
    "sizes": SCENARIO_SIZES, "kinds": SCENARIO_FAULTS, "chunks": SCENARIO_CHUNKS, "areas": SCENARIO_AREAS,
    "counters": SCENARIO_COUNTERS,
}  # fmt: skip
SCENARIO_TABLES = (SCENARIO_CELLS, *OF_LOG.values())
