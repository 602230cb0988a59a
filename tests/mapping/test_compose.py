"""A guest over a host, against one page at a time."""

from __future__ import annotations

import random

import pytest

from tessera.core.errors import TesseraError
from tessera.core.mapping.contiguity import chunk_pages
from tessera.core.mapping.page_mapping import MappingRows, PageMapping, compose_mappings, compose_states
from tessera.core.mapping.synthetic import UsedPages, synthetic_rows

from .page_by_page import pages_of, sound


def test_chunks_intersect():
    guest = MappingRows.of([("brk", 0, 0, 4, "4KB")])
    host = MappingRows.of([("mmap", 0, 70, 2, "4KB"), ("mmap", 2, 80, 2, "4KB")])
    found = compose_states(guest, host)
    assert found.tuples() == [("brk", 0, 70, 2, "4KB"), ("brk", 2, 80, 2, "4KB")]
    assert chunk_pages(found).tolist() == [2, 2]


@pytest.mark.parametrize(
    "sizes", [("2MB", "2MB", "2MB"), ("2MB", "4KB", "4KB"), ("4KB", "2MB", "4KB"), ("2MB", "1GB", "2MB")]
)
def test_the_smaller_page_counts(sizes):
    guest, host, expected = sizes
    pages = 262144 if host == "1GB" else 1024
    over = MappingRows.of([("mmap", 0, 262144, pages, host)])
    found = compose_states(MappingRows.of([("mmap", 512, 0, 512, guest)]), over)
    assert found.tuples() == [("mmap", 512, 262144, 512, expected)]


@pytest.mark.parametrize("seed", range(12))
def test_pages_are_those_of_two_look_ups(seed):
    rng = random.Random(seed)
    kinds = ["low", "medium", "high", "max"]
    guest = synthetic_rows(
        rng.choice(kinds), [UsedPages("brk", 700), UsedPages("mmap", 3000)], seed, rng.choice([1, 8])
    )
    needed = int((guest.frame + guest.pages).max())
    host = synthetic_rows(rng.choice(kinds), [UsedPages("mmap", needed)], seed + 1, rng.choice([1, 512]))
    table, found = pages_of(host), pages_of(compose_states(guest, host))
    expected = {}
    for key, (frame, size) in pages_of(guest).items():
        below, below_size = table["mmap", frame]
        expected[key] = below, min(size, below_size)
    assert found == expected
    sound(found)


def test_epochs_of_both():
    guest = PageMapping(
        "g", {0: MappingRows.of([("brk", 0, 0, 2, "4KB")]), 10: MappingRows.of([("brk", 1, None, 1, "4KB")])}
    )
    host = PageMapping(
        "h", {0: MappingRows.of([("mmap", 0, 50, 9, "4KB")]), 5: MappingRows.of([("mmap", 0, 90, 1, "4KB")])}
    )
    found = compose_mappings(guest, host)
    assert found.name == "g-over-h"
    assert {epoch: rows.tuples() for epoch, rows in found.epochs.items()} == {
        0: [("brk", 0, 50, 2, "4KB")],
        5: [("brk", 0, 90, 1, "4KB")],
        10: [("brk", 1, None, 1, "4KB")],
    }


def test_a_frame_that_the_host_does_not_map_is_named():
    host = MappingRows.of([("mmap", 0, 0, 100, "4KB"), ("brk", 100, 500, 9, "4KB")])
    with pytest.raises(TesseraError) as refused:
        compose_states(MappingRows.of([("brk", 7, 98, 5, "4KB")]), host)
    assert refused.value.code == "mapping/host" and "100" in refused.value.found
