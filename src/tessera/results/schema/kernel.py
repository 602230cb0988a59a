"""Tables of the kernel's parts (docs/kernel.md). Each part has `attempt.json` beside them: how it went."""

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
    part        text    -  what ran
    passed      count   1  checks that passed
    failed      count   1  checks that failed
    seconds     number  s  time with the boot
    provenance  text    -  measured
""", digits=_SECONDS)  # fmt: skip
TABLE4 = _table("table4", "table4", "memory that replicas cost: the paper's function (Mitosis Table 4)", """
    footprint           text    -      as the paper prints it
    footprint_bytes     count   bytes  the same
    page_table_bytes    count   bytes  one copy of the tables
    replicas            count   1      copies of the tables
    overhead            number  1      memory relative to one copy, by the function
    published_overhead  number  1      what the paper prints
""", "calculated and published", _DIGITS)  # fmt: skip
TABLE4_MEASURED = _table("table4", "table4_measured", "the same as the kernel counts it", """
    footprint_bytes      count   bytes  memory that a program touches
    copies               count   1      copies of the page tables
    page_table_bytes     count   bytes  all of them
    overhead             number  1      memory relative to one copy
    calculated_overhead  number  1      the same by the paper's function
    provenance           text    -      measured
""", digits=_DIGITS)  # fmt: skip
TABLE5_COUNTS = _table("table5", "instructions", "instructions of each operation", """
    operation     text    -             mmap, mprotect or munmap
    region        text    -             its size
    bytes         count   bytes         the same
    config        text    -             kernel and copies
    copies        count   1             copies of the page tables
    instructions  number  instructions  median of those counted, user and kernel
    provenance    text    -             measured
""")  # fmt: skip
TABLE5 = _table("table5", "table5", "their ratios (Mitosis Table 5)", """
    operation                       text    -             mmap, mprotect or munmap
    region                          text    -             its size
    unpatched_instructions          number  instructions  kernel without the patches
    off_instructions                number  instructions  with the patches, mechanism off
    on_not_replicated_instructions  number  instructions  mechanism on, this process not replicated
    replicated_instructions         number  instructions  with copies on all nodes
    replicated_ratio                number  1             replicated over off: the paper's, there of cycles
    off_ratio                       number  1             off over unpatched
    provenance                      text    -             measured
    published_ratio                 number  1             ratio of cycles that the paper prints
""", digits=_DIGITS)  # fmt: skip
TABLE6_COUNTS = _table("table6", "instructions", "instructions of whole programs", """
    program       text   -             program of the guest
    config        text   -             kernel and copies
    copies        count  1             copies of the page tables
    instructions  count  instructions  counted, user and kernel
    provenance    text   -             measured
""")  # fmt: skip
TABLE6 = _table("table6", "table6", "what a whole run costs with copies (Mitosis Table 6)", """
    program                     text    -             program of the guest
    off_instructions            number  instructions  mechanism off
    replicated_instructions     number  instructions  with copies on all nodes
    overhead_percent            number  percent       replicated over off, minus one
    provenance                  text    -             measured
    published_overhead_percent  number  percent       overhead in time that the paper prints
""", digits=_DIGITS)  # fmt: skip
PLACEMENT = _table("placement", "placement", "where page tables lie", """
    workload       text   -      program of the guest
    config         text   -      F (first touch) or I (interleave), with +M for replicas
    observer       text   -      whose tree it is: home, or a socket's number
    level          count  1      4 is the root, 1 the leaves
    socket         count  1      where the tables lie
    target_socket  count  1      where their entries point
    pages          count  pages  tables of this level on this socket; repeats over targets
    pointers       count  1      present entries to the target
""", "measured")  # fmt: skip
FIGURE4 = _table("placement", "figure4", "remote leaf entries that each socket finds (Mitosis Figure 4)", """
    workload           text    -  program of the guest
    config             text    -  as in placement.csv
    socket             count   1  the socket that walks
    remote_leaf_share  number  1  share of leaf entries on other sockets
""", "measured")  # fmt: skip
PROVE = _table("prove", "prove", "whether a broken kernel is noticed", """
    kernel      text   -  checked, or broken
    observer    text   -  checker (inside) or walker (outside)
    reports     count  1  reports of a difference
    expected    text   -  what there must be
    passed      truth  -  whether it was so
    provenance  text   -  measured
""")  # fmt: skip
STRESS_NG = _table("stress-ng", "stress-ng", "memory stressors of stress-ng with replicas", """
    stressor    text  -  its name, or what failed
    outcome     text  -  passed, skipped or failed
    provenance  text  -  measured
""")  # fmt: skip
SELFTESTS_MM = _table("selftests-mm", "selftests-mm", "the kernel's own tests of memory management", """
    test              text  -  its name
    without_replicas  text  -  outcome without replicas
    with_replicas     text  -  outcome with them
    outcome           text  -  what that means
    provenance        text  -  measured
""")  # fmt: skip
BISECT = _table("bisect", "bisect", "the kernel after each patch", """
    patch       text    -  file of the patch
    outcome     text    -  passed or failed
    seconds     number  s  time to build and boot
    found       text    -  what was wrong
    provenance  text    -  measured
""", digits=_SECONDS)  # fmt: skip
TABLES = (
    TEST, TABLE4, TABLE4_MEASURED, TABLE5_COUNTS, TABLE5, TABLE6_COUNTS, TABLE6, PLACEMENT, FIGURE4, PROVE,
    STRESS_NG, SELFTESTS_MM, BISECT,
)  # fmt: skip
