"""Epochs applied to rows, against a dictionary of pages."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tessera.core.mapping.page_mapping import SIZES, MappingRows, cut_pages, replaced_rows, rows_of_change

from .page_by_page import pages_of, rows_of

SMALL = {"4KB": 1, "2MB": 512}


def random_rows(rng: random.Random, unmapped: bool) -> MappingRows:
    """Sorted disjoint rows over 3072 pages of each pool; frames are not checked here."""
    rows = []
    for pool in ("brk", "mmap"):
        page = 0
        while page < 3000:
            size = rng.choice(["4KB", "4KB", "2MB"])
            page += rng.choice([0, rng.randrange(700)])
            page = -(-page // SIZES[size]) * SIZES[size]
            pages = SIZES[size] * rng.randint(1, 3 if size == "2MB" else 300)
            if page + pages > 3072:
                break
            frame = rng.randrange(1000) * 512 + (page % 512 if rng.random() < 0.5 else 0)
            gone = unmapped and size == "4KB" and rng.random() < 0.3
            rows.append((pool, page, None if gone else frame, pages, size))
            page += pages
    return MappingRows.of(rows)


@pytest.mark.parametrize("seed", range(40))
def test_an_epoch_replaces_pages(seed):
    rng = random.Random(seed)
    state, change = random_rows(rng, False), random_rows(rng, True)
    expected = pages_of(state)
    cut = set()
    for pool, page, frame, pages, size in change.tuples():
        for i in range(pages):
            expected.pop((pool, page + i), None)
            if frame is not None:
                expected[pool, page + i] = frame + i, SIZES[size]
    # a page of the old state that lost a part of its pages was cut
    changed = {(pool, page + i) for pool, page, _, pages, _ in change.tuples() for i in range(pages)}
    for (pool, page), (_, size) in pages_of(state).items():
        whole = {(pool, page - page % size + i) for i in range(size)}
        if whole & changed and not whole <= changed:
            cut.add((pool, page - page % size))
    found = replaced_rows(state, change)
    assert pages_of(found) == expected
    assert found == found.merged() == found.in_order()
    assert bool(cut) == bool(cut_pages(state, change).any())


def with_split_pages(state: MappingRows, rng: random.Random) -> MappingRows:
    """The state after some of its pages lost a 4KB page: the rest of a 2MB page is 4KB pages then."""
    pages = pages_of(state)
    for pool, page in rng.sample(sorted(pages), 5):
        size = pages.pop((pool, page), (0, 1))[1]
        for i in range(page - page % size, page - page % size + size):
            if (pool, i) in pages:
                pages[pool, i] = pages[pool, i][0], 1
    return rows_of(pages).merged()


@pytest.mark.parametrize("seed", range(40))
def test_a_difference_leads_from_one_state_to_the_other(seed):
    rng = random.Random(seed)
    old = replaced_rows(MappingRows.empty(), random_rows(rng, False))
    new = random_rows(rng, False).merged() if seed % 2 else with_split_pages(old, rng)
    change = rows_of_change(old, new)
    assert pages_of(replaced_rows(old, change)) == pages_of(new)
    assert len(rows_of_change(new, new)) == 0
    before, after = pages_of(old), pages_of(new)
    named = {(pool, page + i) for pool, page, _, pages, _ in change.tuples() for i in range(pages)}
    assert named == {key for key in before | after if before.get(key) != after.get(key)}


def test_splitting_keeps_pages():
    rows = MappingRows.of([("brk", 3, 10, 9, "4KB"), ("mmap", 0, 512, 512, "2MB")])
    pieces = rows.split(np.array([0, 5, 7, 12, 13, (1 << 40) + 100]))
    assert pieces.page.tolist() == [3, 5, 7, 0, 100]
    assert pieces.frame.tolist() == [10, 12, 14, 512, 612]
    assert pieces.pages.tolist() == [2, 2, 5, 100, 412]


def test_rows_of_no_rows():
    none = MappingRows.empty()
    assert replaced_rows(none, none) == rows_of_change(none, none) == none
    one = MappingRows.of([("brk", 0, 0, 1, "4KB")])
    assert rows_of_change(none, one) == replaced_rows(none, one) == one
    assert rows_of_change(one, none).tuples() == [("brk", 0, None, 1, "4KB")]
    assert rows_of(pages_of(one)) == one
