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
TABLES = (PLACEMENTS, PROGRAMS)
