"""The mapping file: what is read, what is written, and every rule by its code."""

from __future__ import annotations

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.core.mapping import mapping_file
from tessera.core.mapping.mapping_file import RULES, MappingRefused, read_mapping, write_mapping
from tessera.core.mapping.page_mapping import MappingRows, PageMapping

HEAD = "epoch,pool,page,frame,pages,page_size\n"
GOOD = HEAD + (
    "0,brk,0,100,5,4KB\n"
    "0,mmap,0,1024,1024,2MB\n"
    "0,mmap,1024,3000,7,4KB\n"
    "50,brk,2,,1,4KB\n"
    "50,mmap,1031,9000,1,4KB\n"
)


def read(tmp_path, text):
    path = tmp_path / "m.csv"
    path.write_bytes(text.encode("latin-1"))
    return read_mapping(path)


def test_epochs_change_what_they_name(tmp_path):
    found = read(tmp_path, GOOD)
    assert found.name == "m" and list(found.epochs) == [0, 50]
    first = [
        ("brk", 0, 100, 5, "4KB"),
        ("mmap", 0, 1024, 1024, "2MB"),
        ("mmap", 1024, 3000, 7, "4KB"),
    ]
    assert found.at(0).tuples() == found.at(49).tuples() == first
    assert found.at(50).tuples() == [
        ("brk", 0, 100, 2, "4KB"),
        ("brk", 3, 103, 2, "4KB"),
        *first[1:],
        ("mmap", 1031, 9000, 1, "4KB"),
    ]


def test_what_is_written_is_read_again(tmp_path):
    found = read(tmp_path, GOOD)
    write_mapping(found, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == GOOD


def test_neighbours_of_one_offset_and_size_are_one_row(tmp_path):
    found = read(tmp_path, HEAD + "0,mmap,0,10,1,4KB\n0,mmap,1,11,2,4KB\n0,mmap,3,14,1,4KB\n")
    assert found.at(0).tuples() == [("mmap", 0, 10, 3, "4KB"), ("mmap", 3, 14, 1, "4KB")]


@pytest.mark.parametrize(
    "text",
    [GOOD.replace("\n", "\r\n"), GOOD.rstrip("\n"), GOOD.replace("0,brk,0,100", "000,brk,00,0100")],
    ids=["crlf", "no final line end", "leading zeros"],
)
def test_other_forms_of_the_same_file(tmp_path, text):
    found, plain = read(tmp_path, text), read(tmp_path, GOOD)
    assert [list(m.epochs) for m in (found, plain)] == [[0, 50]] * 2
    assert all(found.epochs[e] == plain.epochs[e] for e in plain.epochs)


def test_both_ways_to_parse_agree():
    data = GOOD.encode()
    fast, slow = mapping_file._plain(data), mapping_file._by_line("m.csv", data)
    assert np.array_equal(fast[0], slow[0]) and fast[1] == slow[1]


P36, P40 = 1 << 36, 1 << 40

#: name -> (rule, line, text after the header)
BAD = {
    "an empty file": ("mapping/header", 1, None),
    "header": ("mapping/header", 1, None),
    "five cells": ("mapping/columns", 2, "0,brk,0,0,1\n"),
    "blank line": ("mapping/columns", 3, "0,brk,0,0,1,4KB\n\n0,brk,1,1,1,4KB\n"),
    "unknown pool": ("mapping/pool", 2, "0,file,0,0,1,4KB\n"),
    "pool in capitals": ("mapping/pool", 2, "0,BRK,0,0,1,4KB\n"),
    "unknown size": ("mapping/page-size", 2, "0,brk,0,0,1,8KB\n"),
    "size in bytes": ("mapping/page-size", 2, "0,brk,0,0,1,4096\n"),
    "sign": ("mapping/number", 2, "0,brk,-1,0,1,4KB\n"),
    "plus": ("mapping/number", 2, "0,brk,0,+1,1,4KB\n"),
    "blank before a number": ("mapping/number", 2, "0,brk, 0,0,1,4KB\n"),
    "hexadecimal": ("mapping/number", 2, "0,brk,0x10,0,1,4KB\n"),
    "empty page": ("mapping/number", 2, "0,brk,,0,1,4KB\n"),
    "no epoch": ("mapping/number", 2, ",brk,0,0,1,4KB\n"),
    "no pages": ("mapping/range", 2, "0,brk,0,0,0,4KB\n"),
    "page 2^36": ("mapping/range", 2, f"0,brk,{P36},0,1,4KB\n"),
    "pages 2^36": ("mapping/range", 2, f"0,brk,0,0,{P36},4KB\n"),
    "frame 2^40": ("mapping/range", 2, f"0,brk,0,{P40},1,4KB\n"),
    "epoch 2^63": ("mapping/range", 3, f"0,brk,0,0,1,4KB\n{1 << 63},brk,1,1,1,4KB\n"),
    "thirty digits": ("mapping/range", 2, f"0,brk,{'9' * 30},0,1,4KB\n"),
    "page not aligned": ("mapping/alignment", 2, "0,mmap,1,512,512,2MB\n"),
    "frame not aligned": ("mapping/alignment", 2, "0,mmap,512,1,512,2MB\n"),
    "pages not aligned": ("mapping/alignment", 2, "0,mmap,512,512,513,2MB\n"),
    "1GB not aligned": ("mapping/alignment", 2, "0,mmap,512,512,262144,1GB\n"),
    "epochs descend": ("mapping/unsorted", 3, "7,brk,0,0,1,4KB\n0,brk,1,1,1,4KB\n"),
    "pools descend": ("mapping/unsorted", 3, "0,mmap,0,0,1,4KB\n0,brk,1,1,1,4KB\n"),
    "pages descend": ("mapping/unsorted", 3, "0,brk,5,0,1,4KB\n0,brk,1,1,1,4KB\n"),
    "one page twice": ("mapping/unsorted", 3, "0,brk,5,0,1,4KB\n0,brk,5,1,1,4KB\n"),
    "overlapping rows": ("mapping/overlap", 3, "0,brk,0,0,3,4KB\n0,brk,2,9,1,4KB\n"),
    "no rows": ("mapping/no-rows", 1, ""),
    "epoch 0 missing": ("mapping/first-epoch", 2, "1,brk,0,0,1,4KB\n"),
    "first epoch unmaps": ("mapping/first-unmapped", 3, "0,brk,0,0,1,4KB\n0,brk,1,,1,4KB\n"),
    "unmapped 2MB": ("mapping/unmapped-size", 3, "0,mmap,0,0,512,2MB\n9,mmap,0,,512,2MB\n"),
    "overlapping frames": ("mapping/frames", 3, "0,brk,0,10,3,4KB\n0,mmap,0,12,1,4KB\n"),
    "a frame still in use": ("mapping/frames", 4, "0,brk,0,10,2,4KB\n5,brk,0,,1,4KB\n9,brk,5,11,1,4KB\n"),
    "a part of a 2MB page": ("mapping/cut-page", 3, "0,mmap,0,0,1024,2MB\n5,mmap,0,5000,3,4KB\n"),
    "an end inside a 2MB page": (
        "mapping/cut-page",
        4,
        "0,mmap,0,0,1024,2MB\n5,mmap,0,,512,4KB\n5,mmap,512,,3,4KB\n",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_rules_by_their_codes(tmp_path, name):
    rule, line, text = BAD[name]
    if text is None:
        text = "" if name == "an empty file" else "pool,page\n"
    else:
        text = HEAD + text
    with pytest.raises(MappingRefused) as refused:
        read(tmp_path, text)
    assert (refused.value.rule, refused.value.line) == (rule, line)
    assert refused.value.code == rule and f"m.csv line {line}" in refused.value.asked


def test_every_rule_has_an_example():
    assert {rule for rule, *_ in BAD.values()} == set(RULES)


@pytest.mark.parametrize(
    "text",
    [
        f"0,brk,{P36 - 1},{P40 - 1},1,4KB\n",
        "0,brk,0,10,3,4KB\n0,mmap,0,13,1,4KB\n",
        "0,brk,0,10,2,4KB\n5,brk,0,,1,4KB\n9,brk,5,10,1,4KB\n",
        "0,mmap,0,0,1024,2MB\n5,mmap,512,,512,4KB\n",
        "0,mmap,0,0,512,2MB\n5,mmap,0,0,3,4KB\n5,mmap,3,3,509,4KB\n",
        "0,mmap,0,0,3,4KB\n5,mmap,1,,9,4KB\n",
    ],
    ids=["largest", "frames touch", "frame reused", "half unmapped", "2MB page split", "unmapped before"],
)
def test_the_last_good_value_before_each_rule(tmp_path, text):
    read(tmp_path, HEAD + text)


def test_a_file_that_is_not_there(tmp_path):
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(TesseraError) as refused:
            read_mapping(path)
        assert refused.value.code == "mapping-file" and str(path) in refused.value.asked


def test_a_bad_mapping_is_not_written(tmp_path):
    twice = PageMapping("m", {0: MappingRows.of([("brk", 0, 5, 2, "4KB"), ("mmap", 0, 6, 1, "4KB")])})
    with pytest.raises(MappingRefused):
        write_mapping(twice, tmp_path / "m.csv")
    assert not list(tmp_path.iterdir())
