"""What page faults cost on this machine (docs/faults.md)."""

from __future__ import annotations

from tessera.results.schema.table import PROVENANCE, Table, columns

_MEASURE = "tessera faults measure"
LATENCY = Table(
    "fault_latency", lambda t: t.host_faults("latency"), _MEASURE, "column",
    "quantiles of the latency of first touches, over the passes that count",
    columns("""
    kind         text    -           what a touch does (docs/faults.md)
    share        number  1           share of touches that are at most as slow
    tsc_cycles   number  TSC cycles  median over passes
    low_cycles   number  TSC cycles  minimum over passes
    high_cycles  number  TSC cycles  maximum over passes
    ns           number  ns          the median as time
    passes       count   passes      passes that count
    """) + PROVENANCE,
)  # fmt: skip
COMB = Table(
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
PASSES = Table(
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
ENVIRONMENT = Table(
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
TABLES = (LATENCY, COMB, PASSES, ENVIRONMENT)
