"""Regions, first touches, kinds and free blocks: what is taken and what is refused."""

from __future__ import annotations

import pytest

from tessera.core.errors import TesseraError
from tessera.core.mapping.contiguity import chunk_pages
from tessera.core.mapping.kinds import (
    KINDS,
    MappingInputs,
    enough_free_blocks,
    make_single,
    parse_free_blocks,
)
from tessera.core.mapping.paging import read_touches
from tessera.core.mapping.synthetic import UsedPages, regions_of_texts, regions_of_trace


def test_regions_of_a_trace_are_its_used_spans():
    pools = [
        {"kind": "mmap", "used_bytes": (1 << 30) + 1, "size_bytes": 1 << 34},
        {"kind": "brk", "used_bytes": 4096, "size_bytes": 1 << 30},
    ]
    assert regions_of_trace({"pools": pools}) == [UsedPages("brk", 1), UsedPages("mmap", (1 << 18) + 1)]
    assert regions_of_trace({"pools": pools[:1]}) == [UsedPages("mmap", (1 << 18) + 1)]


def test_regions_of_words():
    assert regions_of_texts(["mmap=8GB", "brk=5KB"]) == [UsedPages("brk", 2), UsedPages("mmap", 1 << 21)]


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["mmap"], "mmap"),
        (["file=1GB"], "file"),
        (["mmap=1XB"], "1XB"),
        (["mmap=1GB", "mmap=2GB"], "mmap=2GB"),
        ([f"mmap={1 << 48}"], str(1 << 48)),
        (["mmap=0"], "--pool"),
    ],
)
def test_bad_regions(words, value):
    with pytest.raises(TesseraError) as refused:
        regions_of_texts(words)
    assert value in str(refused.value)


def touches(tmp_path, text):
    path = tmp_path / "touches.csv"
    path.write_text(text)
    return read_touches(path)


def test_first_touches(tmp_path):
    found = touches(tmp_path, "pool,page,access\nmmap,7,0\nbrk,7,3\nmmap,2,90\n")
    columns = (found.pool, found.page, found.access)
    assert [c.tolist() for c in columns] == [[1, 0, 1], [7, 7, 2], [0, 3, 90]]


@pytest.mark.parametrize(
    ("text", "code", "value"),
    [
        ("", "touches-form", "pool,page,access"),
        ("pool,page\n", "touches-form", "line 1"),
        ("pool,page,access\nmmap,1,0\nfile,1,0\n", "touches-form", "line 3"),
        ("pool,page,access\nmmap,1,0\nmmap,-1,4\n", "touches-form", "line 3"),
        ("pool,page,access\nmmap,1,0", "touches-form", "line 2"),
        ("pool,page,access\nmmap,1,0\nmmap,1,4\n", "touches-order", "line 3"),
        ("pool,page,access\nmmap,1,5\nmmap,2,4\n", "touches-order", "line 3"),
        ("pool,page,access\nmmap,1,5\nmmap,3,5\n", "touches-order", "line 3"),
        ("pool,page,access\nmmap,2,5\nmmap,1,5\n", "touches-order", "line 3"),
        ("pool,page,access\nmmap,1,5\nmmap,2,5\nmmap,3,5\n", "touches-order", "line 4"),
        (f"pool,page,access\nmmap,{1 << 36},5\n", "touches-order", "line 2"),
    ],
)
def test_bad_touches(tmp_path, text, code, value):
    with pytest.raises(TesseraError) as refused:
        touches(tmp_path, text)
    assert refused.value.code == code and value in refused.value.found


def test_an_access_that_crosses_a_page_touches_two(tmp_path):
    found = touches(tmp_path, "pool,page,access\nmmap,4,0\nmmap,1,5\nmmap,2,5\nmmap,7,9\nbrk,0,9\n")
    assert found.page.tolist() == [4, 1, 2, 7, 0] and found.access.tolist() == [0, 5, 5, 9, 9]


def test_missing_touches(tmp_path):
    with pytest.raises(TesseraError) as refused:
        read_touches(tmp_path / "none")
    assert refused.value.code == "touches-file"


def test_free_blocks():
    assert parse_free_blocks("10=4,0=7") == {10: 4, 0: 7}
    for text in ("11=1", "10", "10=-1", "10=4,10=4", "", "a=1", f"0={1 << 36}"):
        with pytest.raises(TesseraError) as refused:
            parse_free_blocks(text)
        assert f"--free {text}" in refused.value.asked


@pytest.mark.parametrize("pages", [1, 511, 1024, 1025, 5000])
def test_the_default_memory_suffices(pages):
    regions = [UsedPages("brk", pages), UsedPages("mmap", pages)]
    assert enough_free_blocks(regions)[10] * 1024 >= 2 * pages
    made = make_single("eager", MappingInputs(regions))
    assert made.rows.pages.sum() == 2 * pages and len(made.report) == 2


def test_kinds_are_those_of_the_paper():
    assert list(KINDS)[:6] == ["low", "medium", "high", "max", "demand", "eager"]
    assert list(KINDS)[6:] == ["demand-adjacent", "eager-adjacent"]
    with pytest.raises(TesseraError) as refused:
        make_single("huge", MappingInputs([UsedPages("brk", 1)]))
    assert "huge" in refused.value.asked and "medium" in refused.value.remedy
    for kind in ("demand", "demand-adjacent"):
        with pytest.raises(TesseraError) as refused:
            make_single(kind, MappingInputs([UsedPages("brk", 1)]))
        assert refused.value.code == "mapping/no-touches" and refused.value.asked.endswith(kind)


def test_adjacent_kinds_have_their_plain_options_and_longer_chunks():
    regions = [UsedPages("mmap", 8192)]
    largest = {
        kind: int(chunk_pages(make_single(kind, MappingInputs(regions)).rows).max())
        for kind in ("eager", "eager-adjacent")
    }
    assert largest == {"eager": 1024, "eager-adjacent": 8192}
    # free blocks of other orders stay apart
    small = make_single("eager-adjacent", MappingInputs([UsedPages("mmap", 512)], free={3: 64})).rows
    assert set(chunk_pages(small).tolist()) == {8}
