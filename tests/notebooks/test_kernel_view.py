"""Notebook 09: the archived scenarios are complete, agree with each other, and follow the sliders."""

from __future__ import annotations

import itertools

import pytest

from tessera.report.explore import kernel

ALL = list(itertools.product(kernel.THP, kernel.FRAGMENTATION, kernel.MEMORY))


def chosen(choice) -> dict[str, str]:
    return dict(zip(("thp", "fragmentation", "memory"), choice, strict=True))


def rows(name, choice):
    return kernel._of(name, chosen(choice))


def test_every_choice_has_rows_in_every_table():
    assert kernel.choices() == len(ALL) == 36
    for name in kernel.TABLES:
        assert set(kernel.table(name).groupby(["thp", "fragmentation", "memory"]).groups) == set(ALL)


@pytest.mark.parametrize("choice", ALL, ids="-".join)
def test_tables_of_a_scenario_agree(choice):
    kinds, sizes = rows("kinds", choice), rows("sizes", choice)
    assert kinds.faults.sum() == sizes.faults.iloc[-1]
    assert sizes.block.is_monotonic_increasing and sizes.faults.is_monotonic_increasing
    if choice[0] == "never":
        assert set(kinds.page_size) == {"4KB"}
    chunks = rows("chunks", choice)
    assert (chunks.least_pages * chunks.chunks <= chunks.pages).all()
    assert (chunks.pages < 2 * chunks.least_pages * chunks.chunks).all()
    assert chunks.pages.sum() * 4096 >= 64 << 20  # the array of the program


def test_a_fault_of_2mb_stands_for_512():
    """gups loads, then stores each page: two faults a page without huge pages, one of 2MB with them."""
    large = kernel.compared("thp", fragmentation="0%", memory="16GB").set_index("thp")
    assert large.most_mb_in_2mb_pages["always, no zero page"] == 64
    pages = (64 << 20) // 4096
    assert large.faults["never"] - large.faults["always, no zero page"] == 2 * pages - pages // 512
    assert large.stlb_misses["never"] > 100 * large.stlb_misses["always, no zero page"]


def test_the_sliders_change_what_is_shown():
    view = kernel.ScenarioSliders(thp="never")
    before = view.view()[1]
    view.changed("thp", "always, no zero page")
    after = view.view()[1]
    assert before.faults.sum() > after.faults.sum()
    assert view.chosen["thp"] == "always, no zero page"
