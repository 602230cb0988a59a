"""The study of translation designs (docs/studies.md): cells, structures, mappings; probes of structures."""

from __future__ import annotations

from tessera.results.schema.table import MESSAGE, PAIR, PROVENANCE, Table, columns

_WRITER = "tessera study designs"
_KEYS = columns("""
design   text  -  name of the design (`mmu.design`)
mapping  text  -  kind of the mapping
""")
DESIGN_CELLS = Table(
    "design_cells", lambda t, w="*", p="*": t.designs(w, p, "cells"), _WRITER, "column",
    "every design under every mapping, the whole window simulated",
    (*PAIR, *_KEYS, *columns("""
    status                       text    -             ok, failed, or refused (by the simulator)
    """), *MESSAGE, *columns("""
    runtime_cycles               count   cycles        R
    stlb_hits                    count   translations  H: hits of any structure behind the first look-up
    stlb_misses                  count   translations  M: accesses whose translation read tables in memory
    walk_cycles                  count   cycles        C: cycles of these reads
    instructions                 count   instructions  instructions of the window
    accesses                     count   accesses      loads and stores of the window
    misses_to_baseline_percent   number  percent       change of M to the design baseline, same mapping
    runtime_to_baseline_percent  number  percent       change of R to the design baseline, same mapping
    misses_to_thp_percent        number  percent       change of M to the design thp, same mapping
    runtime_to_thp_percent       number  percent       change of R to the design thp, same mapping
    energy_nj                    number  nJ            assumed: energy of arrays behind L1; empty if unknown
    """), *PROVENANCE),
)  # fmt: skip
DESIGN_STRUCTURES = Table(
    "design_structures", lambda t, w="*", p="*": t.designs(w, p, "structures"), _WRITER, "column",
    "counts of the structures of each design; `second-level` (baseline, thp) has H + M accesses",
    (*PAIR, *_KEYS, *columns("""
    structure          text    -         name of the structure; background: loads that no access waits for
    accesses           count   accesses  look-ups, or background loads
    hits               count   accesses  those that hit, or background loads that a cache served
    lookup_cycles      count   cycles    what the look-ups added to accesses
    background_cycles  count   cycles    B: latency of background loads
    read_energy_nj     number  nJ        assumed: energy of the reads; empty if it is unknown
    """), *PROVENANCE),
)  # fmt: skip
DESIGN_MAPPINGS = Table(
    "design_mappings", lambda t, w="*", p="*": t.designs(w, p, "mappings"), _WRITER, "column",
    "mappings of the study, with the anchor distance by both readings of Algorithm 1",
    (*PAIR, *columns("""
    mapping           text    -         kind of the mapping
    seed              count   1         seed of lengths and addresses
    accesses          count   accesses  loads and stores of the window
    touched_pages     count   pages     4KB pages of the pools that the window touches
    status            text    -         ok or failed
    """), *MESSAGE, *columns("""
    mapped_pages      count   pages     4KB pages with a frame
    chunks            count   chunks    chunks: maximal runs with constant frame minus page
    pages_per_chunk   number  pages     average chunk
    share_2mb         number  1         share of the mapped memory in 2MB pages
    distance_count    count   pages     anchor distance, if Algorithm 1 counts TLB entries
    cost_count        number  1         its cost
    distance_printed  count   pages     anchor distance, if it weighs entries as the listing prints
    cost_printed      number  1         its cost
    """), *PROVENANCE),
)  # fmt: skip
PROBES = Table(
    "probes", lambda t: t.probes, "tessera study probes", "column",
    "single structures of Park's designs under accesses from a formula",
    columns("""
    probe       text    -         index-cache (Figure 2.7b) or synonym-filter (Tables 2.1 and 2.2)
    case        text    -         segments and fill of the nodes, or a workload of Table 2.1
    platform    text    -         platform, with the keys of the probe
    accesses    count   accesses  accesses of the stream
    quantity    text    -         what the value is
    value       number  percent   hits, or share of the accesses
    status      text    -         ok or failed
    """) + MESSAGE + PROVENANCE,
)  # fmt: skip
TABLES = (DESIGN_CELLS, DESIGN_STRUCTURES, DESIGN_MAPPINGS, PROBES)
