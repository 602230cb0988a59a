"""Figures of the Mitosis paper: those that a guest can answer, and one whose times are simulated."""

from __future__ import annotations

from tessera.show.figures.entry import Entry

MITOSIS_FIGURES: tuple[Entry, ...] = (
    Entry(
        "mitosis-fig3",
        "mitosis_fig3:draw",
        "Where page tables lie and point to",
        "Mitosis Figure 3 for our programs: tables of each level (L4 is the root, L1 has the leaves) on each "
        "socket, and the share of their entries that point to another socket. Darker means more. The "
        "paper's figure shows one process of 363 GB; its rounded numbers are not shown here.",
        group="kernel",
    ),
    Entry(
        "mitosis-fig4",
        "mitosis_fig4:draw",
        "Leaf entries on other sockets",
        "Mitosis Figure 4 for our programs: share of the leaf entries walked by a socket's processors that "
        "lie on another socket. With replicas, each socket walks its own tables. Dashed: the numbers in the "
        "paper's text for its programs.",
        group="kernel",
    ),
    Entry(
        "mitosis-table5",
        "mitosis_table5:draw",
        "Cost of replicas in system calls",
        "Mitosis Table 5: mmap (populating), mprotect and munmap with 4 copies of the page tables over the "
        "same kernel with the mechanism off. Our numbers are instructions in a guest, the paper's are "
        "cycles of a processor: compare order and size of the effect, not digits.",
        group="kernel",
    ),
    Entry(
        "numa-placements",
        "numa_placements:draw",
        "GUPS of 64GB by placement of tables and data",
        "Mitosis Figures 6 and 10 for computed updates of a 64GB table: runtime and walk cycles over LP-LD, "
        "with 4KB pages and with 2MB pages only. Whiskers: other assumed numbers of outstanding lines of the "
        "interfering program. Diamonds: the paper's archived cycles, if they were fetched; with 2MB pages "
        "its programs had some 4KB pages.",
        group="platforms",
    ),
    Entry(
        "numa-programs",
        "numa_programs:draw",
        "Programs on scaled machines by placement of tables and data",
        "Mitosis Figures 6 and 10 for recorded programs: runtime over LP-LD (last bar: RPI-LD over "
        "RPI-LD+M). The machine of each panel is the paper's with L3, STLB and walk caches divided by the "
        "number in its name, as the footprint. Whiskers: other assumed numbers of outstanding lines of the "
        "interfering program. Diamonds: the paper's archived cycles, if they were fetched.",
        group="platforms",
    ),
)
