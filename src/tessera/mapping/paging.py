"""Demand and eager paging with transparent huge pages, on the stand-in buddy (Park, KAIST 2019, 3.5.1).

``demand``: at its first touch, a page gets an order-9 block for its whole aligned 2MB piece, if the piece
lies inside its region and such a block is free; else it gets one frame. ``eager`` does the same for all
pages of the regions, by address, before the start.

Assumed: the touches are those of the recorded region of interest. A trace begins after the initialisation,
which in a real run touches pages first. The paper captured mappings of a real Linux; the allocator here is
a stand-in. Its eager kernel asked the buddy allocator page by page. Pages are mapped from epoch 0 on: a
page that is touched later has its frame before, which no access can observe, but chunks do not grow during
the run.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tessera.core.errors import TesseraError
from tessera.mapping.buddy import ORDER_OF_2MB, Buddy, out_of_memory
from tessera.mapping.regions import Region
from tessera.mapping.rows import PAGES_OF_2MB, POOLS, Rows


def eager(regions: Sequence[Region], buddy: Buddy) -> Rows:
    """Rows of all pages of the regions, in the order of the addresses; takes frames from ``buddy``."""
    pool = np.concatenate([np.full(region.pages, region.number) for region in regions])
    page = np.concatenate([np.arange(region.pages) for region in regions])
    return demand(regions, pool, page, buddy)


def demand(regions: Sequence[Region], pool: np.ndarray, page: np.ndarray, buddy: Buddy) -> Rows:
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
    large, small, stopped = [], [], len(page)
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
        _rows(pool[done], whole, np.array([frame for _, frame in large], dtype=np.int64), PAGES_OF_2MB),
        _rows(pool[one_by_one], page[one_by_one], frames, 1),
    ]
    return Rows.joined(rows).in_order().merged()


def _rows(pool: np.ndarray, page: np.ndarray, frame: np.ndarray, size: int) -> Rows:
    """A row for each page of ``size`` pages of 4KB."""
    pages = np.full(len(page), size, dtype=np.int64)
    return Rows(pool, page, frame, pages, pages)
