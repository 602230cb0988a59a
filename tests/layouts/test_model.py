"""Layout files: what is read, and what is refused with which words."""

import pytest

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import Layout, Window, canonical_name, read_layout, write_layout

HEAD = "type,pageSize,startOffset,endOffset\n"
MB2 = 2 << 20


def write(tmp_path, body, head=HEAD):
    path = tmp_path / "mosaic.csv"
    path.write_text(head + body)
    return path


def test_reads_pool_sizes_and_windows_in_human_and_plain_sizes(tmp_path):
    path = write(tmp_path, "mmap,-1,0,1GB\nmmap,2MB,4MB,8MB\nbrk,-1,0,67108864\nbrk,2097152,0,2097152\n")
    layout = read_layout(path)
    assert layout.name == "mosaic"
    assert layout.pool_bytes == {"mmap": 1 << 30, "brk": 64 << 20}
    assert layout.windows == (Window("brk", 0, MB2, MB2), Window("mmap", 2 * MB2, 4 * MB2, MB2))
    assert layout.pages(MB2) == 3


REFUSED = {
    "no header": ("mmap,-1,0,1GB\n", "", "header"),
    "unknown page size": ("mmap,-1,0,1GB\nmmap,8192,0,8192\n", HEAD, "line 3, column pageSize"),
    "misaligned start": ("mmap,-1,0,1GB\nmmap,2MB,4096,2MB\n", HEAD, "line 3, column startOffset"),
    "misaligned end": ("mmap,-1,0,1GB\nmmap,2MB,0,3MB\n", HEAD, "multiple of the page size 2MB"),
    "empty window": ("mmap,-1,0,1GB\nmmap,2MB,2MB,2MB\n", HEAD, "above startOffset"),
    "outside the pool": ("mmap,-1,0,4MB\nmmap,2MB,4MB,6MB\n", HEAD, "outside its pool of 4MB"),
    "overlap": ("mmap,-1,0,1GB\nmmap,2MB,0,4MB\nmmap,2MB,2MB,6MB\n", HEAD, "overlaps the window 0-4194304"),
    "unknown pool": ("stack,-1,0,1GB\n", HEAD, "one of brk, mmap, file"),
    "huge file pages": ("file,-1,0,1GB\nfile,2MB,0,2MB\n", HEAD, "4KB pages only"),
    "missing column": ("mmap,-1,0\n", HEAD, "must have 4 columns"),
    "not a number": ("mmap,-1,0,lots\n", HEAD, "'lots'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(tmp_path, case):
    body, head, words = REFUSED[case]
    with pytest.raises(TesseraError, match="mosaic.csv") as error:
        read_layout(write(tmp_path, body, head))
    assert words in str(error.value)
    assert error.value.remedy


def test_last_window_that_fits_is_accepted_and_one_more_page_is_not(tmp_path):
    read_layout(write(tmp_path, "mmap,-1,0,4MB\nmmap,2MB,2MB,4MB\n"))
    with pytest.raises(TesseraError):
        read_layout(write(tmp_path, "mmap,-1,0,4MB\nmmap,2MB,2MB,6MB\n"))


def test_written_layout_reads_back(tmp_path):
    windows = (Window("brk", 0, MB2, MB2), Window("mmap", 0, 1 << 30, 1 << 30))
    layout = Layout("x", {"brk": MB2, "mmap": 1 << 30}, windows)
    write_layout(layout, tmp_path / "x.csv")
    assert read_layout(tmp_path / "x.csv") == layout


def test_aliases():
    names = [canonical_name(n) for n in ("4kb", "2mb", "random-3")]
    assert names == ["growing-0", "growing-8", "random-3"]
