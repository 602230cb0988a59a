"""What `tessera mapping show` prints and draws, on a mapping that can be counted by hand."""

from __future__ import annotations

from tessera.core.mapping.contiguity import ChunkHistogram, MappingSummary
from tessera.core.mapping.contiguity_figure import draw_contiguity, memory_shares
from tessera.core.mapping.page_mapping import MappingRows

STATE = MappingRows.of([("brk", 0, 7, 62, "4KB"), ("mmap", 0, 512, 1024, "2MB")])


def test_counts_by_hand():
    found = MappingSummary.of(STATE)
    assert found.pages == {"4KB": 62, "2MB": 2, "1GB": 0}
    assert found.mapped_pages == 1086
    assert found.share("2MB") == 1024 / 1086
    lines = dict(found.lines())
    assert lines["mapped"].startswith("4344KB") and lines["chunks"] == "2"
    # d = 32: 1 + 32 anchors and 30 pages; d = 1024: 1 anchor and 62 pages; the tie goes to 32
    assert found.distances["count"] == (32, 63)
    # d = 16: 3 + 64 anchors of weight 1/16, and 14 pages
    assert found.distances["printed"] == (16, 67 / 16 + 14)
    assert found.histogram_rows() == [("32-63", "1", "5.7%"), ("1024-2047", "1", "94.3%")]


def test_nothing_mapped():
    found = MappingSummary.of(MappingRows.empty())
    assert found.mapped_pages == 0 and found.distances == {} and found.share("4KB") == 0


def test_shares_of_memory():
    size, share = memory_shares(ChunkHistogram.of([(1, 6), (2, 1), (4, 1)]))
    assert size.tolist() == [1, 2, 4] and share.tolist() == [6 / 12, 8 / 12, 1]


def test_the_figure_names_its_lines_and_leaves_out_empty_mappings(tmp_path):
    draw_contiguity({"one": ChunkHistogram.of([(5, 2)]), "none": ChunkHistogram.of([])}, tmp_path / "f.svg")
    text = (tmp_path / "f.svg").read_text()
    assert ">one<" in text and ">none<" not in text
