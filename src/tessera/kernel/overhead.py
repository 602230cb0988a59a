"""The memory overhead of replicas: ``mem_overhead(footprint, replicas)`` of section 8.3.1 (Table 4).

Four levels of x86-64 tables, a compact address space that starts at 0, at least one table per level.
"""

from __future__ import annotations

import pandas as pd

from tessera import reference
from tessera.core.errors import TesseraError
from tessera.core.units import parse_bytes

PAGE_BYTES = 4096
ENTRIES = 512
LEVELS = 4


def tables(footprint_bytes: int) -> int:
    """Tables of one copy for a compact address space of ``footprint_bytes`` in 4KB pages."""
    if footprint_bytes <= 0:
        raise TesseraError(
            f"page tables of {footprint_bytes} bytes",
            "a footprint must be positive",
            "give a size such as 1GB",
            code="footprint-not-positive",
        )
    total, covered = 0, -(-footprint_bytes // PAGE_BYTES)
    for _ in range(LEVELS):
        covered = -(-covered // ENTRIES)
        total += covered
    return total


def table_bytes(footprint_bytes: int) -> int:
    """Bytes of one copy of the page tables."""
    return tables(footprint_bytes) * PAGE_BYTES


def overhead(footprint_bytes: int, replicas: int) -> float:
    """Memory with so many copies of the tables, relative to one copy (1.0 for one)."""
    if replicas < 1:
        raise TesseraError(
            f"{replicas} copies of page tables",
            "the number of copies must be at least 1",
            "give 1 or more",
            code="no-copies",
        )
    one = table_bytes(footprint_bytes)
    return (footprint_bytes + replicas * one) / (footprint_bytes + one)


def table4() -> pd.DataFrame:
    """Table 4: the function (``overhead``) beside the printed numbers (``published_overhead``).

    Footprints and numbers of copies are those of the printed table.
    """
    printed = reference.select("mitosis_table4", {"quantity": "overhead"})
    sizes = printed["footprint"].map(parse_bytes)
    copies = printed["replicas"].astype(int)
    return pd.DataFrame(
        {
            "footprint": printed["footprint"],
            "footprint_bytes": sizes,
            "page_table_bytes": sizes.map(table_bytes),
            "replicas": copies,
            "overhead": [overhead(size, count) for size, count in zip(sizes, copies, strict=True)],
            "published_overhead": printed["value"],
        }
    ).reset_index(drop=True)
