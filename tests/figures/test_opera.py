"""OPERA's figures and the findings: their numbers on hand-made results, and the pairs that they show."""

from __future__ import annotations

import pandas as pd
import pytest

from tessera.core.files import repo_root
from tessera.report.figures import allocator_costs, case_studies, findings, style
from tessera.report.results import NotDrawn, Results

REFERENCE = repo_root() / "reference-results"


def test_the_published_slope_is_that_of_table_7():
    rows = findings._published_slope(REFERENCE, ["source", "workload", "platform", "slope", "line_slope",
                                                "extra_l3_loads", "analysed", "provenance"])  # fmt: skip
    assert rows["slope"].tolist() == [pytest.approx((1320 - 1155) / 76)]
    assert rows["extra_l3_loads"].tolist() == [pytest.approx(2.4 / 20)]
    assert rows["provenance"].tolist() == ["published"]


def test_obtained_slopes_are_differences_of_the_two_runs(complete_tree):
    rows = findings.slope_table(complete_tree, REFERENCE)
    mine = rows[rows["source"] == "Tessera"].iloc[0]
    cells = Results(complete_tree).samples(mine["workload"], mine["platform"]).set_index("layout")
    small, large = cells.loc["growing-0"], cells.loc["growing-8"]
    runtime, walks = (
        small["runtime_cycles"] - large["runtime_cycles"],
        small["walk_cycles"] - large["walk_cycles"],
    )
    assert mine["slope"] == pytest.approx(runtime / walks)
    assert not rows["platform"].str.startswith("host").any()


LAYOUTS = pd.DataFrame(
    [("growing-0", 0, 90, 9, 200.0), ("growing-4", 40, 30, 3, 100.0), ("random-1", 50, 40, 4, 110.0),
     ("growing-8", 80, 35, 4, 106.0)],
    columns=["layout", "pages_2mb", "walk_cycles", "stlb_misses", "runtime_cycles"],
)  # fmt: skip


def test_all_pages_are_compared_with_the_fastest_that_has_fewer():
    assert case_studies.compare_all_2mb(LAYOUTS) == (pytest.approx(0.06), "growing-4", 40, 80)
    faster = LAYOUTS.assign(runtime_cycles=[200.0, 100.0, 110.0, 90.0])
    assert case_studies.compare_all_2mb(faster)[0] == pytest.approx(-0.1)
    assert case_studies.compare_all_2mb(LAYOUTS[LAYOUTS["layout"] != "growing-8"]) is None
    assert case_studies.compare_all_2mb(LAYOUTS[LAYOUTS["layout"] == "growing-8"]) is None


def test_labels_that_would_meet_are_left_out_but_never_the_fastest():
    rows = LAYOUTS.assign(fastest=LAYOUTS["layout"] == "growing-4")
    close = rows.assign(walk_cycles=[90, 30, 31, 30], runtime_cycles=[200.0, 100.0, 101.0, 100.5])
    chosen = case_studies._labels_with_room(close, close["walk_cycles"], close["runtime_cycles"])
    assert close.loc[chosen, "layout"].tolist() == ["growing-4", "growing-0"]
    apart = rows.assign(walk_cycles=[90, 10, 40, 70])
    chosen = case_studies._labels_with_room(apart, apart["walk_cycles"], apart["runtime_cycles"])
    assert apart.loc[chosen, "layout"].tolist() == ["growing-4", "growing-8", "growing-0", "random-1"]


def test_the_allocator_beside_the_printed_table(complete_tree):
    rows = allocator_costs.table(complete_tree, REFERENCE).set_index(["source", "workload", "quantity"])[
        "overhead"
    ]
    assert rows["Tessera", "gups/1MB", "memory"] == pytest.approx(0.02)
    assert rows["Tessera", "graph500/tiny", "runtime"] == pytest.approx(-0.01)
    assert rows["paper", "spec_cpu2017/623.xalancbmk_s", "runtime"] == pytest.approx(0.07)
    assert (rows.index.get_level_values("source") == "paper").sum() == 20


def test_without_runs_the_allocator_names_the_command(small_tree):
    with pytest.raises(NotDrawn, match="tessera lab allocator overhead"):
        allocator_costs.table(small_tree, REFERENCE)


def test_1gb_errors_are_relative_to_the_runtime_in_print_too(complete_tree):
    rows = findings.one_gb_table(complete_tree, REFERENCE)
    printed = rows[rows["source"] == "paper"].set_index(["workload", "model"])["error"]
    assert printed["gapbs/pr-twitter", "yaniv"] == pytest.approx(0.10)
    assert printed["GUPS/4GB", "yaniv"] == pytest.approx(1 - 1 / 1.7)


def test_the_papers_pair_comes_first_then_the_extreme_one(complete_tree):
    picks = case_studies.choose_case_pairs("opera-fig4", Results(complete_tree))
    assert (picks[0].workload, picks[0].platform) == ("graph500", "sandybridge-sim")
    assert len({pick[:2] for pick in picks}) == len(picks) <= 2
    if len(picks) == 2:
        assert picks[1].why == "the pair with the 4KB run predicted most too high"


def test_a_zoom_keeps_what_runs_at_most_so_long_and_the_2mb_run(complete_tree):
    rows = case_studies.case_table("opera-fig2", complete_tree, REFERENCE)
    for _, mine in rows[rows["series"] == "samples"].groupby(["workload", "platform"]):
        runtimes = mine.set_index("layout")["runtime_cycles"]
        shown = runtimes.drop("growing-8")
        assert (shown <= 2 * runtimes["1gb"]).all() and "growing-8" in runtimes
    assert set(rows["printed"]) == {
        "the 1GB run takes 1.7 times its linear prediction; the curve is not published as data"
    }


def test_long_titles_go_on_in_a_second_line_and_provenance_has_its_own():
    """The last line of the title is empty: the place of the provenance, which is not bold."""
    figure, _ = style.panels(width=style.WIDTH)
    style.headline(figure, "short", "simulated")
    assert figure._suptitle.get_text() == "short\n "
    assert [(one.get_text(), one.get_fontweight()) for one in figure.artists] == [("simulated", "normal")]
    style.headline(
        figure, "a title that is too long for one line of a phone, by many words more", "simulated"
    )
    assert figure._suptitle.get_text().count("\n") == 2


def test_a_legend_has_as_many_columns_as_the_figure_is_wide():
    figure, axes = style.panels(width=style.WIDTH)
    for n in range(3):
        axes.plot([0, 1], [n, n], label=f"series {n}")
    style.legend_below(figure, [axes])
    axes.plot([0, 1], [4, 4], label="words that need more than a whole line " * 3)
    style.legend_below(figure, [axes])
    short, long = figure.legends
    assert short._ncols == 3 and long._ncols == 1 and "\n" in long.get_texts()[-1].get_text()


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [(0.12, 1.0, "0.2 0.5 1"), (2000, 30000, "2000 5000 10k 20k"), (1, 1e6, "1 10 100 1000 10k 100k 1M")],
)
def test_ticks_of_a_log_axis_are_plain_numbers(low, high, ticks):
    figure, axes = style.panels()
    axes.plot([low, high], [0, 1])
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    style.log_axis(axes.xaxis)
    figure.draw_without_rendering()
    places = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
    assert [
        label.get_text() for place, label in places if low <= place * 1.0001 and place <= high
    ] == ticks.split()
