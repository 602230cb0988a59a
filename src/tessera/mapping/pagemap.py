"""Rows from what Linux says of a running process: /proc/PID/pagemap and /proc/kpageflags.

Both files have one 64-bit word for each page or frame (Linux, admin-guide/mm/pagemap). A word of pagemap
has the frame in bits 0-54, bit 62 for a swapped page, bit 63 for a present one. Without CAP_SYS_ADMIN the
kernel shows frame 0 for every page, which is an error here and never a mapping. A 2MB page has bit 22 (THP)
or bit 17 (hugetlb) of kpageflags in all its 512 frames, and is aligned on both sides.

These functions know the words only; :mod:`tessera.mapping.capture` reads the files. In a virtual machine,
frames are the guest's.
"""

from __future__ import annotations

import numpy as np

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.mapping.rows import PAGES_OF_2MB, POOLS, Rows
from tessera.mapping.synthetic import with_large_pages

_FRAME = np.uint64((1 << 55) - 1)
_SWAPPED, _PRESENT = np.uint64(1 << 62), np.uint64(1 << 63)
LARGE = np.uint64((1 << 22) | (1 << 17))  #: transparent or hugetlb


def present_frames(pool: str, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Present pages and their frames.

    Args:
        words: of pagemap, one for each page of the pool from its start; shape ``(pages,)``, uint64.

    Returns:
        Page numbers and frame numbers, int64.

    Raises:
        TesseraError: frames are hidden (code ``mapping/hidden-frames``), or a page is swapped
            (``mapping/swapped``).
    """
    swapped = np.flatnonzero(words & _SWAPPED)
    if len(swapped):
        raise TesseraError(
            f"frame of page {swapped[0]} of pool {pool}",
            f"{len(swapped)} pages are swapped to disk and have no frame",
            "capture with more free memory, or without swap",
            exit_code=EXIT_FAILED,
            code="mapping/swapped",
        )
    page = np.flatnonzero(words & _PRESENT)
    frame = (words[page] & _FRAME).astype(np.int64)
    hidden = int((frame == 0).sum())  # no program gets frame 0
    if hidden:
        raise TesseraError(
            f"frames of pool {pool}",
            f"the kernel shows frame 0 for {hidden} pages, as it does without CAP_SYS_ADMIN",
            "run as root, outside of containers without this capability",
            exit_code=EXIT_FAILED,
            code="mapping/hidden-frames",
        )
    return page, frame


def captured_rows(pool: str, page: np.ndarray, frame: np.ndarray, flags: np.ndarray) -> Rows:
    """Rows of one pool; 2MB pages where flags and alignment say so.

    Args:
        page, frame: ascending pages of the pool and their frames, as :func:`present_frames` returns them.
        flags: words of kpageflags of these frames, uint64.
    """
    number = POOLS.index(pool)
    if not len(page):
        return Rows.empty()
    large = (flags & LARGE) != 0
    apart = (np.diff(page) != 1) | (np.diff(frame) != 1) | (large[1:] != large[:-1])
    first = np.concatenate(([0], np.flatnonzero(apart) + 1))
    pages = np.diff(np.append(first, len(page)))
    runs, marked = (page[first], frame[first], pages), large[first]
    small = [column[~marked] for column in runs]
    parts = [
        with_large_pages(number, *(column[marked] for column in runs)),
        Rows(np.full(len(small[0]), number), *small, np.ones(len(small[0]), dtype=np.int64)),
    ]
    return Rows.joined(parts).in_order().merged()


def check_large_pages(pool: str, rows: Rows, smaps_bytes: int) -> None:
    """Compare 2MB pages with the sum of AnonHugePages (and Private_Hugetlb) of the pool's lines in smaps.

    Raises:
        TesseraError: the two differ, so one of the sources was read while pages changed (``mapping/smaps``).
    """
    found = int(rows.pages[rows.size == PAGES_OF_2MB].sum()) * 4096
    if found != smaps_bytes:
        raise TesseraError(
            f"2MB pages of pool {pool}",
            f"kpageflags has {found} bytes of them, and smaps has {smaps_bytes}",
            "capture again while the program is stopped",
            exit_code=EXIT_FAILED,
            code="mapping/smaps",
        )
