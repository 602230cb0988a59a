"""Synthetic mappings against a loop that gives one chunk after the other its frames."""

from __future__ import annotations

import pytest

from tessera.core.errors import TesseraError
from tessera.core.mapping.synthetic import (
    CHUNK_LENGTHS,
    UsedPages,
    random_numbers,
    splitmix_outputs,
    synthetic_rows,
    uniform_numbers,
)

from .page_by_page import chunks_of, pages_of, sound

MASK = (1 << 64) - 1
REGIONS = [UsedPages("brk", 1000), UsedPages("mmap", 70_001)]


def splitmix(state: int):
    """The generator as its authors print it."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def obvious(kind: str, regions, seed: int, alignment: int) -> dict:
    """(pool, page) -> frame: the text of the specification as a loop over pages."""
    found, taken = {}, -2
    for region in regions:
        seeds = splitmix(seed)
        key = [next(seeds) for _ in range(region.number + 1)][-1]
        numbers = splitmix(key)
        v = 0
        while v < region.pages:
            length = region.pages
            if CHUNK_LENGTHS[kind]:
                low, high = CHUNK_LENGTHS[kind]
                length = low + (((next(numbers) >> 32) * (high - low + 1)) >> 32)
            frame = taken + 2 if taken >= 0 else 0  # one frame stays free
            frame += (v - frame) % alignment
            for _ in range(min(length, region.pages - v)):
                found[region.pool, v] = taken = frame
                v, frame = v + 1, frame + 1
    return found


@pytest.mark.parametrize("seed", [0, 2**63])
@pytest.mark.parametrize("alignment", [512, 8, 1])
@pytest.mark.parametrize("kind", CHUNK_LENGTHS)
def test_frames_are_those_of_a_loop(kind, alignment, seed):
    rows = synthetic_rows(kind, REGIONS, seed, alignment)
    assert rows.in_order().merged() == rows
    pages = pages_of(rows)
    sound(pages)
    expected = obvious(kind, REGIONS, seed, alignment)
    assert {key: frame for key, (frame, _) in pages.items()} == expected
    for pool, page in {(pool, page - page % 512) for pool, page in pages}:
        piece = [expected.get((pool, page + i)) for i in range(512)]
        first = piece[0]
        large = first is not None and first % 512 == 0 and piece == list(range(first, first + 512))
        sizes = {pages[pool, page + i][1] for i in range(512) if (pool, page + i) in pages}
        assert sizes == {512 if large else 1}


@pytest.mark.parametrize("kind", ["low", "medium", "high"])
def test_chunks_have_lengths_of_table_3_4_and_do_not_merge(kind):
    low, high = CHUNK_LENGTHS[kind]
    regions = [UsedPages("mmap", 600_000)]
    found = chunks_of(pages_of(synthetic_rows(kind, regions, 7)))
    assert all(low <= chunk <= high for chunk in found[:-1]) and sum(found) == 600_000
    mean = sum(found[:-1]) / (len(found) - 1)
    assert mean == pytest.approx((low + high) / 2, rel=0.5 if kind == "high" else 0.05)


def test_max_is_one_chunk_a_region_with_2mb_pages():
    rows = synthetic_rows("max", REGIONS, 1)
    assert chunks_of(pages_of(rows)) == [1000, 70_001]
    assert rows.tuples()[:2] == [("brk", 0, 0, 512, "2MB"), ("brk", 512, 512, 488, "4KB")]


def test_without_alignment_2mb_pages_are_rare():
    aligned, plain = (synthetic_rows("high", [UsedPages("mmap", 3_000_000)], 1, a) for a in (512, 1))
    shares = [r.pages[r.size == 512].sum() / r.pages.sum() for r in (aligned, plain)]
    assert shares[0] > 0.95 and shares[1] < 0.2


def test_a_region_has_its_own_numbers_and_a_seed_changes_them():
    one = synthetic_rows("medium", REGIONS, 1)
    alone = synthetic_rows("medium", REGIONS[:1], 1)
    assert pages_of(one.where(one.pool == 0)) == pages_of(alone)
    assert synthetic_rows("medium", REGIONS, 2) != one


def test_splitmix64_has_its_published_sequence():
    # first outputs from state 1234567, as in tests/workloads/test_xml.py, and from state 0
    assert splitmix_outputs(1234567, 2).tolist() == [6457827717110365317, 3203168211198807973]
    assert hex(splitmix_outputs(0, 1)[0]) == "0xe220a8397b1dcdaf"
    numbers = splitmix(99)
    assert splitmix_outputs(99, 50).tolist() == [next(numbers) for _ in range(50)]


def test_uniform_numbers_reach_both_ends():
    numbers = uniform_numbers(random_numbers(3, 1, 100_000), 5, 8)
    counts = [int((numbers == value).sum()) for value in range(5, 9)]
    assert sum(counts) == 100_000 and all(24_000 < count < 26_000 for count in counts)


@pytest.mark.parametrize("alignment", [0, 3, 1024, -1])
def test_other_alignments_are_refused(alignment):
    with pytest.raises(TesseraError) as refused:
        synthetic_rows("low", REGIONS, 1, alignment)
    assert str(alignment) in refused.value.asked
