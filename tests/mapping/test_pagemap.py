"""Words of pagemap and kpageflags as rows, on words written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.core.mapping.capture import captured_rows, check_large_pages, present_frames

PRESENT, SWAPPED, SOFT_DIRTY = 1 << 63, 1 << 62, 1 << 55
THP, HUGETLB, OTHER = 1 << 22, 1 << 17, 1 << 5


def words(*values):
    return np.array(values, dtype=np.uint64)


def rows(table, pool="mmap"):
    """Of (page, frame, flags)."""
    page, frame, flags = np.array(table, dtype=np.int64).T
    return captured_rows(pool, page, frame, flags.astype(np.uint64))


def run(page, frame, pages, flags):
    return [(page + i, frame + i, flags) for i in range(pages)]


def test_frames_of_present_pages():
    page, frame = present_frames("brk", words(0, PRESENT | 7, 0, PRESENT | SOFT_DIRTY | ((1 << 40) - 1)))
    assert page.tolist() == [1, 3] and frame.tolist() == [7, (1 << 40) - 1]
    assert [len(part) for part in present_frames("brk", words(0, 0))] == [0, 0]


@pytest.mark.parametrize(
    ("given", "code", "value"),
    [
        (words(0, PRESENT, PRESENT), "mapping/hidden-frames", "CAP_SYS_ADMIN"),
        (words(PRESENT | 5, SWAPPED | 9), "mapping/swapped", "1 "),
    ],
)
def test_words_without_frames_are_refused(given, code, value):
    with pytest.raises(TesseraError) as refused:
        present_frames("mmap", given)
    assert refused.value.code == code and value in refused.value.found


@pytest.mark.parametrize("flag", [THP, HUGETLB])
def test_large_pages_have_the_flag_and_are_aligned(flag):
    found = rows(run(510, 1022, 2, OTHER) + run(512, 1024, 512, flag | OTHER) + run(1024, 1536, 9, OTHER))
    assert found.tuples() == [
        ("mmap", 510, 1022, 2, "4KB"),
        ("mmap", 512, 1024, 512, "2MB"),
        ("mmap", 1024, 1536, 9, "4KB"),
    ]


@pytest.mark.parametrize(
    "table",
    [
        run(512, 1024, 512, OTHER),  # contiguous, but of single pages
        run(512, 1025, 512, THP),  # mapped by single entries: not aligned
        run(513, 1025, 511, THP),  # a part of a large page
    ],
)
def test_other_runs_have_4kb_pages(table):
    assert [row[4] for row in rows(table).tuples()] == ["4KB"]


def test_gaps_end_rows():
    found = rows([(0, 10, 0), (1, 11, 0), (3, 12, 0), (4, 14, 0)], "brk")
    assert [row[1:4] for row in found.tuples()] == [(0, 10, 2), (3, 12, 1), (4, 14, 1)]
    none = np.zeros(0, dtype=np.int64)
    assert len(captured_rows("brk", none, none, none.astype(np.uint64))) == 0


def test_large_pages_are_those_of_smaps():
    found = rows(run(0, 512, 1024, THP))
    check_large_pages("mmap", found, 4 << 20)
    with pytest.raises(TesseraError) as refused:
        check_large_pages("mmap", found, 2 << 20)
    assert refused.value.code == "mapping/smaps" and str(4 << 20) in refused.value.found
