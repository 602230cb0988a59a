"""Generated guests over hosts, against their two parts page by page."""

from __future__ import annotations

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.core.mapping import kinds
from tessera.core.mapping.contiguity import MappingSummary, chunk_pages
from tessera.core.mapping.kinds import MappingInputs
from tessera.core.mapping.paging import Touches
from tessera.core.mapping.synthetic import UsedPages

from .page_by_page import chunks_of, pages_of, sound

REGIONS = [UsedPages("brk", 1200), UsedPages("mmap", 20_001)]


def touches_of(pages):
    """First touches of pages of pool mmap, in this order."""
    pages = np.array(pages)
    return Touches(np.ones_like(pages), pages, np.arange(len(pages)))


@pytest.mark.parametrize("name", ["high-over-low", "medium-over-high", "eager-over-pages-1", "max-over-max"])
def test_frames_are_those_of_two_look_ups(name):
    guest_kind, host_kind = name.split("-over-")
    guest = pages_of(kinds.make_single(guest_kind, MappingInputs(REGIONS, seed=5)).rows)
    last = max(frame for frame, _ in guest.values())
    memory = (last // 512 + 1) * 512
    host = pages_of(kinds.make_single(host_kind, MappingInputs([UsedPages("mmap", memory)], seed=6)).rows)
    pool = {number for number, _ in host}.pop()
    found = pages_of(kinds.make_mapping(name, MappingInputs(REGIONS, seed=5)).rows)
    sound(found)
    assert {page: frame for page, (frame, _) in found.items()} == {
        page: host[pool, frame][0] for page, (frame, _) in guest.items()
    }


def test_a_host_in_single_pages_undoes_all_contiguity():
    rows = kinds.make_mapping("max-over-pages-1", MappingInputs(REGIONS)).rows
    assert set(chunk_pages(rows).tolist()) == {1} and set(rows.size.tolist()) == {1}
    assert (
        MappingSummary.of(kinds.make_mapping("max-over-max", MappingInputs(REGIONS)).rows).histogram.chunks
        == 2
    )


def test_chunks_are_at_most_those_of_the_host():
    found = chunks_of(pages_of(kinds.make_mapping("high-over-low", MappingInputs(REGIONS)).rows))
    assert max(found) <= 16 and sum(found) == 21_201


def test_a_demand_host_gives_blocks_in_the_order_of_the_guests_touches():
    # The guest has one chunk from frame 0 on. Page 5000 is touched first: its 2MB piece gets the first block.
    region = [UsedPages("mmap", 20_000)]
    rows = kinds.make_mapping(
        "max-over-demand", MappingInputs(region, seed=1, touches=touches_of([5000, 0]))
    ).rows
    frames = {page: frame for (_, page), (frame, _) in pages_of(rows).items()}
    memory = [UsedPages("mmap", 20_480)]  # rounded up to 2MB
    expected = kinds.make_single("demand", MappingInputs(memory, seed=2, touches=touches_of([5000, 0]))).rows
    for (_, page), (frame, _) in pages_of(expected).items():
        if page < 20_000:
            assert frames[page] == frame
    assert len(frames) == 20_000  # pages that are never touched have frames, too


def test_touches_are_for_kinds_that_need_them():
    assert kinds.needs_touches("demand-over-low") and kinds.needs_touches("low-over-demand")
    assert not kinds.needs_touches("high-over-low")
    with pytest.raises(TesseraError) as refused:
        kinds.make_mapping("demand-over-low", MappingInputs(REGIONS))
    assert refused.value.code == "mapping/no-touches"
    for name in ("low", "high-over-low"):
        with pytest.raises(TesseraError) as refused:
            kinds.make_mapping(name, MappingInputs(REGIONS, touches=touches_of([1])))
        assert refused.value.code == "mapping/unused-option"


@pytest.mark.parametrize(
    "name", ["high-over-", "-over-low", "high-over-hihg", "pages-3", "high-over-low-over-low"]
)
def test_other_names_are_refused(name):
    with pytest.raises(TesseraError) as refused:
        kinds.kinds_of_name(name)
    assert "pages-N" in refused.value.remedy


def test_a_guest_whose_frames_are_too_far_apart_is_refused():
    with pytest.raises(TesseraError) as refused:
        kinds.make_mapping(
            "pages-1-over-max", MappingInputs([UsedPages("mmap", 1 << 17)])
        )  # 2^17 chunks, 2MB apart
    assert refused.value.code == "mapping/guest-size" and "128GB" in refused.value.found


@pytest.mark.parametrize("option", [{"alignment": 1}, {"free": {10: 100}}])
def test_options_of_one_kind_are_refused_for_two(option):
    with pytest.raises(TesseraError) as refused:
        kinds.make_mapping("high-over-low", MappingInputs(REGIONS, **option))
    assert refused.value.code == "mapping/unused-option" and "compose" in refused.value.remedy


@pytest.mark.parametrize("pages", [1, 8, 64, 1024])
def test_chunks_of_one_length(pages):
    rows = kinds.make_single(f"pages-{pages}", MappingInputs([UsedPages("mmap", 5 * 1024 + 3)])).rows
    found = chunks_of(pages_of(rows))
    assert found[:-1] == [pages] * (len(found) - 1) and sum(found) == 5 * 1024 + 3
    assert ("2MB" in {row[4] for row in rows.tuples()}) == (pages >= 512)
    # an anchor for each chunk is the least number of entries, so the distance is its length
    if pages > 1:
        assert MappingSummary.of(rows).distances["count"][0] == pages


@pytest.mark.parametrize("pages", [1, 64, 512, 1024, 65_536])
def test_chunks_of_one_length_without_2mb_pages(pages):
    region = [UsedPages("mmap", 3 * pages + 700)]
    with_2mb = kinds.make_single(f"pages-{pages}", MappingInputs(region)).rows
    found = kinds.make_single(f"pages-{pages}-4kb", MappingInputs(region)).rows
    assert {row[4] for row in found.tuples()} == {"4KB"}
    assert chunk_pages(found).tolist() == chunk_pages(with_2mb).tolist()
    frames = [{page: frame for page, (frame, _) in pages_of(rows).items()} for rows in (found, with_2mb)]
    assert frames[0] == frames[1]
    assert (found == with_2mb) == (pages < 512)
