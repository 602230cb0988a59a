"""The file of a placement map: CSV ``kind,level,pool,start_offset,end_offset,node``.

Offsets are bytes in the pool, the end is exclusive, both multiples of 4KB.
"""

from __future__ import annotations

import re
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.mapping.rows import POOLS
from tessera.numa.maps import DATA, KINDS, LEVELS, PAGE_BYTES, PlacementMap, unit_pages

HEADER = "kind,level,pool,start_offset,end_offset,node"
MOST_NODES = 64
_LARGEST_PAGE = 3  #: level whose entries can be pages (1GB)
_ROW = re.compile(r"(data|table),([1-4]),(brk|mmap),([0-9]{1,15}),([0-9]{1,15}),([0-9]{1,2})")


def write_map(found: PlacementMap, path: Path) -> None:
    """Write the map; the same map gives the same bytes."""
    lines = [HEADER]
    for kind, level, pool, start, end, node in found.tuples():
        lines.append(f"{KINDS[kind]},{level},{POOLS[pool]},{start * PAGE_BYTES},{end * PAGE_BYTES},{node}")
    write_text(path, "\n".join(lines) + "\n")


def read_map(path: Path) -> PlacementMap:
    """Read a map.

    Raises:
        TesseraError: the file is missing (``numa-map-file``), a line has another form (``numa-map-form``), or
            rows overlap (``numa-map-overlap``).
    """
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        found = getattr(error, "strerror", None) or "it is not text"
        raise _refused(path, found, "numa-map-file") from None
    if not lines or lines[0] != HEADER:
        raise _refused(path, f"line 1 is '{lines[0][:60] if lines else ''}', and must be {HEADER}")
    rows = [_row(path, number, line) for number, line in enumerate(lines[1:], start=2)]
    if not rows:
        raise _refused(path, "it has no row")
    return PlacementMap.of(rows)


def _row(path: Path, number: int, line: str) -> tuple:
    match = _ROW.fullmatch(line)
    if not match:
        raise _refused(path, f"line {number} is '{line[:60]}', and must be a row of {HEADER}")
    kind, level, pool = KINDS.index(match[1]), int(match[2]), POOLS.index(match[3])
    start, end, node = (int(match[field]) for field in (4, 5, 6))
    if start % PAGE_BYTES or end % PAGE_BYTES or not start < end:
        raise _refused(
            path, f"line {number}: offsets must be multiples of {PAGE_BYTES}, the end above the start"
        )
    if node >= MOST_NODES:
        raise _refused(path, f"line {number}: node {node}, and there are at most {MOST_NODES}")
    if kind == DATA and level > _LARGEST_PAGE:
        raise _refused(path, f"line {number}: entries of level {LEVELS[-1]} are tables, no pages")
    if kind == DATA and (start % (page := unit_pages(kind, level) * PAGE_BYTES) or end % page):
        raise _refused(path, f"line {number}: data of level {level} have pages of {page} bytes")
    return kind, level, pool, start // PAGE_BYTES, end // PAGE_BYTES, node


def _refused(path: Path, found: str, code: str = "numa-map-form") -> TesseraError:
    return TesseraError(f"placement map {path}", found, "make one with: tessera numa map capture", code=code)
