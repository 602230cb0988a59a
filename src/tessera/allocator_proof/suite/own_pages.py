"""Page sizes by offset in a pool that a program read in its own smaps, beside those of its layout.

The program (``eight_threads``) prints ``when start end KernelPageSize MMUPageSize`` for each of its mappings.
"""

from __future__ import annotations

from collections.abc import Iterable

from tessera.core.units import PAGE_4KB, format_bytes
from tessera.layouts.model import Window

#: Page size as text -> offsets (start, end) with it; neighbours are one range.
Pages = dict[str, list[tuple[int, int]]]


def seen(lines: str, when: str, base: int, size_bytes: int) -> Pages:
    """Pages of the pool at ``base`` at one moment; sizes that differ between kernel and MMU show both."""
    found = []
    for line in lines.splitlines():
        words = line.split()
        if len(words) != 5 or words[0] != when:
            continue
        start, end = (int(word, 16) - base for word in words[1:3])
        kernel, mmu = (format_bytes(int(word)) for word in words[3:])
        start, end = max(start, 0), min(end, size_bytes)
        if start < end:
            found.append((start, end, kernel if kernel == mmu else f"{kernel}/{mmu}"))
    return _merged(found)


def asked(windows: Iterable[Window], pool: str) -> Pages:
    """The huge pages that a layout puts into a pool."""
    return _merged((w.start, w.end, format_bytes(w.page_bytes)) for w in windows if w.pool == pool)


def huge(pages: Pages) -> Pages:
    """All but the pages of 4KB."""
    small = format_bytes(PAGE_4KB)
    return {size: ranges for size, ranges in pages.items() if size != small}


def describe(pages: Pages) -> str:
    """``2MB at 0-2MB 4MB-10MB``; ``none`` without any."""

    def place(start: int, end: int) -> str:
        return f"{format_bytes(start) if start else 0}-{format_bytes(end)}"

    parts = [f"{size} at {' '.join(place(*r) for r in ranges)}" for size, ranges in sorted(pages.items())]
    return ", ".join(parts) or "none"


def _merged(found: Iterable[tuple[int, int, str]]) -> Pages:
    pages: Pages = {}
    for start, end, size in sorted(found):
        ranges = pages.setdefault(size, [])
        if ranges and ranges[-1][1] == start:
            ranges[-1] = (ranges[-1][0], end)
        else:
            ranges.append((start, end))
    return pages
