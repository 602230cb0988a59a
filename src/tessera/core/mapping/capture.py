"""The mapping of a stopped process: words of pagemap and kpageflags, and how they are read."""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.mapping.page_mapping import PAGES_OF_2MB, POOLS, MappingRows
from tessera.core.mapping.synthetic import with_large_pages
from tessera.core.units import PAGE_4KB

# Rows from what Linux says of a running process: /proc/PID/pagemap and /proc/kpageflags.
#
# Both files have one 64-bit word for each page or frame (Linux, admin-guide/mm/pagemap). A word of pagemap
# has the frame in bits 0-54, bit 62 for a swapped page, bit 63 for a present one. Without CAP_SYS_ADMIN the
# kernel shows frame 0 for every page, which is an error here and never a mapping. A 2MB page has bit 22
# (THP) or bit 17 (hugetlb) of kpageflags in all its 512 frames, and is aligned on both sides.
#
# The functions of this part know the words only; those behind it read the files. In a virtual machine,
# frames are the guest's.

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


def captured_rows(pool: str, page: np.ndarray, frame: np.ndarray, flags: np.ndarray) -> MappingRows:
    """Rows of one pool; 2MB pages where flags and alignment say so.

    Args:
        page, frame: ascending pages of the pool and their frames, as :func:`present_frames` returns them.
        flags: words of kpageflags of these frames, uint64.
    """
    number = POOLS.index(pool)
    if not len(page):
        return MappingRows.empty()
    large = (flags & LARGE) != 0
    apart = (np.diff(page) != 1) | (np.diff(frame) != 1) | (large[1:] != large[:-1])
    first = np.concatenate(([0], np.flatnonzero(apart) + 1))
    pages = np.diff(np.append(first, len(page)))
    runs, marked = (page[first], frame[first], pages), large[first]
    start, frames, counts = (column[~marked] for column in runs)
    parts = [
        with_large_pages(number, *(column[marked] for column in runs)),
        MappingRows(np.full(len(start), number), start, frames, counts, np.ones(len(start), dtype=np.int64)),
    ]
    return MappingRows.joined(parts).in_order().merged()


def check_large_pages(pool: str, rows: MappingRows, smaps_bytes: int) -> None:
    """Compare 2MB pages with the sum of AnonHugePages (and Private_Hugetlb) of the pool's lines in smaps.

    Raises:
        TesseraError: the two differ, so one of the sources was read while pages changed (``mapping/smaps``).
    """
    found = int(rows.pages[rows.size == PAGES_OF_2MB].sum()) * PAGE_4KB
    if found != smaps_bytes:
        raise TesseraError(
            f"2MB pages of pool {pool}",
            f"kpageflags has {found} bytes of them, and smaps has {smaps_bytes}",
            "capture again while the program is stopped",
            exit_code=EXIT_FAILED,
            code="mapping/smaps",
        )


# The mapping of a stopped process, from its pagemap and smaps and from kpageflags.
#
# Everything is read in large blocks, because a pool of 8GB has 2 million pages. A word of kpageflags is read
# only where it can matter: for frames that could form a 2MB page (512 of them, contiguous and aligned on
# both sides), and for pages that other mappings share. Linux 6.7 and later also say which ranges are mapped
# by 2MB entries (the ioctl PAGEMAP_SCAN); a large folio that is mapped by 4KB entries has the same flags.
#
# Pages that were only read so far have the kernel's zero page. It is no frame of the program, so they are
# left out and counted. The kernel may move pages of a stopped process (compaction, khugepaged). Therefore
# pagemap is read again at the end, 2MB pages are compared with smaps, and a difference starts a new attempt.

PROC = Path("/proc")
ATTEMPTS = 4  #: the first one, and 3 more
_AGAIN = ("mapping/smaps", "mapping/swapped", "mapping/changed")  # pages in migration look swapped
_WORD = 8
_BLOCK = 1 << 24
_CAP_SYS_ADMIN = 1 << 21
_EXCLUSIVE, _ZERO_PAGE = np.uint64(1 << 56), np.uint64(1 << 24)
_WITHOUT_DIRTY = ~np.uint64(1 << 55)
_GAP = 64  #: frames that are read in vain rather than by one more call
_PAGEMAP_SCAN, _IS_HUGE, _REGIONS = 0xC0606610, 1 << 6, 4096


@dataclass(frozen=True)
class Span:
    """The part of a pool that was ever allocated: ``base`` is a virtual address, both in bytes."""

    pool: str
    base: int
    used_bytes: int


@dataclass(frozen=True)
class Captured:
    """Rows of both pools, and the number of pages that were left out because they have the zero page."""

    rows: MappingRows
    zero_pages: int


def check_allowed(proc: Path = PROC) -> None:
    """Reject, before a program starts, what would fail afterwards.

    Raises:
        TesseraError: no CAP_SYS_ADMIN (``mapping/hidden-frames``), or kpageflags cannot be read
            (``mapping/kpageflags``).
    """
    found = re.search(r"^CapEff:\s*([0-9a-f]+)$", (proc / "self/status").read_text(), re.MULTILINE)
    if found and not int(found.group(1), 16) & _CAP_SYS_ADMIN:
        raise TesseraError(
            "frames of a program",
            "this process has no CAP_SYS_ADMIN, so the kernel shows frame 0 for every page",
            "run as root, outside of containers without this capability",
            code="mapping/hidden-frames",
        )
    os.close(_opened(proc / "kpageflags"))


def capture_pools(pid: int, spans: Sequence[Span], proc: Path = PROC) -> Captured:
    """The mapping of the pools of a process whose tasks are all stopped.

    Raises:
        TesseraError: frames are hidden, pages are swapped, the pages changed in every attempt
            (``mapping/changed``, ``mapping/smaps``), no page is mapped (``mapping/no-pools``), the process
            ended (``mapping/ended``), or kpageflags cannot be read.
    """
    for attempt in range(ATTEMPTS):
        try:
            return _captured(pid, spans, proc)
        except TesseraError as error:
            if error.code not in _AGAIN or attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def _captured(pid: int, spans: Sequence[Span], proc: Path) -> Captured:
    parts, zero_pages = [], 0
    pagemap = _opened(proc / str(pid) / "pagemap")
    try:
        kpageflags = _opened(proc / "kpageflags")
        try:
            for span in spans:
                rows, zeros = _span_rows(pagemap, kpageflags, span)
                check_large_pages(span.pool, rows, _huge_bytes(proc / str(pid) / "smaps", span))
                parts.append(rows)
                zero_pages += zeros
        finally:
            os.close(kpageflags)
    finally:
        os.close(pagemap)
    rows = MappingRows.joined(parts)
    if not len(rows):
        raise TesseraError(
            f"pools of process {pid}",
            "no page of them has a frame",
            "capture later, when the program has written to its memory",
            exit_code=EXIT_FAILED,
            code="mapping/no-pools",
        )
    return Captured(rows.in_order().merged(), zero_pages)


def _span_rows(pagemap: int, kpageflags: int, span: Span) -> tuple[MappingRows, int]:
    first, pages = span.base // PAGE_4KB, -(-span.used_bytes // PAGE_4KB)
    words = _words(pagemap, first, pages)
    page, frame = present_frames(span.pool, words)
    shared = np.flatnonzero((words[page] & _EXCLUSIVE) == 0)
    zero = np.zeros(len(page), dtype=bool)
    zero[shared] = (_flags(kpageflags, frame[shared]) & _ZERO_PAGE) != 0
    page, frame = page[~zero], frame[~zero]
    whole = _could_be_large(page, frame)
    huge = _mapped_huge(pagemap, span)
    if huge is not None:
        whole = whole[np.isin(page[whole], huge)]
    flags = np.zeros(len(page), dtype=np.uint64)
    for at in whole.tolist():
        words_of_piece = _words(kpageflags, int(frame[at]), PAGES_OF_2MB)
        if (words_of_piece & LARGE).all():
            flags[at : at + PAGES_OF_2MB] = words_of_piece
    changed = int(((_words(pagemap, first, pages) ^ words) & _WITHOUT_DIRTY != 0).sum())
    if changed:
        raise TesseraError(
            f"pages of pool {span.pool}",
            f"{changed} changed while they were read",
            "capture again with less load on the machine",
            exit_code=EXIT_FAILED,
            code="mapping/changed",
        )
    return captured_rows(span.pool, page, frame, flags), int(zero.sum())


def _could_be_large(page: np.ndarray, frame: np.ndarray) -> np.ndarray:
    """Positions where 512 contiguous pages with contiguous frames begin, aligned on both sides."""
    begin = np.flatnonzero((page % PAGES_OF_2MB == 0) & (frame % PAGES_OF_2MB == 0))
    begin = begin[begin + PAGES_OF_2MB <= len(page)]
    breaks = np.concatenate(([0], np.cumsum((np.diff(page) != 1) | (np.diff(frame) != 1))))
    return begin[breaks[begin + PAGES_OF_2MB - 1] == breaks[begin]]


def _flags(kpageflags: int, frame: np.ndarray) -> np.ndarray:
    """Words of kpageflags of these frames, in any order."""
    if not len(frame):
        return np.zeros(0, dtype=np.uint64)
    known = np.sort(frame)  # np.unique takes many times longer
    known = known[np.concatenate(([True], np.diff(known) != 0))]
    cuts = np.flatnonzero(np.diff(known) > _GAP) + 1
    found = np.zeros(len(known), dtype=np.uint64)
    starts, ends = np.concatenate(([0], cuts)), np.append(cuts, len(known))
    for low, high in zip(starts.tolist(), ends.tolist(), strict=True):
        begin = int(known[low])
        words = _words(kpageflags, begin, int(known[high - 1]) + 1 - begin)
        found[low:high] = words[known[low:high] - begin]
    return found[np.searchsorted(known, frame)]


def _words(descriptor: int, first: int, count: int) -> np.ndarray:
    """``count`` words of a file from word ``first`` on; behind the file's end they are 0."""
    found = np.zeros(count, dtype=np.uint64)
    view = found.data.cast("B")
    at = 0
    while at < len(view):
        try:
            got = os.preadv(descriptor, [view[at : at + _BLOCK]], first * _WORD + at)
        except OSError as error:
            raise _unreadable(Path(f"/proc/self/fd/{descriptor}").resolve(), error) from None
        if got == 0:
            break
        at += got
    return found


def _mapped_huge(pagemap: int, span: Span) -> np.ndarray | None:
    """First pages of all ranges of 2MB that one entry maps; None if this kernel cannot tell."""
    found: list[np.ndarray] = []
    at, end = span.base, span.base + -(-span.used_bytes // PAGE_4KB) * PAGE_4KB
    while at < end:
        regions = np.zeros((_REGIONS, 3), dtype=np.uint64)
        words = (96, 0, at, end, 0, regions.ctypes.data, _REGIONS, 0, 0, _IS_HUGE, 0, _IS_HUGE)
        request = (ctypes.c_uint64 * 12)(*words)
        try:
            count = fcntl.ioctl(pagemap, _PAGEMAP_SCAN, request)
        except OSError:  # Linux before 6.7, or a file in a test
            return None
        for begin, behind, _ in regions[:count].tolist():
            found.append(np.arange((begin - span.base) // PAGE_4KB, (behind - span.base) // PAGE_4KB))
        at = max(int(request[4]), at + PAGE_4KB)
    pages = np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
    return pages[pages % PAGES_OF_2MB == 0]


def _huge_bytes(smaps: Path, span: Span) -> int:
    """AnonHugePages and Private_Hugetlb of the mappings that begin in the pool's used part."""
    total, inside = 0, False
    try:
        with smaps.open() as stream:
            for line in stream:
                name, _, value = line.partition(" ")
                if name in ("AnonHugePages:", "Private_Hugetlb:"):
                    total += inside * int(value.split()[0]) * 1024
                elif not name.endswith(":"):
                    start = int(name.partition("-")[0], 16)
                    inside = span.base <= start < span.base + span.used_bytes
    except OSError as error:
        raise _unreadable(smaps, error) from None
    return total


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError) -> TesseraError:
    if path.name == "kpageflags":
        remedy = "run as root, on a kernel with CONFIG_PROC_PAGE_MONITOR and outside of containers"
        code = "mapping/kpageflags"
    else:
        remedy, code = "capture while the program runs, as root", "mapping/ended"
    found = error.strerror or str(error)
    return TesseraError(f"read {path}", found, remedy, exit_code=EXIT_FAILED, code=code)
