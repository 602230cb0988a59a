"""What the notebooks call: training sets, menus, designs, hot pages, a model of one's own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.core.layouts.generation import Space
from tessera.fit.models.anchors import Yaniv
from tessera.fit.models.registry import EVERY
from tessera.report import explore
from tessera.report.explore.fits import EVERY_SECOND, TRAINING_SETS, Controls, fit_on, split_samples
from tessera.report.figures.style import percent_text

MB2 = 2 << 20


@pytest.fixture(scope="module")
def archive():
    return explore.open_results("notebooks/data")


@pytest.fixture(scope="module")
def pair(archive):
    return archive.pair("graph500-4gb", "haswell-sim")


def test_source_says_where_it_is_and_what_it_holds(archive):
    rows = pd.read_csv(archive.results.directory / "cells.csv")
    assert f"{len(rows):,} cells of 3 workloads on 3 platforms; runtimes simulated" in str(archive)
    assert archive.archived and len(archive.pairs) == 9


def test_a_wrong_name_is_answered_with_the_right_ones(archive):
    with pytest.raises(TesseraError, match="network-simplex"):
        archive.pair("mcf")


@pytest.mark.parametrize("training", TRAINING_SETS)
def test_training_sets_part_the_layouts_and_keep_the_anchors(pair, training):
    samples = pair.table.fitted
    trains, held_out = split_samples(samples, training)
    assert sorted(trains.layouts + held_out.layouts) == sorted(samples.layouts)
    assert {"growing-0", "growing-8"} <= set(trains.layouts)
    families = {name.rsplit("-", 1)[0] for name in trains.layouts} - {"growing"}
    assert families == set(TRAINING_SETS[training]) - {"growing"}
    if training == EVERY_SECOND:
        assert 27 <= len(trains) <= 29


def test_held_out_errors_are_those_of_the_line_through_two_runs(pair):
    """Yaniv by hand from the cells: the line in C through the 4KB and 2MB runs."""
    frame = pair.samples.set_index("layout")
    (c4, r4), (c2, r2) = (
        frame.loc[name, ["walk_cycles", "runtime_cycles"]] for name in ("growing-0", "growing-8")
    )
    slope = (r4 - r2) / (c4 - c2)
    rest = frame[frame.index.str.startswith("sliding")]
    errors = (r2 + slope * (rest["walk_cycles"] - c2) - rest["runtime_cycles"]).abs() / rest["runtime_cycles"]
    _, (trains, held_out), table = fit_on(pair, ["yaniv"], explore.FAMILIES, "growing and random")
    assert len(trains) == 18 and len(held_out) == 36
    shown = table.loc["yaniv", "held out (36)"]
    assert shown == percent_text(errors.max())


def test_models_that_a_training_set_does_not_determine_say_so(pair):
    fitted, _, table = fit_on(pair, ["yaniv", "mosmodel"], explore.FAMILIES, "only 4KB and 2MB")
    assert set(fitted) == {"yaniv"} and "samples" in table.loc["mosmodel", "note"]


def test_menus_change_picture_and_table(archive):
    one = Controls(archive, "graph500-4gb", "haswell-sim")
    before = one.view()[1]
    one.changed("training", "growing and random")
    assert "held out (36)" in one.view()[1] and "held out (0)" in before
    one.changed("models", ("poly3",))
    assert list(one.view()[1].index) == ["poly3"]


def test_menus_are_widgets_whose_text_says_what_they_are(archive):
    pytest.importorskip("ipywidgets", reason="ipywidgets is not installed: ./run setup")
    one = Controls(archive, "graph500-4gb", "haswell-sim").show()
    assert "workload, platform" in one.bar._repr_mimebundle_()["text/plain"]
    one.bar.menus["workload"].value = "gups-8gb"
    one.bar.menus["training"].value = "sliding windows"
    assert (one.chosen["workload"], one.chosen["training"]) == ("gups-8gb", "sliding windows")


def test_archived_designs_are_found_by_what_they_change(archive, pair):
    table = explore.simulate_designs(archive, pair, [explore.Design("any name", {"tlb.stlb.entries": 4096})])
    base = pair.at("growing-0")
    assert list(table["design"]) == ["any name"] and list(table["tlb_provenance"]) == ["simulated"]
    # every L1 miss is an STLB hit or miss: a larger STLB moves hits and misses, not their sum
    assert table["stlb_hits"][0] + table["stlb_misses"][0] == pytest.approx(base["H"] + base["M"], rel=1e-4)
    assert table["stlb_misses"][0] < base["M"] and table["walk_cycles"][0] < base["C"]


def test_a_design_that_is_not_archived_says_what_to_run(archive, pair):
    with pytest.raises(TesseraError, match="./run smoke or ./run reproduce"):
        explore.simulate_designs(archive, pair, [explore.Design("x", {"tlb.stlb.entries": 8192})])


def test_a_design_with_an_unknown_key_lists_keys(pair):
    from tessera.core import platforms

    with pytest.raises(TesseraError, match="tlb.stlb.entries"):
        explore.Design("x", {"tlb.entries": 1}).platform(platforms.load_platform(pair.platform))


def test_a_tree_without_traces_says_so(small_tree):
    source = explore.open_results(small_tree)
    with pytest.raises(TesseraError, match="record it"):
        explore.profile(source, source.pair())


def test_suggestion_takes_the_fewest_hot_pages(pair):
    space = Space({"brk": 0, "mmap": 8 * MB2}, {"brk": 1 << 30, "mmap": 1 << 30})
    misses = pd.DataFrame(
        {"pool": "mmap", "offset_bytes": np.arange(8) * MB2, "stlb_misses": [1, 60, 1, 1, 30, 5, 1, 1]}
    )
    layout = explore.suggestion(pair, space, misses, 0.9)
    assert [(w.start // MB2, w.end // MB2) for w in layout.windows] == [(1, 2), (4, 5)]
    regions = explore.hot_regions(space, misses)
    assert list(regions.loc["60%", ["from_mb", "to_mb"]]) == [2, 4]
    assert list(regions.loc["80%", ["from_mb", "to_mb"]]) == [2, 10]


def test_archived_profile_agrees_with_the_archived_cells(archive, pair):
    """Misses in the pools are nearly all misses of the 4KB run, and never more."""
    _, misses = explore.profile(archive, pair)
    total = pair.at("growing-0")["M"]
    assert 0.99 * total < misses["stlb_misses"].sum() <= total


def test_register_replaces_the_notebooks_own_class_only(monkeypatch):
    monkeypatch.delitem(EVERY, "mine", raising=False)

    class Mine(Yaniv):
        name = "mine"

    try:
        Mine.__module__ = "__main__"
        assert explore.register(Mine) is explore.register(Mine) is EVERY["mine"]
        with pytest.raises(ValueError, match=r"tessera\.fit\.models\.anchors"):
            explore.register(Yaniv)
    finally:
        del EVERY["mine"]


def test_models_are_judged_by_the_same_cross_validation_as_the_tables(pair):
    fit = pair.fit(models=["poly1"])
    expected = fit.cv.set_index("model").at["poly1", "max_error"]
    assert explore.judge_models(pair).at["poly1", "largest error"] == percent_text(expected)
