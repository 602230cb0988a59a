"""A mapping as a plain dictionary, a page at a time: slow, and obvious. The package is compared with it."""

from __future__ import annotations

from tessera.core.mapping.page_mapping import POOLS, SIZE_NAMES, SIZES, MappingRows


def pages_of(rows: MappingRows) -> dict[tuple[str, int], tuple[int, int]]:
    """(pool, page) -> (frame, pages of 4KB in its page)."""
    found = {}
    for pool, page, frame, pages, size in rows.tuples():
        for i in range(pages):
            assert (pool, page + i) not in found, "two rows have the same page"
            if frame is not None:
                found[pool, page + i] = frame + i, SIZES[size]
    return found


def sound(pages: dict) -> None:
    """Frames differ, and large pages are whole and aligned on both sides."""
    frames = [frame for frame, _ in pages.values()]
    assert len(set(frames)) == len(frames)
    for (pool, page), (frame, size) in pages.items():
        first, begin = page - page % size, frame - frame % size
        assert page - first == frame - begin
        for i in range(0, size, max(1, size // 7)):
            assert pages[pool, first + i] == (begin + i, size)


def chunks_of(pages: dict) -> list[int]:
    """Lengths of chunks, by walking through the pages in order."""
    found, before = [], None
    for (pool, page), (frame, _) in sorted(
        pages.items(), key=lambda item: (POOLS.index(item[0][0]), item[0][1])
    ):
        if before == (pool, page - 1, frame - 1):
            found[-1] += 1
        else:
            found.append(1)
        before = pool, page, frame
    return found


def rows_of(pages: dict) -> MappingRows:
    """A row for each page of its size."""
    rows = [
        (pool, page, frame, size, SIZE_NAMES[size])
        for (pool, page), (frame, size) in pages.items()
        if page % size == 0
    ]
    return MappingRows.of(rows).in_order()
