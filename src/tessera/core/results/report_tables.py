"""Tables for readers: claims, workloads, and the papers' numbers compared with archived and obtained ones."""

from __future__ import annotations

from tessera.core.results.schema import MESSAGE, PAIR, Table, columns

CLAIMS = Table(
    "claims", lambda t: t.claims, "tessera report render", "column",
    "one row per claim (docs/explain/claims.md)",
    columns("""
    id              text   -  identifier in config/claims.yaml
    paper           text   -  paper that makes the claim
    section         text   -  section of the paper
    statement       text   -  the claim, in our words
    kind            text   -  arithmetic, invariant or finding
    published       text   -  printed number or numbers
    obtained        text   -  our number or numbers; by reading (ours=1 authors=2) if there are several
    distribution    text   -  values behind an obtained maximum or minimum, in `unit`
    protocol        text   -  folds, seed and selection of an obtained error of cross validation
    beside          text   -  other numbers with their protocol, in `unit`, that decide nothing
    unit            text   -  unit of both
    tolerance       text   -  allowed difference
    verdict         text   -  verdict; docs/contracts.md, "Claims", lists all
    reason          text   -  why the claim cannot be judged, and the command that would allow it
    evaluator       text   -  how our number was obtained
    scope           text   -  workloads and platforms of the claim
    provenance      text   -  provenance of the obtained number
    hardware_class  text   -  hardware class that can decide the claim
    implementation  text   -  whose kernel or allocator our number comes from
    required        truth  -  whether a run fails if the claim fails
    figure          text   -  figure that shows the claim
    explanation     text   -  why the claim does not hold, written by a person
    cause           text   -  what it names: ours (machine, program, window, model), paper, or open
    depends_on      text   -  assumption that the verdict depends on (docs/explain/studies.md), or empty
    """),
    added=("distribution", "protocol", "beside", "implementation", "cause", "depends_on"),
)  # fmt: skip
ELSEWHERE = Table(
    "claims_elsewhere", lambda t: t.claims_elsewhere, "tessera measure bundle judge", "measured",
    "findings on processors of other classes than the paper's", columns("""
    id        text  -  identifier in config/claims.yaml
    machine   text  -  platform that measured
    class     text  -  class of its processor
    obtained  text  -  the number or numbers, in the claim's unit
    holds     text  -  HOLDS-ELSEWHERE or FAILS-ELSEWHERE
    coverage  text  -  part of the claim's scope that was measured
    """),
)  # fmt: skip
#: how much of a program a recording has; older files lack it
_EXTENT = ("allocated_bytes", "recorded_share", "windows", "window_span_accesses", "published_share")
WORKLOADS = Table(
    "workloads", lambda t: t.workloads, "tessera report render", "measured; improvement_1gb is simulated",
    "description, size and cost of each workload",
    (*PAIR, *columns("""
    published_row  text  -  rows of the papers' tables
    stand_in_for   text  -  program that it replaces
    kind           text  -  kind of workload
    threads        text  -  how its threads differ from those in the paper
    size           text  -  label of the recorded size
    status         text  -  outcome of the recording: ok, failed or skipped
    """), *MESSAGE, *columns("""
    footprint_bytes                 count   bytes         footprint of the recorded size
    paper_footprint_bytes           count   bytes         footprint of the published row
    accesses                        count   accesses      loads and stores in the trace
    stores                          count   accesses      stores in the trace
    instructions                    count   instructions  instructions in the trace
    distinct_4kb_pages              count   pages         4KB pages that hold the first byte of an access
    allocated_bytes                 count   bytes         memory that the program allocated in the pools
    touched_bytes                   count   bytes         these 4KB pages, in bytes
    recorded_share                  number  1             part of the region's accesses; empty: unknown
    windows                         count   1             parts of the region that the trace has
    window_span_accesses            count   accesses      beginning of the region with all windows, or empty
    published_share                 number  1             footprint over the published one, or empty for 1
    trace_note                      text    -             which part of the program the trace has, or empty
    file_bytes                      count   bytes         size of the trace
    complete_roi                    truth   -             whether it reaches the end of the region of interest
    recording_seconds               number  s             time to record
    recording_bytes_per_access      number  bytes         mean size of an access in the trace file
    recording_accesses_per_second   number  1/s           speed of the recording
    recording_native_roi_seconds    number  s             time of the region of interest without recording
    recording_recorded_roi_seconds  number  s             time of the region of interest with recording
    recording_slowdown              number  1             ratio of the two times
    recording_peak_memory_bytes     count   bytes         peak memory of the recording
    touched_per_4kb_reach           number  1             touched bytes over the STLB's reach in 4KB pages
    touched_per_2mb_reach           number  1             touched bytes over the STLB's reach in 2MB pages
    leaf_entries_per_l3             number  1             leaf entries of touched pages over L3, in bytes
    paper_footprint_per_4kb_reach   number  1             the published footprint over the reach in 4KB pages
    paper_footprint_per_2mb_reach   number  1             the published footprint over the reach in 2MB pages
    paper_leaf_entries_per_l3       number  1             leaf_entries_per_l3 for the published footprint
    improvement_1gb                 number  1             share of the runtime that 1GB pages save
    sensitive                       text    -             yes, no or empty (MICRO'20 VI-A)
    analysed                        text    -             yes if models, claims and figures use the pair
    dropped_because                 text    -             why the pair is not analysed
    layouts_seconds                 number  s             time to generate the layouts
    simulation_seconds              number  s             time to simulate the layouts
    """)),
    added=(*_EXTENT, "trace_note", "touched_bytes", "touched_per_4kb_reach", "touched_per_2mb_reach"),
    float_format="%.6g",
)  # fmt: skip

REGIME = Table(
    "regime", lambda t: t.regime, "tessera report render", "column",
    "how much each pair asks of address translation, beside the same of printed numbers",
    (*PAIR, *columns("""
    source                text    -        this run, or paper and table
    allocated_bytes       count   bytes    memory that the program allocated in the pools
    touched_bytes         count   bytes    4KB pages that the recording touches, in bytes
    published_bytes       count   bytes    footprint of the published row
    touched_share         number  1        touched over published bytes
    published_share       number  1        footprint of the size over the published one, if smaller on purpose
    recorded_share        number  1        recorded part of the region's accesses; empty: unknown
    windows               count   1        parts of the region that the recording has
    window_span_accesses  count   accesses beginning of the region with all windows; empty: whole
    touched_per_reach     number  1        touched bytes over the STLB's reach in 4KB pages
    leaf_bytes_per_l2     number  1        bytes of leaf entries of touched pages over the size of L2
    leaf_bytes_per_l3     number  1        the same over the size of L3
    walk_cycles_per_miss  number  cycles   C over M with 4KB pages
    walk_share            number  1        C over R with 4KB pages
    hits_per_miss         number  1        H over M with 4KB pages
    walker_l1d_share      number  1        walker loads served by L1D, of all walker loads, with 4KB pages
    walker_l2_share       number  1        the same, L2
    walker_l3_share       number  1        the same, L3
    walker_dram_share     number  1        the same, memory
    saved_2mb             number  1        share of the runtime that 2MB pages save
    saved_1gb             number  1        share of the runtime that 1GB pages save
    as_published          text    -        yes: 90% of the published footprint is touched; empty: unknown
    provenance            text    -        simulated, measured or published
    """)),
    added=_EXTENT,
    float_format="%.6g",
)  # fmt: skip

_PLACE = columns("""
paper     text  -  paper
location  text  -  figure or table
section   text  -  section
""")
_ARCHIVED = (*_PLACE, *columns("""
file           text    -      file of the archive
line           count   1      line in the file, from 1
workload       text    -      workload
configuration  text    -      configuration
page_size      text    -      page size
region_bytes   count   bytes  size of the region, or empty
quantity       text    -      measured quantity
value          number  1      the number, in `unit`
unit           text    -      unit of the number
provenance     text    -      published
note           text    -      remark
"""))  # fmt: skip
_COMPARE = "tessera dev reference compare"


def _reference(name: str, provenance: str, about: str, own: tuple) -> Table:
    return Table(f"reference/{name}", lambda t: t.reference(name), _COMPARE, provenance, about, own)


REFERENCE = {
    "comparison": _reference("comparison", "published; measured: `obtained_provenance`",
        "printed, archived and obtained numbers side by side (docs/reference/archived-data.md)",
        (*_PLACE, *columns("""
        quantity                   text    -  printed quantity
        bound                      text    -  equal, or at most
        printed                    number  1  printed number, in `unit`
        unit                       text    -  unit of the printed number
        archived                   number  1  the same computed from the archive, without numbers set aside
        archived_with_quarantined  number  1  the same with them, if that differs
        agrees                     truth   -  whether the archived number rounds to the printed one
        archived_status            text    -  which part of the archive was used
        obtained                   number  1  our number
        obtained_unit              text    -  unit of our number
        obtained_provenance        text    -  measured, simulated or empty
        note                       text    -  remark
        """))),
    "archived": _reference("archived", "published", "archived numbers in use", _ARCHIVED),
    "quarantine": _reference("quarantine", "published", "numbers set aside", (*_ARCHIVED, *columns("""
        rule    text  -  name of the rule that sets the number aside
        reason  text  -  what is wrong with the number
        """))),
    "rules": _reference("rules", "none", "rules that set numbers aside", columns("""
        rule       text   -  name
        looks_for  text   -  the pattern that the rule looks for
        findings   count  1  times that the rule found it
        numbers    count  1  numbers that the rule set aside
        record     text   -  record of the archive
        """)),
    "status": _reference("status", "none", "which records of the archive were available", columns("""
        record  text  -  record of the archive
        doi     text  -  DOI of the record
        state   text  -  read, or not here
        note    text  -  consequence for the comparison
        """)),
}  # fmt: skip
REPORT_TABLES = (CLAIMS, ELSEWHERE, WORKLOADS, REGIME, *REFERENCE.values())
