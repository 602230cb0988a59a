"""Tables of the kernel's parts, and of placements of page tables (docs/explain/numa.md).

See docs/explain/kernel.md.
"""

from __future__ import annotations

from tessera.core.results.schema import MESSAGE, PAIR, PROVENANCE, Table, columns

# Tables of the kernel's parts (docs/explain/kernel.md). `attempt.json` beside them has the outcome of the
# part.

_DIGITS, _SECONDS = "%.4f", "%.1f"


def _part_table(
    part: str, name: str, about: str, text: str, provenance: str = "column", digits: str | None = None
) -> Table:
    return Table(
        f"kernel/{part}/{name}", lambda t: t.kernel(part, f"{name}.csv"), f"tessera lab run kernel-{part}",
        provenance, about, columns(text), float_format=digits,
    )  # fmt: skip


TEST = _part_table("test", "summary", "selftests and stress in the guest", """
    part        text    -  test that ran
    passed      count   1  checks that passed
    failed      count   1  checks that failed
    seconds     number  s  time including the boot
    provenance  text    -  measured
""", digits=_SECONDS)  # fmt: skip
TABLE4 = _part_table("table4", "table4", "memory for replicas, by the paper's function (Mitosis Table 4)", """
    footprint           text    -      footprint as printed in the paper
    footprint_bytes     count   bytes  the same in bytes
    page_table_bytes    count   bytes  size of one copy of the page tables
    replicas            count   1      copies of the page tables
    overhead            number  1      memory relative to one copy, calculated
    published_overhead  number  1      overhead printed in the paper
""", "calculated and published", _DIGITS)  # fmt: skip
TABLE4_MEASURED = _part_table("table4", "table4_measured", "memory for replicas, counted by the kernel", """
    footprint_bytes      count   bytes  memory that a program touches
    copies               count   1      copies of the page tables
    page_table_bytes     count   bytes  size of all copies
    overhead             number  1      memory relative to one copy
    calculated_overhead  number  1      the same, calculated by the paper's function
    provenance           text    -      measured
""", digits=_DIGITS)  # fmt: skip
TABLE5_COUNTS = _part_table("table5", "instructions", "instructions of each operation", """
    operation     text    -             mmap, mprotect or munmap
    region        text    -             size of the region
    bytes         count   bytes         the same in bytes
    config        text    -             kernel and copies
    copies        count   1             copies of the page tables
    instructions  number  instructions  median instruction count, user and kernel
    provenance    text    -             measured
""")  # fmt: skip
TABLE5 = _part_table("table5", "table5", "ratios of these instruction counts (Mitosis Table 5)", """
    operation                       text    -             mmap, mprotect or munmap
    region                          text    -             size of the region
    unpatched_instructions          number  instructions  kernel without the patches
    off_instructions                number  instructions  with the patches, mechanism off
    on_not_replicated_instructions  number  instructions  mechanism on, this process not replicated
    replicated_instructions         number  instructions  with copies on all nodes
    replicated_ratio                number  1             replicated over off (in the paper: of cycles)
    off_ratio                       number  1             off over unpatched
    provenance                      text    -             measured
    published_ratio                 number  1             ratio of cycles printed in the paper
""", digits=_DIGITS)  # fmt: skip
TABLE6_COUNTS = _part_table("table6", "instructions", "instructions of whole programs", """
    program       text   -             program of the guest
    config        text   -             kernel and copies
    copies        count  1             copies of the page tables
    instructions  count  instructions  instruction count, user and kernel
    provenance    text   -             measured
""")  # fmt: skip
TABLE6 = _part_table("table6", "table6", "overhead of replicas for whole programs (Mitosis Table 6)", """
    program                     text    -             program of the guest
    off_instructions            number  instructions  mechanism off
    replicated_instructions     number  instructions  with copies on all nodes
    overhead_percent            number  percent       replicated over off, minus one
    provenance                  text    -             measured
    published_overhead_percent  number  percent       overhead in time printed in the paper
""", digits=_DIGITS)  # fmt: skip
COST_OPERATIONS = _part_table("costs", "operations", "instructions of operations on 8 MB by kind of page", """
    operation                       text    -             mmap, madvise, mprotect, mremap, munmap or fork
    pages                           text    -             dirty, accessed, clean (neither), or file
    entries                         count   1             leaf entries of the region
    unpatched_instructions          number  instructions  kernel without the patches
    off_instructions                number  instructions  with the patches, mechanism off
    on_not_replicated_instructions  number  instructions  mechanism on, this process not replicated
    replicated_instructions         number  instructions  with copies on all four nodes
    replicated_ratio                number  1             replicated over off
    off_ratio                       number  1             off over unpatched
    provenance                      text    -             measured
""", digits=_DIGITS)  # fmt: skip
COST_UPDATES = _part_table("costs", "updates", "instructions for each updated entry by copies", """
    operation           text    -             as in operations.csv
    pages               text    -             as there; tables: entries that point to a table
    copies              count   1             copies of the page tables; 0: mechanism off
    instructions        number  instructions  for one entry more, all work of the operation on it
    added_instructions  number  instructions  of them, beyond those with the mechanism off
    loads               number  loads         for one entry more, as instructions
    stores              number  stores        the same
    added_references    number  1             loads and stores beyond those with the mechanism off
    provenance          text    -             measured
""", digits=_DIGITS)  # fmt: skip
COST_REQUESTS = _part_table("costs", "requests", "what requests of a running process cost by its size", """
    request                text    -             what was asked, in this order; repeat: the same nodes
    footprint_bytes        count   bytes         memory of the process in 4KB pages
    home_tables            count   pages         its page tables without copies, with the root
    pages                  count   pages         tables that came or went
    instructions           count   instructions  processor time of the caller
    elapsed_instructions   count   instructions  time until the end, with what passes while it waits
    instructions_per_page  number  instructions  instructions over pages
    provenance             text    -             measured
""", digits=_DIGITS)  # fmt: skip
COST_MEMORY = _part_table("costs", "memory", "the kernel's accounts of the memory of replicas", """
    step           text   -      what was asked last
    nodes          count  1      nodes with copies of the process's page tables
    home_tables    count  pages  its page tables without copies, with the root
    replica_pages  count  pages  its replicas, by its status (VmPTERepl)
    meminfo_bytes  count  bytes  replicas of all processes, by the meminfo of all nodes (PageTableRepl)
    reserve_bytes  count  bytes  reserve for replicas, by the same files (PageTableReplRsv)
    cgroup_bytes   count  bytes  memory of the process's cgroup (memory.current)
    provenance     text   -      measured
""")  # fmt: skip
PLACEMENT = _part_table("placement", "placement", "placement of page tables", """
    workload       text   -      program of the guest
    config         text   -      F (first touch) or I (interleave), with +M for replicas
    observer       text   -      owner of the tree: home, or a socket's number
    level          count  1      4 is the root, 1 the leaves
    socket         count  1      socket that holds the tables
    target_socket  count  1      socket that their entries point to
    pages          count  pages  tables of this level on this socket; the same for every target_socket
    pointers       count  1      present entries to the target
""", "measured")  # fmt: skip
FIGURE4 = _part_table("placement", "figure4", "share of remote leaf entries by socket (Mitosis Figure 4)", """
    workload           text    -  program of the guest
    config             text    -  as in placement.csv
    socket             count   1  socket whose processors walk the tables
    remote_leaf_share  number  1  share of leaf entries on other sockets
""", "measured")  # fmt: skip
BALANCING = _part_table("balancing", "balancing", "page tables of a process that moves to another socket", """
    moment               text    -        before the move, balanced (data moved, too) or replicas (and tables)
    socket               count   1        socket of the process
    data_pages           count   pages    pages of its data
    local_data_pages     count   pages    pages of them on its socket
    home_tables          count   pages    its page tables of all levels, without replicas
    moved_home_tables    count   pages    tables of them that lie elsewhere than before
    leaf_entries         count   1        present entries of the leaf tables that its processor walks
    remote_leaf_entries  count   1        entries of them in tables on other sockets
    remote_leaf_share    number  1        the quotient of both
    seconds              number  s        time of the guest since the start of the program
    provenance           text    -        measured
""")  # fmt: skip
PROVE = _part_table("prove", "prove", "whether the checks notice hooks that are left out", """
    mutant       text   -      hook that is left out; none: the whole kernel
    case         text   -      operations that need it
    missing      text   -      work of the hook, which nobody does
    checker      count  1      differences that the checker in the kernel counted
    walker       count  1      differences of the trees, seen from outside
    program      text   -      passed, exit status, or guest stopped
    left         count  1      pages of replicas and address spaces that stayed
    log          count  lines  complaints in the kernel's log, without the checker's
    noticed_by   text   -      observers that noticed something
    status       text   -      found or missed; of the whole kernel: clean or noticed
    provenance   text   -      measured
""")  # fmt: skip
DEBUG = _part_table("debug", "debug", "tests in kernels that look for misused locks and memory, or races", """
    variant     text    -  variant of the kernel
    part        text    -  selftests, or stress
    passed      count   1  checks that passed
    failed      count   1  checks that failed
    complaints  count   1  reports of the kernel that concern replicas
    others      count   1  reports that do not
    seconds     number  s  time including the boot
    provenance  text    -  measured
""", digits=_SECONDS)  # fmt: skip
STRESS_NG = _part_table("stress-ng", "stress-ng", "memory stressors of stress-ng with replicas", """
    stressor    text  -  name of the stressor, or of the failed step
    outcome     text  -  passed, skipped or failed
    provenance  text  -  measured
""")  # fmt: skip
SELFTESTS_MM = _part_table("selftests-mm", "selftests-mm", "the kernel's own tests of memory management", """
    test              text  -  name of the test
    without_replicas  text  -  outcome without replicas
    with_replicas     text  -  outcome with replicas
    outcome           text  -  verdict from both outcomes
    provenance        text  -  measured
""")  # fmt: skip
LIVES = _part_table("lives", "lives", "random lives of page tables without and with replicas", """
    mode         text   -  kind of replicas; plain, again: none, on the patched kernel; unpatched: no patches
    lives        count  1  lives, each of a seed of its own
    operations   count  1  operations of all these lives and of their children
    disturbed    count  1  lives with other lines in which the kernel reclaimed memory; not differences
    differences  count  1  lives with other contents, entries or bits than the plain one
    provenance   text   -  measured
""")  # fmt: skip
BISECT = _part_table("bisect", "bisect", "build and boot of the kernel after each patch", """
    patch       text    -  file of the patch
    outcome     text    -  passed or failed
    seconds     number  s  time to build and boot
    found       text    -  problem that was found
    provenance  text    -  measured
""", digits=_SECONDS)  # fmt: skip
KERNEL_TABLES = (
    TEST, TABLE4, TABLE4_MEASURED, TABLE5_COUNTS, TABLE5, TABLE6_COUNTS, TABLE6, COST_OPERATIONS,
    COST_UPDATES, COST_REQUESTS, COST_MEMORY, PLACEMENT, FIGURE4,
    BALANCING, PROVE, DEBUG, STRESS_NG, SELFTESTS_MM, LIVES, BISECT,
)  # fmt: skip


# Runtime and walk cycles by the placement of page tables and data (docs/explain/numa.md).

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
    "placements", lambda t: t.placements, "tessera lab run numa-placements", "column",
    "HPCC's updates of one table under the placements of Mitosis Table 2, on one socket",
    (*PAIR, *columns(_PLACED.format(status="ok or failed")), *MESSAGE,
     *columns("updates  count  updates  of the trace" + _NUMBERS), *PROVENANCE),
)  # fmt: skip
PROGRAMS = Table(
    "placed_programs", lambda t, w="*": t.placed_program(w), "tessera lab run numa-program", "column",
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
    "kernel/maps/maps", lambda t: t.kernel("maps", "maps.csv"), "tessera lab run numa-maps", "column",
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
    "tessera lab run numa-fragmented", "column",
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
NUMA_TABLES = (PLACEMENTS, PROGRAMS, MAPS, FRAGMENTED)
