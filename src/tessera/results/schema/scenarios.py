"""The study of scenarios (docs/os.md): one program under several states of a machine's memory."""

from __future__ import annotations

from tessera.results.schema.table import MESSAGE, PROVENANCE, Table, columns

_WRITER = "tessera study scenarios"
_KEYS = columns("""
workload  text  -  workload, recorded from its first instruction
scenario  text  -  name of the scenario (config/scenarios)
""")


def _table(name: str, about: str, text: str) -> Table:
    return Table(
        f"scenario_{name}", lambda t, w="*": t.scenarios(w, name), _WRITER, "column", about,
        (*_KEYS, *columns(text), *PROVENANCE),
    )  # fmt: skip


SCENARIO_CELLS = Table(
    "scenario_cells", lambda t, w="*": t.scenarios(w, "cells"), _WRITER, "column",
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
SCENARIO_SIZES = _table("sizes", "pages by size at up to 201 places of the recording", """
    block            count  blocks  executed blocks before this place
    pages_4kb        count  pages   pages of 4KB with a frame of their own
    zero_pages_4kb   count  pages   pages of 4KB that share the page of zeros
    pages_2mb        count  pages   pages of 2MB
    areas            count  areas   areas (VMAs)
    faults           count  faults  page faults so far
    """)  # fmt: skip
SCENARIO_FAULTS = _table("faults", "page faults by kind", """
    kind       text   -       kind of the fault (docs/os.md)
    page_size  text   -       4KB, 2MB or 1GB
    faults     count  faults  faults of this kind
    """)  # fmt: skip
SCENARIO_CHUNKS = _table(
    "chunks", "chunks (pages with consecutive frames), at the moment when most memory is mapped", """
    least_pages  count  pages   smallest number of 4KB pages of the chunks in this row, a power of two
    chunks       count  chunks  chunks of at least so many pages, and of less than twice as many
    pages        count  pages   pages of 4KB in these chunks
    """,
)  # fmt: skip
SCENARIO_AREAS = _table("areas", "areas (VMAs) at the end", """
    pool        text   -      pool of libmosalloc, or outside
    page        count  pages  first page, from the begin of the pool
    pages       count  pages  pages of 4KB
    rights      text   -      read, write, execute
    huge_pages  text   -      advice for huge pages
    """)  # fmt: skip
SCENARIO_COUNTERS = _table("counters", "counters of the kernel, from the begin of the program on", """
    counter  text   -  name, as in /proc/vmstat
    value    count  1  its value
    """)  # fmt: skip
#: The tables that `tessera os show` gives, by its name for them.
OF_LOG: dict[str, Table] = {
    "sizes": SCENARIO_SIZES, "kinds": SCENARIO_FAULTS, "chunks": SCENARIO_CHUNKS, "areas": SCENARIO_AREAS,
    "counters": SCENARIO_COUNTERS,
}  # fmt: skip
TABLES = (SCENARIO_CELLS, *OF_LOG.values())
