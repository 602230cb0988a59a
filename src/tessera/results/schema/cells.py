"""Cells (R, H, M, C of a workload, platform and layout) and the layouts they belong to."""

from __future__ import annotations

from tessera.results.schema.table import Table, columns

_CELL = columns("""
workload                 text    -             workload
platform                 text    -             platform, simulated or this machine (host-sim)
layout                   text    -             canonical name of the layout
repeat                   count   1             number of the repetition, from 0
status                   text    -             ok, failed or skipped
message                  text    -             why there are no numbers; changes by --set; number of real runs
runtime_cycles           count   cycles        R: unhalted cycles of the region of interest
runtime_cycles_ci95      count   cycles        half-width of R's 95% interval
runtime_ns               number  ns            measured clock time of the region of interest
runtime_ns_ci95          number  ns            half-width of its 95% interval
stlb_hits                count   translations  H: hits of the second-level TLB, data side
stlb_misses              count   translations  M: page walks, data side
walk_cycles              count   cycles        C: cycles of those walks
walk_cycles_ci95         count   cycles        half-width of C's 95% interval
instructions             count   instructions  instructions of the region of interest
accesses                 count   accesses      loads and stores
timed_instructions       count   instructions  instructions that were timed; the others only warmed the state
program_l1d_loads        count   loads         the program's loads that reached L1d
program_l2_loads         count   loads         the program's loads that reached L2
program_l3_loads         count   loads         the program's loads that reached L3
program_dram_loads       count   loads         the program's loads that reached memory
walker_l1d_loads         count   loads         the page walker's loads that reached L1d
walker_l2_loads          count   loads         the page walker's loads that reached L2
walker_l3_loads          count   loads         the page walker's loads that reached L3
walker_dram_loads        count   loads         the page walker's loads that reached memory
runtime_provenance       text    -             provenance of R: measured, simulated, published or empty
tlb_provenance           text    -             provenance of H, M and C
engine                   text    -             partial, timing, host, launcher (bundles), or perf (logs)
instruction_stlb_hits    count   translations  hits of the second-level TLB by instruction fetches
instruction_stlb_misses  count   translations  page walks of instruction fetches
instruction_walk_cycles  count   cycles        cycles of those walks
""")
_ADDED = tuple(column.name for column in _CELL if column.name.startswith("instruction_"))


def _cells(name, place, writer, about) -> Table:
    return Table(name, place, writer, "column", about, _CELL, added=_ADDED)


CELLS = _cells("cells", lambda t: t.cells, "tessera pipeline concat", "all cells of the run")
CELLS_OF = _cells(
    "cells_of",
    lambda t, w="*", p="*": t.cells_of(w, p),
    "tessera pipeline cells",
    "simulated cells of a pair",
)
HOST_CELLS = _cells("host_cells", lambda t: t.host_cells, "tessera pipeline host", "hybrid cells: real runs")
HOST_SIMULATED = _cells(
    "host_simulated", lambda t: t.host_simulated, "tessera pipeline cells",
    "simulated cells for the layouts of the real runs",
)  # fmt: skip
CALIBRATED_CELLS = _cells(
    "host_calibrated", lambda t: t.validation("host_calibrated"), "tessera pipeline cells",
    "the same simulated cells on the calibrated platform",
)  # fmt: skip

_MANIFEST = columns("""
layout        text   -      canonical name; the layout file is in the same folder
heuristic     text   -      growing, random, sliding-20 to sliding-80, or 1gb
parameter     text   -      number of the layout within its heuristic
pages_2mb     count  pages  2MB pages in its windows
pages_1gb     count  pages  1GB pages in its windows
duplicate_of  text   -      an earlier layout with the same windows, or empty
""")
MANIFEST = Table(
    "manifest", lambda t, w="*", p="*": t.manifest(w, p), "tessera pipeline layouts", "none",
    "layouts of a pair", _MANIFEST,
)  # fmt: skip
HOST_MANIFEST = Table(
    "host_manifest", lambda t: t.host_manifest, "tessera pipeline select", "none",
    "layouts of the real runs", _MANIFEST,
)  # fmt: skip
_PROFILE = columns("""
    pool          text   -             pool of the region (docs/contracts.md, "Layout file")
    offset_bytes  count  bytes         start of the 2MB region in its pool
    stlb_misses   count  translations  misses in the region
""")
PROFILE = Table(
    "profile", lambda t, w="*", p="*": t.profile(w, p), "tessera pipeline layouts", "simulated",
    "misses under 4KB pages; sliding windows are chosen from them", _PROFILE,
)  # fmt: skip
ARCHIVED_PROFILE = Table(
    "archive/profile", lambda t, w="*", p="*": t.archived_profile(w, p), "tessera notebooks archive",
    "simulated", "the same, archived for use without a trace", _PROFILE,
)  # fmt: skip
ARCHIVED_DESIGNS = Table(
    "archive/designs", lambda t, w="*", p="*": t.archived_designs(w, p), "tessera notebooks archive",
    "column",
    "designs of notebook 03 with 4KB pages, simulated by engine `timing`",
    columns("""
    design            text   -             name of the design
    changes           text   -             changed platform keys: key=value
    stlb_hits         count  translations  H
    stlb_misses       count  translations  M
    walk_cycles       count  cycles        C
    walk_cycles_ci95  count  cycles        half-width of C's 95% interval
    tlb_provenance    text   -             simulated
    runtime_cycles    count  cycles        R; empty in archives that were made without time
    """),
    added=("runtime_cycles",),
)  # fmt: skip
TABLES = (
    CELLS,
    CELLS_OF,
    HOST_CELLS,
    HOST_SIMULATED,
    CALIBRATED_CELLS,
    MANIFEST,
    HOST_MANIFEST,
    PROFILE,
    ARCHIVED_PROFILE,
    ARCHIVED_DESIGNS,
)
