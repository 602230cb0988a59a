"""What people read: claims, the table of workloads, the papers' numbers beside archived and obtained ones."""

from __future__ import annotations

from tessera.results.schema.table import MESSAGE, PAIR, Table, columns

CLAIMS = Table(
    "claims", lambda t: t.claims, "tessera report render", "column", "one row per claim (docs/claims.md)",
    columns("""
    id              text   -  identifier in config/claims.yaml
    paper           text   -  paper that makes it
    section         text   -  where
    statement       text   -  the sentence
    kind            text   -  arithmetic, invariant or finding
    published       text   -  number or numbers that the paper prints
    obtained        text   -  ours
    unit            text   -  of both
    tolerance       text   -  how close is close enough
    verdict         text   -  one of those of docs/contracts.md, "Claims"
    reason          text   -  why it could not be judged, and the command that would
    protocol        text   -  how ours was obtained
    scope           text   -  workloads and platforms that it is about
    provenance      text   -  of the obtained number
    hardware_class  text   -  hardware that decides it
    required        truth  -  whether a run must reproduce it
    figure          text   -  figure that shows it
    explanation     text   -  why it deviates or fails, in a person's words
    """),
)  # fmt: skip
WORKLOADS = Table(
    "workloads", lambda t: t.workloads, "tessera report render", "measured; improvement_1gb is simulated",
    "what each workload is, how large, and what it cost",
    (*PAIR, *columns("""
    published_row  text  -  rows of the papers' tables that it is
    stand_in_for   text  -  program that it takes the place of
    kind           text  -  kind of workload
    threads        text  -  how its threads differ from the paper's
    size           text  -  label of the size that ran
    status         text  -  how the recording went: ok, failed or skipped
    """), *MESSAGE, *columns("""
    footprint_bytes                 count   bytes         footprint of that size
    paper_footprint_bytes           count   bytes         footprint of the paper's
    accesses                        count   accesses      loads and stores of the trace
    stores                          count   accesses      its stores
    instructions                    count   instructions  its instructions
    distinct_4kb_pages              count   pages         4KB pages that it touches
    file_bytes                      count   bytes         size of the trace
    complete_roi                    truth   -             whether it reaches the end of the region of interest
    recording_seconds               number  s             time to record
    recording_bytes_per_access      number  bytes         size of an access in the trace
    recording_accesses_per_second   number  1/s           speed of the recording
    recording_native_roi_seconds    number  s             region of interest without recording
    recording_recorded_roi_seconds  number  s             with recording
    recording_slowdown              number  1             ratio of the two
    recording_peak_memory_bytes     count   bytes         memory of the recording
    footprint_per_4kb_reach         number  1             footprint over the reach of the STLB in 4KB pages
    footprint_per_2mb_reach         number  1             in 2MB pages
    leaf_entries_per_l3             number  1             bytes of leaf entries over the size of L3
    paper_footprint_per_4kb_reach   number  1             the same of the paper's size
    paper_footprint_per_2mb_reach   number  1             in 2MB pages
    paper_leaf_entries_per_l3       number  1             leaf entries
    improvement_1gb                 number  1             share of the runtime that 1GB pages save
    sensitive                       text    -             yes, no or empty (MICRO'20 VI-A)
    analysed                        text    -             yes or no
    dropped_because                 text    -             why it is not analysed
    layouts_seconds                 number  s             time to choose its layouts
    simulation_seconds              number  s             time to simulate them
    """)),
    float_format="%.6g",
)  # fmt: skip

_PLACE = columns("""
paper     text  -  paper
location  text  -  figure or table
section   text  -  section
""")
_ARCHIVED = (*_PLACE, *columns("""
file           text    -      file of the archive
line           count   1      line in it, from 1
workload       text    -      workload
configuration  text    -      configuration
page_size      text    -      page size
region_bytes   count   bytes  size of the region, where there is one
quantity       text    -      what was measured
value          number  1      the number, in `unit`
unit           text    -      its unit
provenance     text    -      published
note           text    -      what to know of it
"""))  # fmt: skip
_COMPARE = "tessera reference compare"


def _reference(name: str, provenance: str, about: str, own: tuple) -> Table:
    return Table(f"reference/{name}", lambda t: t.reference(name), _COMPARE, provenance, about, own)


REFERENCE = {
    "comparison": _reference("comparison", "published; measured: `obtained_provenance`",
        "what papers print, archived, and obtained (docs/reference.md)", (*_PLACE, *columns("""
        quantity                   text    -  what is printed
        bound                      text    -  equal, or at most
        printed                    number  1  printed number, in `unit`
        unit                       text    -  its unit
        archived                   number  1  the same from the archive, without what is set aside
        archived_with_quarantined  number  1  with it, where that differs
        agrees                     truth   -  whether it rounds to the printed one
        archived_status            text    -  what of the archive went into it
        obtained                   number  1  ours
        obtained_unit              text    -  its unit
        obtained_provenance        text    -  measured, simulated or empty
        note                       text    -  what to know of it
        """))),
    "archived": _reference("archived", "published", "archived numbers that are used", _ARCHIVED),
    "quarantine": _reference("quarantine", "published", "numbers set aside", (*_ARCHIVED, *columns("""
        rule    text  -  name of the rule that sets it aside
        reason  text  -  what is wrong with it
        """))),
    "rules": _reference("rules", "none", "rules that set numbers aside", columns("""
        rule       text   -  name
        looks_for  text   -  what it looks for
        findings   count  1  how often it found that
        numbers    count  1  numbers that it set aside
        record     text   -  record of the archive
        """)),
    "status": _reference("status", "none", "which records were here", columns("""
        record  text  -  record of the archive
        doi     text  -  its DOI
        state   text  -  read, or not here
        note    text  -  what that means
        """)),
}  # fmt: skip
TABLES = (CLAIMS, WORKLOADS, *REFERENCE.values())
