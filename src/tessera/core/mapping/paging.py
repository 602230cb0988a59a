"""The order of first touches, and demand and eager paging with transparent huge pages that follows it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tessera.core.errors import TesseraError
from tessera.core.mapping.free_blocks import ORDER_OF_2MB, Buddy, out_of_memory
from tessera.core.mapping.mapping_file import PAGE_LIMIT, POOL_NUMBERS, parsed_columns
from tessera.core.mapping.page_mapping import PAGES_OF_2MB, POOLS, MappingRows
from tessera.core.mapping.synthetic import UsedPages

# The order in which a program first touches its pages: a CSV file ``pool,page,access``.
#
# ``tessera trace touches`` writes it from a trace. Rows are in the order of the accesses; ``page`` counts
# 4KB from the start of the pool, and ``access`` is the number of the data access in the trace (from 0).

TOUCHES_HEADER = "pool,page,access"
_FORM = re.compile(rb"pool,page,access\n(?:(?:brk|mmap),[0-9]{1,18},[0-9]{1,18}\n)*+")


@dataclass(frozen=True, eq=False)
class Touches:
    """Distinct pages in the order of their first touches; arrays of shape ``(touches,)``, int64.

    Attributes:
        pool: index in ``POOLS``.
        page: number of the 4KB page in its pool.
        access: number of the access, ascending; one that crosses a page may have two rows.
    """

    pool: np.ndarray
    page: np.ndarray
    access: np.ndarray


def read_touches(path: Path | str) -> Touches:
    """Read the file.

    Raises:
        TesseraError: the file is missing, has another form, names a page twice or is not in order; ``code``
            is ``touches-file``, ``touches-form`` or ``touches-order``.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise _touches_refused(path, error.strerror or str(error), "touches-file") from None
    if not (data.endswith(b"\n") and _FORM.fullmatch(data)):  # fullmatch alone may accept a cut row
        raise _touches_refused(path, _first_bad_line(data), "touches-form")
    found = Touches(*parsed_columns(data[data.index(b"\n") + 1 :], 3, POOL_NUMBERS))
    wrong = found.page >= PAGE_LIMIT
    wrong[1:] |= _out_of_order(found)
    first = np.unique((found.pool << 40) + found.page, return_index=True)[1]
    wrong |= ~np.isin(np.arange(len(wrong)), first)
    if wrong.any():
        line = int(wrong.argmax()) + 2
        what = f"line {line}: the page was touched before, is 2^36 or more, or its access is out of order"
        raise _touches_refused(path, what, "touches-order")
    return found


def _out_of_order(found: Touches) -> np.ndarray:
    """Of each row but the first: its access comes before that of the row above, or is the same one, and the
    pages are not two neighbours that one access can cross (of two pools, if these lie side by side)."""
    step = np.diff(found.access)
    one_pool = np.diff(found.pool) == 0
    second = (step == 0) & (~one_pool | (np.diff(found.page) == 1))
    third = second & np.concatenate(([False], second[:-1]))[: len(second)]
    return (step < 0) | ((step == 0) & ~second) | third


def _first_bad_line(data: bytes) -> str:
    lines = data.decode("latin-1").split("\n")
    if lines[0] != TOUCHES_HEADER:
        return f"line 1 is '{lines[0][:40]}', and must be {TOUCHES_HEADER}"
    row = re.compile("(?:brk|mmap),[0-9]{1,18},[0-9]{1,18}")
    bad = next((at for at, line in enumerate(lines[1:-1], start=2) if not row.fullmatch(line)), len(lines))
    return f"line {bad} is '{lines[bad - 1][:40]}', and must be a pool and two numbers, with a line end"


def _touches_refused(path: Path | str, found: str, code: str) -> TesseraError:
    remedy = "write the file with: tessera trace touches TRACE --out FILE"
    return TesseraError(f"first touches {path}", found, remedy, code=code)


# Demand and eager paging with transparent huge pages, on the stand-in buddy (Park, KAIST 2019, 3.5.1).
#
# ``demand``: at its first touch, a page gets an order-9 block for its whole aligned 2MB piece, if the piece
# lies inside its region and such a block is free; else it gets one frame. ``eager`` does the same for all
# pages of the regions, by address, before the start.
#
# Assumed: the touches are those of the recorded region of interest. A trace begins after the initialisation,
# which in a real run touches pages first. The paper captured mappings of a real Linux; the allocator here is
# a stand-in. Its eager kernel asked the buddy allocator page by page. Pages are mapped from epoch 0 on: a
# page that is touched later has its frame before, which no access can observe, but chunks do not grow during
# the run.


def eager_paging(regions: Sequence[UsedPages], buddy: Buddy) -> MappingRows:
    """Rows of all pages of the regions, in the order of the addresses; takes frames from ``buddy``."""
    pool = np.concatenate([np.full(region.pages, region.number) for region in regions])
    page = np.concatenate([np.arange(region.pages) for region in regions])
    return demand_paging(regions, pool, page, buddy)


def demand_paging(
    regions: Sequence[UsedPages], pool: np.ndarray, page: np.ndarray, buddy: Buddy
) -> MappingRows:
    """Rows of the touched pages, and of the rest of their 2MB pages; takes frames from ``buddy``.

    Args:
        pool, page: distinct pages in the order of their first touches; shape ``(touches,)``, int64.

    Raises:
        TesseraError: a touch lies outside its region, or no frame is free.
    """
    limit = np.zeros(len(POOLS), dtype=np.int64)
    for region in regions:
        limit[region.number] = region.pages
    outside = page >= limit[pool]
    if outside.any():
        at = int(outside.argmax())
        raise TesseraError(
            f"first touch {at}, page {page[at]} of pool {POOLS[pool[at]]}",
            f"the region has {limit[pool[at]]} pages",
            "give a larger --pool, or the trace that the touches belong to",
            code="mapping/touch-outside",
        )
    piece = (pool << 40) + page // PAGES_OF_2MB
    fits = (page // PAGES_OF_2MB + 1) * PAGES_OF_2MB <= limit[pool]
    first = np.zeros(len(page), dtype=bool)
    first[np.unique(piece, return_index=True)[1]] = True
    large: list[tuple[int, int]] = []
    small: list[tuple[int, int]] = []
    stopped = len(page)
    free = buddy.frames
    for at in np.flatnonzero(~fits | first).tolist():  # further pages of a large page need nothing
        frame = buddy.block(ORDER_OF_2MB if fits[at] else 0)
        if frame is None:  # no large block is freed later, so all other pages get single frames
            stopped = at
            break
        (large if fits[at] else small).append((at, frame))
    done = np.array([at for at, _ in large], dtype=np.int64)
    late = np.arange(stopped, len(page))
    late = late[~np.isin(piece[late], piece[done])]
    if len(late) > buddy.frames:
        raise out_of_memory(len(large) * PAGES_OF_2MB + len(small) + len(late), free)
    one_by_one = np.concatenate([np.array([at for at, _ in small], dtype=np.int64), late])
    frames = np.concatenate(
        [np.array([frame for _, frame in small], dtype=np.int64), buddy.singles(len(late))]
    )
    whole = page[done] // PAGES_OF_2MB * PAGES_OF_2MB
    rows = [
        _rows_of_pages(
            pool[done], whole, np.array([frame for _, frame in large], dtype=np.int64), PAGES_OF_2MB
        ),
        _rows_of_pages(pool[one_by_one], page[one_by_one], frames, 1),
    ]
    return MappingRows.joined(rows).in_order().merged()


def _rows_of_pages(pool: np.ndarray, page: np.ndarray, frame: np.ndarray, size: int) -> MappingRows:
    """A row for each page of ``size`` pages of 4KB."""
    pages = np.full(len(page), size, dtype=np.int64)
    return MappingRows(pool, page, frame, pages, pages)
