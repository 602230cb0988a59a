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
)
