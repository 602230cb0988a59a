"""Entries of the registry for the study of scenarios: what the kernel did to a program."""

from __future__ import annotations

from tessera.show.figures.entry import Entry

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
