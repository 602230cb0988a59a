"""What page faults cost a program, as figures of Virtuoso (ASPLOS 2025) show it (docs/faults.md)."""

from __future__ import annotations

from tessera.results.schema.table import MESSAGE, PAIR, PROVENANCE, Table, columns

_WRITER = "tessera virtuoso program"
_SCENARIO = columns("scenario  text  -  name of the scenario (config/scenarios)")

FAULT_SHARES = Table(
    "fault_shares", lambda t, w="*": t.virtuoso(w, "shares"), _WRITER, "column",
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
    "fault_times", lambda t, w="*": t.virtuoso(w, "latency"), _WRITER, "column",
    "quantiles of the latencies of its simulated faults",
    (*PAIR, *_SCENARIO, *columns("""
    kind        text    -       template of the fault (docs/faults.md), or all
    share       number  1       share of faults that are at most as slow
    cycles      number  cycles  latency of the fault, in cycles of the simulated core
    us          number  us      the same as time; empty if the platform states no frequency
    time_above  number  1       share of the time of these faults in slower ones
    faults      count   faults  timed faults of the kind
    """), *PROVENANCE),
)  # fmt: skip
FAULT_TIME_COMBS = Table(
    "fault_time_combs", lambda t, w="*": t.virtuoso(w, "combs"), _WRITER, "column",
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
    "simulator_costs", lambda t, w="*": t.virtuoso(w, "simulator"), "tessera virtuoso costs", "column",
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
#: What `tessera virtuoso program` writes.
OF_PROGRAM = (FAULT_SHARES, FAULT_TIMES, FAULT_TIME_COMBS)
TABLES = (*OF_PROGRAM, SIMULATOR_COSTS)
