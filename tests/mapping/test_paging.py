"""Demand and eager paging, against a buddy allocator and a page-fault handler that do one page at a time."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.core.mapping.free_blocks import ORDERS, Buddy
from tessera.core.mapping.kinds import enough_free_blocks
from tessera.core.mapping.page_mapping import POOLS
from tessera.core.mapping.paging import demand_paging, eager_paging
from tessera.core.mapping.synthetic import UsedPages

from .page_by_page import chunks_of, pages_of, sound


class SlowBuddy:
    """Lists of blocks; a split keeps the low half; the block freed last goes first."""

    def __init__(self, buddy: Buddy):
        self.free = [blocks.tolist() for blocks in buddy.free]

    def take(self, order: int) -> int | None:
        if order >= ORDERS:
            return None
        if self.free[order]:
            return self.free[order].pop()
        block = self.take(order + 1)
        if block is not None:
            self.free[order].append(block + (1 << order))
        return block


def slow_demand(regions, touched, buddy: SlowBuddy) -> dict:
    limit = {region.pool: region.pages for region in regions}
    found = {}
    for pool, page in touched:
        if (pool, page) in found:
            continue
        first = page - page % 512
        if first + 512 <= limit[pool]:
            block = buddy.take(9)
            if block is not None:
                found |= {(pool, first + i): (block + i, 512) for i in range(512)}
                continue
        found[pool, page] = buddy.take(0), 1
    return found


REGIONS = [UsedPages("brk", 1300), UsedPages("mmap", 5000)]
EVERY = [(region.pool, page) for region in REGIONS for page in range(region.pages)]

#: free blocks by order: plenty, fragmented, none large, mixed, only just enough
MEMORIES = {
    "plenty": {10: 20},
    "half fragmented": {10: 2, 9: 3, 3: 900},
    "single frames": {0: 7000},
    "every order": {order: 8 for order in range(11)},
    "small first": {0: 5, 1: 3, 10: 7},
}


def both(name, seed, touched):
    fast = Buddy.start(MEMORIES[name], seed)
    slow = SlowBuddy(fast)
    pool = np.array([POOLS.index(p) for p, _ in touched])
    rows = demand_paging(REGIONS, pool, np.array([page for _, page in touched]), fast)
    return pages_of(rows), slow_demand(REGIONS, touched, slow), fast, slow


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", MEMORIES)
def test_demand_is_that_of_one_fault_after_the_other(name, seed):
    touched = random.Random(seed).sample(EVERY, 6000 if seed % 2 else 2500)
    if sum(n << k for k, n in MEMORIES[name].items()) < 6300:
        touched = touched[:2000]
    found, expected, fast, slow = both(name, seed, touched)
    assert found == expected
    sound(found)
    assert [sorted(blocks.tolist()) for blocks in fast.free] == [sorted(blocks) for blocks in slow.free]
    assert set(touched) <= set(found)


def test_eager_is_demand_by_address():
    fast = Buddy.start({10: 2, 9: 1, 2: 2000}, 3)
    slow = SlowBuddy(fast)
    found = pages_of(eager_paging(REGIONS, fast))
    assert found == slow_demand(REGIONS, EVERY, slow)
    assert len(found) == 6300


def test_pages_that_no_large_page_can_hold():
    # brk has 1300 pages: two pieces of 512, and 276 pages that never get a large page
    found = pages_of(eager_paging(REGIONS, Buddy.start({10: 20}, 1)))
    sizes = [found["brk", page][1] for page in range(1300)]
    assert sizes == [512] * 1024 + [1] * 276


@pytest.mark.parametrize("count", [1, 7, 300, 1024])
def test_single_frames_in_bulk_are_those_of_single_requests(count):
    fast = Buddy.start({10: 1, 4: 3, 0: 2}, 5)
    slow = SlowBuddy(fast)
    assert fast.singles(count).tolist() == [slow.take(0) for _ in range(count)]
    assert [sorted(blocks.tolist()) for blocks in fast.free] == [sorted(blocks) for blocks in slow.free]


def test_free_blocks_at_the_start_are_aligned_and_never_adjacent():
    counts = {order: 40 - 3 * order for order in range(11)}
    buddy = Buddy.start(counts, 9)
    assert [len(blocks) for blocks in buddy.free] == [counts[order] for order in range(11)]
    spans = sorted(
        (block, block + (1 << order)) for order, blocks in enumerate(buddy.free) for block in blocks
    )
    assert all(low % (high - low) == 0 for low, high in spans)
    assert all(end < begin for (_, end), (begin, _) in zip(spans, spans[1:], strict=False))
    again, other = Buddy.start(counts, 9), Buddy.start(counts, 10)
    assert all(np.array_equal(a, b) for a, b in zip(buddy.free, again.free, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(buddy.free, other.free, strict=True))


@pytest.mark.parametrize(
    ("counts", "index"),
    [({10: 5}, 0), ({8: 5}, 1), ({}, 0), ({9: 1, 0: 512}, 0.5), ({10: 1, 9: 1, 8: 2}, 0.25)],
)
def test_unusable_index(counts, index):
    assert Buddy.start(counts, 1).unusable_index == index


def test_too_little_memory_is_refused_with_both_numbers():
    with pytest.raises(TesseraError) as refused:
        eager_paging(REGIONS, Buddy.start({0: 6000}, 1))
    assert refused.value.code == "mapping/out-of-memory"
    assert "6300" in refused.value.found and "6000" in refused.value.found


def test_a_touch_outside_its_region_is_refused():
    with pytest.raises(TesseraError) as refused:
        demand_paging(REGIONS, np.array([1, 0]), np.array([4999, 1300]), Buddy.start({10: 20}, 1))
    assert refused.value.code == "mapping/touch-outside" and "1300" in refused.value.asked


def test_adjacent_blocks_are_those_of_the_highest_order_and_ascend():
    counts = {order: 40 - 3 * order for order in range(11)}
    plain, buddy = Buddy.start(counts, 9), Buddy.start(counts, 9, adjacent=True)
    assert [len(blocks) for blocks in buddy.free] == [counts[order] for order in range(11)]
    spans = sorted(
        (block, block + (1 << order)) for order, blocks in enumerate(buddy.free) for block in blocks
    )
    assert all(low % (high - low) == 0 for low, high in spans)
    touching = [begin for (_, end), (begin, _) in zip(spans, spans[1:], strict=False) if end == begin]
    assert len(touching) == counts[10] - 1
    assert not any(end > begin for (_, end), (begin, _) in zip(spans, spans[1:], strict=False))
    taken = [buddy.block(10) for _ in range(counts[10])]
    assert taken == list(range(taken[0], taken[0] + 1024 * counts[10], 1024))
    scattered = [plain.block(10) for _ in range(counts[10])]
    assert 1024 not in np.abs(np.diff(sorted(scattered)))


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("pages", [512, 1300, 5000, 70_001])
def test_eager_paging_of_adjacent_blocks_is_one_chunk(pages, seed):
    regions = [UsedPages("mmap", pages)]
    free = enough_free_blocks(regions)
    found = pages_of(eager_paging(regions, Buddy.start(free, seed, adjacent=True)))
    sound(found)
    assert chunks_of(found) == [pages]
    apart = chunks_of(pages_of(eager_paging(regions, Buddy.start(free, seed))))
    assert max(apart) <= 1024


def test_demand_paging_of_adjacent_blocks_follows_the_touches():
    # Ascending first touches make one chunk of 16 MB. Descending ones make one of each 2MB page, but for the
    # two halves of a block, whose lower one goes to the higher page.
    regions = [UsedPages("mmap", 4096)]
    for step, chunks in ((1, [4096]), (-1, [512] * 8)):
        page = np.arange(0, 4096, 512)[::step]
        buddy = Buddy.start({10: 5}, 1, adjacent=True)
        assert chunks_of(pages_of(demand_paging(regions, np.ones_like(page), page, buddy))) == chunks


@pytest.mark.parametrize("seed", range(2))
def test_demand_of_adjacent_blocks_is_that_of_one_fault_after_the_other(seed):
    touched = random.Random(seed).sample(EVERY, 2500)
    fast = Buddy.start(MEMORIES["half fragmented"], seed, adjacent=True)
    slow = SlowBuddy(fast)
    pool = np.array([POOLS.index(p) for p, _ in touched])
    rows = demand_paging(REGIONS, pool, np.array([page for _, page in touched]), fast)
    assert pages_of(rows) == slow_demand(REGIONS, touched, slow)
