"""Tables of the kernel's parts (docs/kernel.md). `attempt.json` beside them has the outcome of the part."""

from __future__ import annotations

from tessera.results.schema.table import Table, columns

_DIGITS, _SECONDS = "%.4f", "%.1f"


def _table(
    part: str, name: str, about: str, text: str, provenance: str = "column", digits: str | None = None
) -> Table:
    return Table(
        f"kernel/{part}/{name}", lambda t: t.kernel(part, f"{name}.csv"), f"tessera kernel {part}",
        provenance, about, columns(text), float_format=digits,
    )  # fmt: skip


TEST = _table("test", "summary", "selftests and stress in the guest", """
    part        text    -  test that ran
    passed      count   1  checks that passed
    failed      count   1  checks that failed
    seconds     number  s  time including the boot
    provenance  text    -  measured
""", digits=_SECONDS)  # fmt: skip
TABLE4 = _table("table4", "table4", "memory for replicas, by the paper's function (Mitosis Table 4)", """
    footprint           text    -      footprint as printed in the paper
    footprint_bytes     count   bytes  the same in bytes
    page_table_bytes    count   bytes  size of one copy of the page tables
    replicas            count   1      copies of the page tables
    overhead            number  1      memory relative to one copy, calculated
    published_overhead  number  1      overhead printed in the paper
""", "calculated and published", _DIGITS)  # fmt: skip
TABLE4_MEASURED = _table("table4", "table4_measured", "memory for replicas, counted by the kernel", """
    footprint_bytes      count   bytes  memory that a program touches
    copies               count   1      copies of the page tables
    page_table_bytes     count   bytes  size of all copies
    overhead             number  1      memory relative to one copy
    calculated_overhead  number  1      the same, calculated by the paper's function
    provenance           text    -      measured
""", digits=_DIGITS)  # fmt: skip
TABLE5_COUNTS = _table("table5", "instructions", "instructions of each operation", """
    operation     text    -             mmap, mprotect or munmap
    region        text    -             size of the region
    bytes         count   bytes         the same in bytes
    config        text    -             kernel and copies
    copies        count   1             copies of the page tables
    instructions  number  instructions  median instruction count, user and kernel
    provenance    text    -             measured
""")  # fmt: skip
TABLE5 = _table("table5", "table5", "ratios of these instruction counts (Mitosis Table 5)", """
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
TABLE6_COUNTS = _table("table6", "instructions", "instructions of whole programs", """
    program       text   -             program of the guest
    config        text   -             kernel and copies
    copies        count  1             copies of the page tables
    instructions  count  instructions  instruction count, user and kernel
    provenance    text   -             measured
""")  # fmt: skip
TABLE6 = _table("table6", "table6", "overhead of replicas for whole programs (Mitosis Table 6)", """
    program                     text    -             program of the guest
    off_instructions            number  instructions  mechanism off
    replicated_instructions     number  instructions  with copies on all nodes
    overhead_percent            number  percent       replicated over off, minus one
    provenance                  text    -             measured
    published_overhead_percent  number  percent       overhead in time printed in the paper
""", digits=_DIGITS)  # fmt: skip
PLACEMENT = _table("placement", "placement", "placement of page tables", """
    workload       text   -      program of the guest
    config         text   -      F (first touch) or I (interleave), with +M for replicas
    observer       text   -      owner of the tree: home, or a socket's number
    level          count  1      4 is the root, 1 the leaves
    socket         count  1      socket that holds the tables
    target_socket  count  1      socket that their entries point to
    pages          count  pages  tables of this level on this socket; the same for every target_socket
    pointers       count  1      present entries to the target
""", "measured")  # fmt: skip
FIGURE4 = _table("placement", "figure4", "share of remote leaf entries by socket (Mitosis Figure 4)", """
    workload           text    -  program of the guest
    config             text    -  as in placement.csv
    socket             count   1  socket whose processors walk the tables
    remote_leaf_share  number  1  share of leaf entries on other sockets
""", "measured")  # fmt: skip
BALANCING = _table("balancing", "balancing", "page tables of a process that moves to another socket", """
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
PROVE = _table("prove", "prove", "whether the checks detect a broken kernel", """
    kernel      text   -  checked, or broken
    observer    text   -  checker (inside) or walker (outside)
    reports     count  1  number of reported differences
    expected    text   -  expected reports: some, or none
    passed      truth  -  whether the expectation was met
    provenance  text   -  measured
""")  # fmt: skip
STRESS_NG = _table("stress-ng", "stress-ng", "memory stressors of stress-ng with replicas", """
    stressor    text  -  name of the stressor, or of the failed step
    outcome     text  -  passed, skipped or failed
    provenance  text  -  measured
""")  # fmt: skip
SELFTESTS_MM = _table("selftests-mm", "selftests-mm", "the kernel's own tests of memory management", """
    test              text  -  name of the test
    without_replicas  text  -  outcome without replicas
    with_replicas     text  -  outcome with replicas
    outcome           text  -  verdict from both outcomes
    provenance        text  -  measured
""")  # fmt: skip
BISECT = _table("bisect", "bisect", "build and boot of the kernel after each patch", """
    patch       text    -  file of the patch
    outcome     text    -  passed or failed
    seconds     number  s  time to build and boot
    found       text    -  problem that was found
    provenance  text    -  measured
""", digits=_SECONDS)  # fmt: skip
TABLES = (
    TEST, TABLE4, TABLE4_MEASURED, TABLE5_COUNTS, TABLE5, TABLE6_COUNTS, TABLE6, PLACEMENT, FIGURE4,
    BALANCING, PROVE, STRESS_NG, SELFTESTS_MM, BISECT,
)  # fmt: skip
