"""What the registry knows about a figure, and the entries of OPERA, Mitosis, Virtuoso and scenarios."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

#: Sections of the report that a figure may belong to.
GROUPS = (
    "summary",
    "models",
    "workloads",
    "platforms",
    "layouts",
    "allocator",
    "kernel",
    "validation",
    "opera",
    "provenance",
)


@dataclass(frozen=True)
class Entry:
    """One figure: where its function is, what it says, and whether it exists per workload x platform."""

    name: str
    function: str  #: ``module:function`` under ``tessera.report.figures``
    title: str
    caption: str
    per_pair: bool = False
    argument: str | None = None  #: first argument of functions that draw several figures
    group: str = "models"  #: one of :data:`GROUPS`: the page of the report that shows it

    def __post_init__(self) -> None:
        if self.group not in GROUPS:
            raise ValueError(f"figure '{self.name}': group '{self.group}' is none of {', '.join(GROUPS)}")

    def load(self) -> Callable:
        """The function, imported on first use."""
        module, name = self.function.split(":")
        function = getattr(importlib.import_module(f"tessera.report.figures.{module}"), name)
        return partial(function, self.argument) if self.argument else function


# Figures and tables of OPERA D5.10, chapter 2, and its findings over all pairs.
#
# Figures 1, 3 and 6 are drawings of ideas, not data; Tables 1, 3 and 5 are reference tables; Table 2 is
# notation. Table 6 is the measurement that MICRO'20 prints as Table 7, and is drawn once, there.


def _opera_case(name: str, title: str, caption: str) -> Entry:
    return Entry(name, "case_studies:draw_case", title, caption, argument=name, group="opera")


OPERA_FIGURES: tuple[Entry, ...] = (
    _opera_case(
        "opera-fig2",
        "The 1GB run and its linear prediction",
        "OPERA Figure 2: runtime against walk cycles near zero, with the line through the 4KB and 2MB runs "
        "and the cubic in C. The 1GB run lies above the line: a design that removes all walks gains less "
        "than the line predicts.",
    ),
    _opera_case(
        "opera-fig4",
        "R = C + \u03b2 predicts too much",
        "OPERA Figure 4: the model that adds every walk cycle to the runtime (Pham there, Alam in "
        "MICRO'20), fitted to the 2MB run, against all layouts. Walks overlap with other work, so the "
        "predicted runtime of the 4KB run is too high.",
    ),
    _opera_case(
        "opera-fig5",
        "R = C + \u03b2 predicts too little",
        "OPERA Figure 5: the same model for a workload where one walk cycle adds more than one cycle.",
    ),
    _opera_case(
        "opera-fig7",
        "A workload that a line describes",
        "OPERA Figure 7: runtime against walk cycles with the best line through all layouts.",
    ),
    _opera_case(
        "opera-fig8",
        "Polynomials of degree one to three",
        "OPERA Figure 8: the best line, parabola and cubic in walk cycles through all layouts.",
    ),
    _opera_case(
        "opera-fig9",
        "A slope above 1",
        "OPERA Figure 9: the best line through all layouts of the paper's workload, and the steepest line "
        "of this run. With a slope above 1, removing a walk saves more cycles than the walk takes.",
    ),
    Entry(
        "opera-fig10",
        "case_studies:draw_page_counts",
        "Is the layout with the most large pages the fastest?",
        "OPERA Figure 10: runtime against walk cycles of the growing layouts and of the fastest layout. The "
        "numbers are the 2MB pages in use. In OPERA, 87 pages are 6% faster than all 832.",
        group="opera",
    ),
    Entry(
        "opera-fig11",
        "threads_and_energy:draw_efficiency",
        "Instructions per second and per joule, by threads",
        "OPERA Figure 11: the model of Guz et al. (E1 to E7) with assumed values, over one thread. A "
        "processor of OPERA's server, and a machine with 4 MB or 30 MB of cache. OPERA's curves have no "
        "printed values. Where both lines of a panel agree, energy follows runtime.",
        group="opera",
    ),
    Entry(
        "opera-fig12",
        "threads_and_energy:draw_miss_rates",
        "LLC miss rate by threads",
        "OPERA Figure 12, where all rates fall: E2 without sharing rises, with shared data it is constant. "
        "Points are simulated miss rates with L3 / n, if the run has the study of threads. OPERA prints no "
        "values and no denominator.",
        group="opera",
    ),
    Entry(
        "energy",
        "threads_and_energy:draw_savings",
        "Energy that 2MB pages save, over runtime",
        "Share of the energy over share of the runtime that 2MB pages save of the 4KB run: a point for "
        "each pair, a row for each set of assumed constants (E8). 1 is OPERA's statement that both "
        "percentages are the same.",
        group="opera",
    ),
    Entry(
        "opera-table4",
        "allocator_costs:draw",
        "Cost of the allocator, compared with glibc",
        "OPERA Table 4: memory and runtime of programs with the allocator compared to plain glibc; "
        "published for OPERA's allocator, measured for this one, all with 4KB pages. Whiskers: 95% "
        "intervals of the median pair. Measured time is processor time; published time is wall-clock time.",
        group="allocator",
    ),
    Entry(
        "finding-slope",
        "findings:draw_slope",
        "Does a walk cycle cost more than one cycle?",
        "Runtime per walk cycle between the 4KB and the 2MB run, against the program's extra loads that "
        "reach L3 with 4KB pages: one point per pair. Published: MICRO'20 Table 7 (the measurement of OPERA"
        " Table 6).",
        group="summary",
    ),
    Entry(
        "finding-fewer-pages",
        "findings:draw_fewer_pages",
        "Do fewer large pages beat more?",
        "How much slower the all-2MB layout is than the fastest layout with fewer 2MB pages. Published: "
        "OPERA Figure 10's 6% for mcf on SandyBridge.",
        group="summary",
    ),
    Entry(
        "finding-1gb",
        "findings:draw_one_gb",
        "Which models predict 1GB pages?",
        "Error at the 1GB run: the line through the 4KB and 2MB runs (Yaniv), and Mosmodel, ours and its "
        "authors'. None was fitted to this run. The paper prints the numbers of two pairs. Log scale; errors "
        "below 0.01% are drawn at the border.",
        group="summary",
    ),
)


# Figures of the Mitosis paper: those that a guest can answer, and one whose times are simulated.

MITOSIS_FIGURES: tuple[Entry, ...] = (
    Entry(
        "mitosis-fig3",
        "mitosis_kernel:draw_table_placement",
        "Where page tables lie and point to",
        "Mitosis Figure 3 for our programs: tables of each level (L4 is the root, L1 has the leaves) on each "
        "socket, and the share of their entries that point to another socket. Darker means more. The "
        "paper's figure shows one process of 363 GB; its rounded numbers are not shown here.",
        group="kernel",
    ),
    Entry(
        "mitosis-fig4",
        "mitosis_kernel:draw_leaf_entries",
        "Leaf entries on other sockets",
        "Mitosis Figure 4 for our programs: share of the leaf entries walked by a socket's processors that "
        "lie on another socket. With replicas, each socket walks its own tables. Dashed: the numbers in the "
        "paper's text for its programs.",
        group="kernel",
    ),
    Entry(
        "mitosis-table5",
        "mitosis_kernel:draw_replica_costs",
        "Cost of replicas in system calls",
        "Mitosis Table 5: mmap (populating), mprotect and munmap with 4 copies of the page tables over the "
        "same kernel with the mechanism off. Our numbers are instructions in a guest, the paper's are "
        "cycles of a processor: compare order and size of the effect, not digits.",
        group="kernel",
    ),
    Entry(
        "numa-placements",
        "mitosis_numa:draw_placements",
        "GUPS of 64GB by placement of tables and data",
        "Mitosis Figures 6 and 10 for computed updates of a 64GB table: runtime and walk cycles over LP-LD, "
        "with 4KB pages and with 2MB pages only. Whiskers: other assumed numbers of outstanding lines of the "
        "interfering program. Diamonds: the paper's archived cycles, if they were fetched; with 2MB pages "
        "its programs had some 4KB pages.",
        group="platforms",
    ),
    Entry(
        "numa-programs",
        "mitosis_numa:draw_programs",
        "Programs on scaled machines by placement of tables and data",
        "Mitosis Figures 6 and 10 for recorded programs: runtime over LP-LD (last bar: RPI-LD over "
        "RPI-LD+M). The machine of each panel is the paper's with L3, STLB and walk caches divided by the "
        "number in its name, as the footprint. Whiskers: other assumed numbers of outstanding lines of the "
        "interfering program. Diamonds: the paper's archived cycles, if they were fetched.",
        group="platforms",
    ),
)


# Figures of the study of scenarios: what the kernel did to a program.

OS_FIGURES: tuple[Entry, ...] = (
    Entry(
        "os-sizes",
        "os_scenarios:draw_sizes",
        "Page sizes over time",
        "Memory of the program in pages of 2MB and of 4KB over its run, under each scenario. Pages that "
        "share the page of zeros take no memory and are left out.",
        group="workloads",
    ),
    Entry(
        "os-faults",
        "os_scenarios:draw_faults",
        "Page faults by kind",
        "Page faults of the program under each scenario, by kind and page size, log scale. A page of zeros "
        "is given to a store (page) or shared by loads (zero); copy replaces a shared page; swap and "
        "swap-cache bring a page back.",
        group="workloads",
    ),
    Entry(
        "os-chunks",
        "os_scenarios:draw_chunks",
        "Contiguity of the program's memory",
        "Share of the mapped memory in chunks of at least so many pages with consecutive frames, at the "
        "moment when most is mapped.",
        group="workloads",
    ),
)


# Figures of Virtuoso: what page faults cost programs.

VIRTUOSO_FIGURES: tuple[Entry, ...] = (
    Entry(
        "fault-shares",
        "page_faults:draw_fault_shares",
        "Runtime in page faults and in address translation",
        "Parts of the runtime R of each program under each scenario: time of the kernel in page faults, and "
        "walk cycles C of the program, which overlap with other work. Diamonds: averages that Virtuoso "
        "prints for short programs (Figure 1).",
        group="platforms",
    ),
    Entry(
        "fault-times",
        "page_faults:draw_fault_times",
        "Latency of page faults with and without huge pages",
        "Above: share of the simulated faults of each program that are at most as slow. Below: share of the "
        "time of all faults that slower ones take. thp-never has 4KB pages only; Virtuoso draws such "
        "distributions of a real machine (Figure 2).",
        group="platforms",
    ),
)
