"""The 54 + 1 layouts of MICRO'20 VI-B against slow, obvious oracles."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tessera.core.errors import TesseraError
from tessera.core.layouts import generation
from tessera.core.layouts.generation import Space

MB2 = 2 << 20
SPACE = Space({"brk": 40 * MB2, "mmap": 120 * MB2}, {"brk": 64 * MB2, "mmap": 512 * MB2})


def profile(hot_start, hot_end, per_page=10):
    """Misses only in 2MB pages [hot_start, hot_end) of the anonymous pool."""
    rows = [("mmap", page * MB2, per_page) for page in range(hot_start, hot_end)]
    return pd.DataFrame(rows, columns=["pool", "offset_bytes", "stlb_misses"])


def test_growing_goes_from_no_page_to_every_page():
    pages = [end - start for _, start, end in generation.growing_windows(SPACE)]
    assert pages == [0, 20, 40, 60, 80, 100, 120, 140, 160]


def test_a_window_across_the_pools_is_split_at_the_border():
    windows = SPACE.windows(30 * MB2, 50 * MB2)
    assert [(w.pool, w.start // MB2, w.end // MB2) for w in windows] == [("brk", 30, 40), ("mmap", 0, 10)]


def test_54_layouts_and_the_1gb_test_point():
    made = generation.generate_layouts(SPACE, profile(0, 40))
    names = [layout.name for layout in made]
    assert len(names) == 55 == len(set(names)) and names[-1] == "1gb"
    counts = [sum(n.startswith(h) for n in names) for h in ("growing-", "random-", "sliding-")]
    assert counts == [9, 9, 36]
    assert made[-1].pages(1 << 30) == 2 and made[-1].pages(MB2) == 0
    assert generation.distinct(generation.layouts_manifest(made)) >= 45


def test_sliding_starts_on_the_hot_region_and_leaves_it_away_from_the_nearer_border():
    spans = {name: (s, e) for name, s, e in generation.sliding_windows(SPACE, hot(100, 140))}
    assert spans["sliding-80-0"] == (100, 132)  # 80% of 40 equal pages; the lowest of the smallest
    assert spans["sliding-80-1"] == (96, 128)  # top of the space: towards low addresses by 32/8
    assert spans["sliding-80-8"] == (68, 100)
    spans = {name: (s, e) for name, s, e in generation.sliding_windows(SPACE, hot(0, 40))}
    assert spans["sliding-40-4"] == (8, 24)  # bottom of the space: towards high addresses
    assert spans["sliding-40-8"] == (16, 32)


def test_sliding_from_the_middle_ties_upward():
    spans = {name: s for name, s, _ in generation.sliding_windows(SPACE, hot(60, 100))}
    # X = 20% is 8 pages from page 60: 60 below, 92 above, so the nearer border is the low one.
    assert spans["sliding-20-8"] == 68
    even = {name: s for name, s, _ in generation.sliding_windows(SPACE, hot(79, 81))}
    assert even["sliding-80-8"] == 81


def hot(start, end):
    misses = np.zeros(160)
    misses[start:end] = 10
    return misses


@given(st.lists(st.integers(0, 30), min_size=1, max_size=25), st.sampled_from([0.2, 0.4, 0.6, 0.8]))
def test_hot_region_is_the_smallest_that_holds_its_share(misses, share):
    start, end = generation.hot_region(np.array(misses, dtype=float), share)
    total = sum(misses)
    if total == 0:
        assert (start, end) == (0, 1)
        return
    assert sum(misses[start:end]) >= share * total - 1e-9
    for length in range(end - start):
        for low in range(len(misses) - length + 1):
            assert sum(misses[low : low + length]) < share * total + 1e-9


def test_few_pages_give_few_layouts_and_a_reason():
    small = Space({"brk": 0, "mmap": 4 * MB2}, {"brk": 0, "mmap": 512 * MB2})
    made = generation.generate_layouts(small, profile(0, 4))
    table = generation.layouts_manifest(made)
    assert generation.distinct(table) == 11  # every window of 4 pages (4 * 5 / 2) and the empty one
    assert "4 pages of 2MB" in generation.too_few_reason(table, small)
    assert (
        generation.too_few_reason(
            generation.layouts_manifest(generation.generate_layouts(SPACE, profile(0, 40))), SPACE
        )
        == ""
    )


def test_random_windows_repeat_with_the_seed_and_only_with_it():
    once, again, other = (list(generation.random_windows(SPACE, 9, seed)) for seed in (1, 1, 2))
    assert once == again != other


def test_a_program_without_pools_is_refused():
    with pytest.raises(TesseraError, match="allocated nothing"):
        Space.from_trace_info({"program": "true", "pools": []})


TOUCHED = [*range(3, 9), *range(50, 60), *range(130, 150)]  # 36 of 160 pages, in three spans


def sparse_profile():
    rows = [("brk" if page < 40 else "mmap", (page if page < 40 else page - 40) * MB2, 7) for page in TOUCHED]
    return pd.DataFrame(rows, columns=["pool", "offset_bytes", "stlb_misses"])


def reached(layout):
    """Touched pages of S that a layout's windows hold: all that its counts can depend on."""
    held = set()
    for window in layout.windows:
        before = 0 if window.pool == "brk" else 40
        held |= set(range(before + window.start // MB2, before + window.end // MB2))
    return frozenset(held & set(TOUCHED))


def test_windows_start_and_end_on_touched_pages():
    space = generation.on_touched(SPACE, sparse_profile())
    assert space.places == 36 and list(space.touched) == TOUCHED and SPACE.places == 160
    made = {layout.name: layout for layout in generation.generate_layouts(space, sparse_profile())}
    assert not made["growing-0"].windows and made["growing-8"].pages(MB2) == 160  # all-2MB is all of S
    for name, layout in made.items():
        if name not in ("growing-0", "growing-8", "1gb"):
            first, last = layout.windows[0], layout.windows[-1]
            ends = [
                (w.pool == "mmap") * 40 + at // MB2 for w, at in ((first, first.start), (last, last.end - 1))
            ]
            assert set(ends) <= set(TOUCHED), name
    assert generation.miss_vector(space, sparse_profile()).tolist() == [7] * 36


def test_touched_places_give_more_samples_than_the_papers_space():
    def samples(space):
        made = generation.generate_layouts(space, sparse_profile())
        return len({reached(layout) for layout in made if layout.name != "1gb"})

    assert samples(generation.on_touched(SPACE, sparse_profile())) > samples(SPACE)


def test_steps_are_at_least_one_touched_page():
    hot_page = pd.DataFrame([("mmap", 20 * MB2, 900)], columns=["pool", "offset_bytes", "stlb_misses"])
    profile = pd.concat([sparse_profile(), hot_page])  # page 60 of S, next to a touched span
    space = generation.on_touched(SPACE, profile)
    spans = {
        name: (s, e)
        for name, s, e in generation.sliding_windows(space, generation.miss_vector(space, profile))
    }
    assert [spans[f"sliding-20-{i}"][0] for i in range(9)] == list(range(16, 25))
    papers = [
        s
        for name, s, _ in generation.sliding_windows(SPACE, generation.miss_vector(SPACE, profile))
        if "-20-" in name
    ]
    assert len(set(papers)) == 2  # steps of 1/8 page


def test_a_recording_without_misses_keeps_the_papers_space():
    empty = sparse_profile().iloc[:0]
    assert generation.on_touched(SPACE, empty) == SPACE
