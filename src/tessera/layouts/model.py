"""What a layout is, and its CSV file (MICRO'20 section V; docs/contracts.md).

A layout says for each pool how large it is and which windows of it are backed with 2MB or 1GB pages; the
rest is 4KB. Offsets are bytes from the pool's base, end exclusive.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.units import PAGE_4KB, PAGE_SIZES, format_bytes, parse_bytes

POOLS = ("brk", "mmap", "file")
HEADER = ("type", "pageSize", "startOffset", "endOffset")
ALIASES = {"4kb": "growing-0", "2mb": "growing-8"}


@dataclass(frozen=True, order=True)
class Window:
    """A contiguous part of one pool with one page size (bytes; end exclusive)."""

    pool: str
    start: int
    end: int
    page_bytes: int

    @property
    def pages(self) -> int:
        """Number of pages of ``page_bytes``."""
        return (self.end - self.start) // self.page_bytes


@dataclass(frozen=True)
class Layout:
    """A named mosaic: pool sizes in bytes and huge-page windows, sorted by pool and offset."""

    name: str
    pool_bytes: dict[str, int]
    windows: tuple[Window, ...] = field(default=())

    def pages(self, page_bytes: int) -> int:
        """How many pages of this size the layout uses (all pools)."""
        return sum(w.pages for w in self.windows if w.page_bytes == page_bytes)


def canonical_name(name: str) -> str:
    """``4kb`` and ``2mb`` are other names of ``growing-0`` and ``growing-8``."""
    return ALIASES.get(name, name)


def read_layout(path: Path | str) -> Layout:
    """Read and validate a layout file; its name is the file's stem.

    Raises:
        TesseraError: naming file, line, column, rule and value.
    """
    path = Path(path)
    try:
        with path.open(newline="") as stream:
            rows = list(csv.reader(stream))
    except OSError as error:
        raise TesseraError(f"layout {path}", error.strerror or str(error), "check the path") from None
    if not rows or tuple(cell.strip() for cell in rows[0]) != HEADER:
        raise _bad(path, 1, "header", f"must be {','.join(HEADER)}", ",".join(rows[0]) if rows else "")
    pools: dict[str, int] = {}
    windows: list[tuple[int, Window]] = []
    for line, row in enumerate(rows[1:], start=2):
        if not row or not any(cell.strip() for cell in row):
            continue
        if len(row) != len(HEADER):
            raise _bad(path, line, "row", f"must have {len(HEADER)} columns", ",".join(row))
        pool, page, start, end = (cell.strip() for cell in row)
        if pool not in POOLS:
            raise _bad(path, line, "type", f"must be one of {', '.join(POOLS)}", pool)
        first, last = (_size(path, line, c, v) for c, v in zip(HEADER[2:], (start, end), strict=True))
        if page == "-1":
            if first != 0 or pool in pools:
                rule = "a pool's size is one row with startOffset 0"
                raise _bad(path, line, "startOffset", rule, ",".join(row))
            pools[pool] = last
        else:
            windows.append((line, _window(path, line, pool, page, first, last)))
    _check_windows(path, pools, windows)
    return Layout(path.stem, pools, tuple(sorted(window for _, window in windows)))


def write_layout(layout: Layout, path: Path | str) -> None:
    """Write the CSV; pool sizes first, windows in order, plain bytes."""
    lines = [",".join(HEADER)]
    lines += [f"{pool},-1,0,{size}" for pool, size in layout.pool_bytes.items()]
    lines += [f"{w.pool},{w.page_bytes},{w.start},{w.end}" for w in sorted(layout.windows)]
    Path(path).write_text("\n".join(lines) + "\n")


def _window(path: Path, line: int, pool: str, page: str, start: int, end: int) -> Window:
    size = _size(path, line, "pageSize", page)
    if size not in PAGE_SIZES:
        rule = f"must be -1 or one of {', '.join(map(str, PAGE_SIZES))}"
        raise _bad(path, line, "pageSize", rule, page)
    if pool == "file" and size != PAGE_4KB:
        raise _bad(path, line, "pageSize", "the file pool has 4KB pages only", page)
    for column, value in (("startOffset", start), ("endOffset", end)):
        if value % size:
            rule = f"must be a multiple of the page size {format_bytes(size)}"
            raise _bad(path, line, column, rule, str(value))
    if end <= start:
        raise _bad(path, line, "endOffset", f"must be above startOffset {start}", str(end))
    return Window(pool, start, end, size)


def _check_windows(path: Path, pools: dict[str, int], windows: list[tuple[int, Window]]) -> None:
    ordered = sorted(windows, key=lambda item: item[1])
    for line, window in ordered:
        size = pools.get(window.pool)  # without a size row the program's own pool is the limit
        if size is not None and window.end > size:
            rule = f"window outside its pool of {format_bytes(size)}"
            raise _bad(path, line, "endOffset", rule, str(window.end))
    for (_, before), (line, after) in zip(ordered, ordered[1:], strict=False):
        if before.pool == after.pool and after.start < before.end:
            rule = f"overlaps the window {before.start}-{before.end}"
            raise _bad(path, line, "startOffset", rule, str(after.start))


def _size(path: Path, line: int, column: str, text: str) -> int:
    try:
        return parse_bytes(text)
    except TesseraError:
        raise _bad(path, line, column, "must be bytes or a size like 64MB", text) from None


def _bad(path: Path, line: int, column: str, rule: str, value: str) -> TesseraError:
    return TesseraError(
        f"layout {path} line {line}, column {column}", f"'{value}': {rule}", "correct the file"
    )
