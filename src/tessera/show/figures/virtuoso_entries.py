"""Entries of the registry for what page faults cost programs: figures of Virtuoso."""

from __future__ import annotations

from tessera.show.figures.entry import Entry

VIRTUOSO_FIGURES: tuple[Entry, ...] = (
    Entry(
        "fault-shares",
        "fault_shares:draw",
        "Runtime in page faults and in address translation",
        "Parts of the runtime R of each program under each scenario: time of the kernel in page faults, and "
        "walk cycles C of the program, which overlap with other work. Diamonds: averages that Virtuoso "
        "prints for short programs (Figure 1).",
        group="platforms",
    ),
    Entry(
        "fault-times",
        "fault_times:draw",
        "Latency of page faults with and without huge pages",
        "Above: share of the simulated faults of each program that are at most as slow. Below: share of the "
        "time of all faults that slower ones take. thp-never has 4KB pages only; Virtuoso draws such "
        "distributions of a real machine (Figure 2).",
        group="platforms",
    ),
)
