"""How much of a program a recording has: memory that it touched, and the part of the region of interest.

A recording may end before the region does, so what a program allocates is not what its layouts are judged by.
Everything here comes from info.json and the workload's file; what neither states is None.
"""

from __future__ import annotations

from tessera.core.units import PAGE_4KB
from tessera.record.workloads import Workload

#: label of the size whose input is the paper's
PAPER = "paper"
#: label of the size whose footprint is the published one, or a declared share of it
PUBLISHED = "published"
#: keys of :func:`extent`
EXTENT = (
    "allocated_bytes",
    "touched_bytes",
    "recorded_share",
    "windows",
    "window_span_accesses",
    "published_share",
)


def extent(info: dict, known: Workload | None) -> dict:
    """The columns :data:`EXTENT` of a recording; ``known`` is its workload, if a file describes it."""
    memory = info.get("memory") or {}
    pages = info.get("distinct_4kb_pages")
    size = known.sizes.get(info.get("size", "")) if known else None
    windows = info.get("windows", 1) if info.get("accesses") else None
    return {
        "allocated_bytes": memory.get("allocated_bytes"),
        "touched_bytes": None if pages is None else pages * PAGE_4KB,
        "recorded_share": memory.get("recorded_share"),
        "windows": windows,
        "window_span_accesses": size.window_span if size and windows and windows > 1 else None,
        "published_share": size.share if size else None,
    }


def published_bytes(known: Workload) -> int | None:
    """Footprint of the published row.

    Of a stand-in, the size ``paper`` may be another program's input; its size ``published`` has the footprint
    that the paper prints. Other rows have the paper's input in ``paper``.
    """
    if known.stand_in_for and PUBLISHED in known.sizes:
        size = known.sizes[PUBLISHED]
        return round(size.footprint / (size.share or 1))
    return known.sizes[PAPER].footprint if PAPER in known.sizes else None


def place(row: dict) -> str:
    """Where in the region of interest the recorded accesses lie, from the columns :data:`EXTENT`, as text."""
    if not row.get("windows"):
        return ""
    if row["windows"] == 1:
        return "the whole region" if row.get("recorded_share") == 1 else "its beginning"
    span = row.get("window_span_accesses")
    where = f"its first {span / 1e6:.0f} M accesses" if span else "the region"
    return f"{row['windows']:.0f} windows over {where}"
