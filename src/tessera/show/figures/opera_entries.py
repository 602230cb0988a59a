"""Figures and tables of OPERA D5.10, chapter 2, and its findings over all pairs.

Figures 1, 3 and 6 are drawings of ideas, not data; Tables 1, 3 and 5 are reference tables; Table 2 is
notation. Table 6 is the measurement that MICRO'20 prints as Table 7, and is drawn once, there.
"""

from __future__ import annotations

from tessera.show.figures.entry import Entry


def _case(name: str, title: str, caption: str) -> Entry:
    return Entry(name, "case_studies:draw", title, caption, argument=name, group="opera")


OPERA_FIGURES: tuple[Entry, ...] = (
    _case(
        "opera-fig2",
        "The 1GB run and its linear prediction",
        "OPERA Figure 2: runtime against walk cycles near zero, with the line through the 4KB and 2MB runs "
        "and the cubic in C. The 1GB run lies above the line: a design that removes all walks gains less "
        "than the line predicts.",
    ),
    _case(
        "opera-fig4",
        "R = C + \u03b2 predicts too much",
        "OPERA Figure 4: the model that adds every walk cycle to the runtime (Pham there, Alam in "
        "MICRO'20), fitted to the 2MB run, against all layouts. Walks overlap with other work, so the "
        "predicted runtime of the 4KB run is too high.",
    ),
    _case(
        "opera-fig5",
        "R = C + \u03b2 predicts too little",
        "OPERA Figure 5: the same model for a workload where one walk cycle adds more than one cycle.",
    ),
    _case(
        "opera-fig7",
        "A workload that a line describes",
        "OPERA Figure 7: runtime against walk cycles with the best line through all layouts.",
    ),
    _case(
        "opera-fig8",
        "Polynomials of degree one to three",
        "OPERA Figure 8: the best line, parabola and cubic in walk cycles through all layouts.",
    ),
    _case(
        "opera-fig9",
        "A slope above 1",
        "OPERA Figure 9: the best line through all layouts of the paper's workload, and the steepest line "
        "of this run. With a slope above 1, removing a walk saves more cycles than the walk takes.",
    ),
    Entry(
        "opera-fig10",
        "fewer_pages:draw",
        "Is the layout with the most large pages the fastest?",
        "OPERA Figure 10: runtime against walk cycles of the growing layouts and of the fastest layout. The "
        "numbers are the 2MB pages in use. In OPERA, 87 pages are 6% faster than all 832.",
        group="opera",
    ),
    Entry(
        "opera-fig11",
        "opera_threads:draw_efficiency",
        "Instructions per second and per joule, by threads",
        "OPERA Figure 11: the model of Guz et al. (E1 to E7) with assumed values, over one thread. A "
        "processor of OPERA's server, and a machine with 4 MB or 30 MB of cache. OPERA's curves have no "
        "printed values. Where both lines of a panel agree, energy follows runtime.",
        group="opera",
    ),
    Entry(
        "opera-fig12",
        "opera_threads:draw_misses",
        "LLC miss rate by threads",
        "OPERA Figure 12, where all rates fall: E2 without sharing rises, with shared data it is constant. "
        "Points are simulated miss rates with L3 / n, if the run has the study of threads. OPERA prints no "
        "values and no denominator.",
        group="opera",
    ),
    Entry(
        "energy",
        "energy:draw",
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
        "finding_slope:draw",
        "Does a walk cycle cost more than one cycle?",
        "Runtime per walk cycle between the 4KB and the 2MB run, against the program's extra loads that "
        "reach L3 with 4KB pages: one point per pair. Published: MICRO'20 Table 7 (the measurement of OPERA"
        " Table 6).",
        group="summary",
    ),
    Entry(
        "finding-fewer-pages",
        "finding_fewer_pages:draw",
        "Do fewer large pages beat more?",
        "How much slower the all-2MB layout is than the fastest layout with fewer 2MB pages. Published: "
        "OPERA Figure 10's 6% for mcf on SandyBridge.",
        group="summary",
    ),
    Entry(
        "finding-1gb",
        "finding_one_gb:draw",
        "Which models predict 1GB pages?",
        "Error at the 1GB run: the line through the 4KB and 2MB runs (Yaniv), and Mosmodel, ours and its "
        "authors'. None was fitted to this run. The paper prints the numbers of two pairs. Log scale; errors "
        "below 0.01% are drawn at the border.",
        group="summary",
    ),
)
