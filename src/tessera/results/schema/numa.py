"""Runtime and walk cycles by the placement of page tables and data (docs/numa.md)."""

from __future__ import annotations

from tessera.results.schema.table import MESSAGE, PAIR, PROVENANCE, Table, columns

_PLACED = """
page_size            text    -       of all pages: 4KB or 2MB
configuration        text    -       of Table 2; +M: page tables moved to the program's socket
assumption           text    -       why the hog has so many lines; empty if nobody waits behind it
hog_lines            number  lines   outstanding lines of the hog; assumed
status               text    -       {status}
"""
_NUMBERS = """
stlb_misses          count   walks    M
walk_cycles          number  cycles   C
walk_cycles_ci95     number  cycles   half-width of its 95% interval
formula_walk_cycles  number  cycles   C(LP-LD) + n x (L - L(LP-LD)), n: walker loads from memory of LP-LD
runtime_cycles       number  cycles   R
runtime_cycles_ci95  number  cycles   half-width of its 95% interval
walker_dram_local    number  loads    walker loads from the memory of the program's socket
walker_dram_remote   number  loads    walker loads from that of another socket
program_dram_local   number  loads    loads and stores of the program from the memory of its socket
program_dram_remote  number  loads    the same from that of another socket
walk_ratio           number  1        C over C(LP-LD), with the same page size
runtime_ratio        number  1        R over R(LP-LD), with the same page size
runtime_ratio_ci95   number  1        half-width of its 95% interval, as if the two runs were independent
"""
PLACEMENTS = Table(
    "placements", lambda t: t.placements, "tessera numa placements", "column",
    "HPCC's updates of one table under the placements of Mitosis Table 2, on one socket",
    (*PAIR, *columns(_PLACED.format(status="ok or failed")), *MESSAGE,
     *columns("updates  count  updates  of the trace" + _NUMBERS), *PROVENANCE),
)  # fmt: skip
PROGRAMS = Table(
    "placed_programs", lambda t, w="*": t.placed_program(w), "tessera numa program", "column",
    "a recorded program under the placements of Mitosis Table 2, on one socket of the scaled machine",
    (*PAIR, *columns("""
    scale            number  1      L3, STLB and walk caches of the platform have 1/scale of their entries
    program          text    -      program of Mitosis Table 1; empty if the workload is none of them
    size             text    -      label of the recorded size
    footprint_bytes  count   bytes  footprint of the recorded size
    """), *columns(_PLACED.format(status="ok, failed or skipped")), *MESSAGE,
     *columns("accesses  count  accesses  of the trace" + _NUMBERS), *PROVENANCE),
)  # fmt: skip
MAPS = Table(
    "kernel/maps/maps", lambda t: t.kernel("maps", "maps.csv"), "tessera numa map study", "column",
    "maps of pages and page tables in the guest beside those of the placement rules",
    (*columns("""
    workload     text   -      workload in the guest
    size         text   -      label of its size
    rule         text   -      configuration of Table 2 or policy; T: huge pages are on; +M: tables that moved
    status       text   -      ok or failed
    """), *MESSAGE, *columns("""
    kind         text   -      data: pages, or table: page tables
    level        count  1      of the table, or of the table whose entries map the pages
    guest_units  count  pages  pages or tables in the guest's map
    rule_units   count  pages  the same in the rule's map
    same_node    count  pages  on the same node in both
    other_node   count  pages  on different nodes
    only_guest   count  pages  absent in the rule's map
    only_rule    count  pages  absent in the guest's map
    """), *PROVENANCE),
)  # fmt: skip
FRAGMENTED = Table(
    "kernel/fragmented/fragmented", lambda t: t.kernel("fragmented", "fragmented.csv"),
    "tessera numa fragmented", "column",
    "share of 2MB pages that a program gets in a guest with fragmented memory (Mitosis Figure 11)",
    (*columns("""
    workload          text    -      workload in the guest
    size              text    -      label of its size
    configuration     text    -      of Table 2, with huge pages on (T)
    blocks            text    -      free: page faults take free blocks; compacted: they also compact memory
    least_index       number  1      memory was fragmented until its index was above this; 0: not at all
    status            text    -      ok or failed
    """), *MESSAGE, *columns("""
    index             number  1      unusable index of order 9 of the data's node before the program
    free_bytes        count   bytes  free memory of that node then
    large_free_bytes  count   bytes  of it, in blocks of 2MB and more
    listed_bytes      count   bytes  free pages of the node in lists of processors, beside free_bytes
    data_bytes        count   bytes  pages of the program in its pools
    large_data_bytes  count   bytes  of them, in 2MB pages, by the page tables
    smaps_large_bytes count   bytes  2MB pages of the whole process, by the kernel's own count
    share             number  1      large_data_bytes over data_bytes
    index_after       number  1      unusable index at the end of the region of interest
    """), *PROVENANCE),
)  # fmt: skip
TABLES = (PLACEMENTS, PROGRAMS, MAPS, FRAGMENTED)
