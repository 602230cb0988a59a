"""Answers of the bracket in the study: what is asked and refused, when a class is open, and the table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tessera.core.results import transfer_tables as schema
from tessera.core.results.table_io import frame_of
from tessera.fit.predict.bracket import Bracket, ChangedCounts, ProcessorCounts
from tessera.lab.transfer import bracket_answers, study
from tessera.lab.transfer.bracket_answers import family_openness, new_designs, openness
from tessera.lab.transfer.classes import HIT
from tests.studies.transfer import world

VARIANTS = ("noop", "thp", "stlb-x2", "walkers-x2", "anchor-8", "delayed-tlb", "many-segment")
PAIR = {"workload": "made", "platform": "haswell-sim", "provenance": "simulated"}


@pytest.fixture(scope="module")
def tables():
    with pytest.MonkeyPatch.context() as patch:
        return study.study_tables(world.subject_of(patch, VARIANTS, models=("basu",)))


@pytest.fixture(scope="module")
def answers(tables):
    return frame_of(schema.ANSWERED, [PAIR | row for row in tables[schema.ANSWERED.name]])


def test_every_point_with_numbers_has_one_answer(tables, answers):
    ok = [row for row in tables[schema.POINTS.name] if row["status"] == "ok"]
    assert len(answers) * 3 == len(ok) and set(answers["source"]) == {"bracket"}
    assert not answers.duplicated(["variant", "layout"]).any()


def test_it_is_the_bracket_of_p_with_the_base_of_the_same_mapping(answers):
    """Anchors under `medium`: 7.5 cycles a hit, 8 a miss, 5000 background cycles; P has 7 cycles."""
    with pytest.MonkeyPatch.context() as patch:
        request = world.subject_of(patch, ())
        cells = request.runs.cells(world.P, request.layouts)
        bracket = Bracket.fit(study.samples_of(cells, world.LAYOUTS), hit_cycles=7)
    H, M, C = world.counts("medium")
    base = ProcessorCounts(world.runtime(H, M, C), H, C)
    expected = bracket.answer(base, ChangedCounts(7.5 * H / 7, C + 5000, 1, M * (8 - 7)))
    row = answers[(answers["variant"] == "anchor-8") & (answers["layout"] == "medium")].iloc[0]
    assert row["status"] == "answered" and row["codes"] == ""
    found = [row["low_cycles"], row["centre_cycles"], row["high_cycles"], row["half_width"]]
    assert found == [expected.low, expected.centre, expected.high, expected.half_width]
    assert row["base_runtime_cycles"] == base.runtime and row["family"] == "coalescing"


def test_classes_that_change_the_clock_are_refused_with_what_it_would_say(answers):
    rows = answers[answers["group"].isin(["invisible", "behind-l3"])]
    assert len(rows) == len(world.LAYOUTS) + 2 and set(rows["status"]) == {"refused"}
    assert rows["codes"].str.split().str[0].eq("class").all()
    assert rows["low_cycles"].notna().any() and rows["centre_cycles"].isna().all()
    assert rows[["covered", "passes", "half_width"]].isna().all(axis=None)
    assert (answers[answers["group"] == "control"]["status"] == "answered").all()


def test_designs_that_no_sample_tells_are_refused(answers):
    row = answers[(answers["variant"] == "stlb-x2") & (answers["layout"] == "growing-8")].iloc[0]
    assert world.counts("growing-8")[1] == 0 and row["status"] == "answered"  # C' > 0 by the second number
    assert answers[answers["status"] == "refused"]["message"].str.len().gt(0).all()


def test_a_bracket_without_enough_samples_refuses_every_point(tables):
    samples = [row for row in tables[schema.SAMPLES.name] if row["layout"] in world.LAYOUTS[:9] + ["medium"]]
    points = [row for row in tables[schema.POINTS.name] if row["layout"] in ("growing-0", "medium")]
    rows = bracket_answers.answer_rows(samples, points, 7)
    assert {row["status"] for row in rows} == {"refused"}
    assert {row["codes"] for row in rows if row["group"] == "reach"} == {"few-layouts"}
    assert {row["codes"] for row in rows if row["group"] == "invisible"} == {"class few-layouts"}
    without = [row for row in samples if row["layout"] != "growing-8"]
    assert (
        bracket_answers.fitted_bracket(without, 7).code
        and "growing-8" in bracket_answers.fitted_bracket(without, 7).text
    )


def test_points_are_informative_by_r_and_keep_the_question(tables):
    points = frame_of(schema.POINTS, tables[schema.POINTS.name])
    ok = points[points["status"] == "ok"]
    change = (ok["runtime_cycles"] / ok["base_runtime_cycles"] - 1).abs()
    assert (ok["informative"].astype(bool) == (change > 0.03)).all()
    assert set(ok[ok["variant"] == "walkers-x2"]["walkers"]) == {2}
    anchors = ok[(ok["variant"] == "anchor-8") & (ok["layout"] == "high")]
    assert anchors["miss_cycles"].tolist() == pytest.approx([world.counts("high")[1]] * 3)
    assert int(world.P.values[HIT].value) == 7


def made_up(workloads=12, points=10, group="reach", **columns) -> pd.DataFrame:
    """Answered points of w0, w1, ... that are judged, informative, covered and pass."""
    row = {
        "platform": "p", "group": group, "variant": "stlb-x2", "family": "STLB", "source": "bracket",
        "status": "answered", "judged": True, "informative": True, "covered": True, "passes": True,
        "constant_passes": False, "low_cycles": 89, "centre_cycles": 90, "high_cycles": 91,
        "half_width": 1 / 90, "runtime_cycles": 90, "base_runtime_cycles": 100, "provenance": "simulated",
    }  # fmt: skip
    rows = [row | {"workload": f"w{w}", "layout": f"l{i}"} for w in range(workloads) for i in range(points)]
    return frame_of(schema.ANSWERED, rows).assign(**columns)


@pytest.mark.parametrize(
    ("workloads", "without", "expected", "others"),
    [
        (10, "w0", True, 9),  # exactly nine others
        (9, "w0", False, 8),
        (9, "elsewhere", True, 9),  # a workload that the study lacks
        (0, "w0", False, 0),
    ],
)
def test_a_class_needs_nine_other_workloads(workloads, without, expected, others):
    found = openness(made_up(workloads), "p", "reach", without)
    assert (found.open, found.workloads) == (expected, others) and str(others) in found.reason


@pytest.mark.parametrize(
    ("lost", "of_each", "expected"),
    [
        (1, 2, True),  # 8 of 10 points in one of 11 others: 10 of 11 are above 90%
        (2, 1, True),  # 9 of 10 points still are 90%
        (2, 2, False),  # 9 of 11 workloads
    ],
)
def test_intervals_must_cover_in_nine_of_ten_workloads(lost, of_each, expected):
    table = made_up()
    for w in range(1, lost + 1):
        table.loc[table.index[table["workload"] == f"w{w}"][:of_each], "covered"] = False
    assert openness(table, "p", "reach", "w0").open is expected


def test_half_of_the_informative_answers_must_pass():
    table = made_up(10, 10)
    table.loc[table["layout"].isin([f"l{i}" for i in range(5)]), "passes"] = False
    assert openness(table, "p", "reach", "w0").open
    table.loc[(table["workload"] == "w1") & (table["layout"] == "l7"), "passes"] = False
    found = openness(table, "p", "reach", "w0")
    assert not found.open and "44 of 90" in found.reason
    # of the asked workload nothing counts
    assert openness(table, "p", "reach", "w1").open
    table["informative"] = False
    assert openness(table, "p", "reach", "w0").open


def test_refusals_and_points_that_do_not_matter_count_for_neither_side():
    table = made_up(10)
    refusals = made_up(10, status="refused", covered=None, passes=None)
    unjudged = made_up(10, judged=False, covered=False, passes=False)
    both = pd.concat([table, refusals, unjudged], ignore_index=True)
    assert openness(both, "p", "reach", "w0") == openness(table, "p", "reach", "w0")
    assert openness(refusals, "p", "reach", "w0").workloads == 0
    for other in (("q", "reach"), ("p", "walk-cost")):
        assert not openness(table, *other, "w0").open


def test_the_family_of_a_design_must_be_open_too():
    stlb, coalescing = made_up(12).assign(family="STLB"), made_up(12).assign(family="coalescing")
    coalescing.loc[coalescing["workload"].isin(["w1", "w2"]), "covered"] = False
    whole = pd.concat([stlb, *[stlb.assign(layout=stlb["layout"] + str(i)) for i in range(9)], coalescing])

    def asked(*families):
        return family_openness(whole, "p", "reach", "w0", families)

    assert openness(whole, "p", "reach", "w0").open and asked("STLB").open and asked().open
    for families in (["coalescing"], ["STLB", "coalescing"]):
        found = asked(*families)
        assert not found.open and "reach, coalescing" in found.reason and "9 of 11" in found.reason
    assert asked("STLB", "walk").open, "walk is of another class of the design"
    assert not asked("walk").open and "walk" in asked("walk").reason
    assert not family_openness(whole.assign(covered=False), "p", "reach", "w0", ["STLB"]).open


def predictions_of(answers: pd.DataFrame, passes) -> pd.DataFrame:
    keys = ["workload", "platform", "group", "variant", "layout"]
    rows = answers[keys].assign(inputs="counted", model="mosmodel", passes=passes)
    return frame_of(schema.PREDICTIONS, rows.to_dict("records"))


def test_the_table_for_a_new_design_by_hand():
    """12 workloads with 2 points each in `reach`: l0 gains 10%, l1 nothing; w1's l0 is refused."""
    table = made_up(12, 2)
    plain = table["layout"] == "l1"
    table.loc[plain, ["runtime_cycles", "low_cycles", "high_cycles"]] = [100, 99, 101]
    table.loc[plain, "informative"], table.loc[plain, "constant_passes"] = False, True
    table.loc[(table["workload"] == "w2") & ~plain, ["covered", "passes"]] = False
    table.loc[(table["workload"] == "w2") & ~plain, ["low_cycles", "high_cycles"]] = [91, 93]
    table.loc[(table["workload"] == "w1") & ~plain, "status"] = "refused"
    names = {"w0": "gups-8gb", "w1": "xsbench-4gb"}
    table["workload"] = table["workload"].replace(names)
    found = new_designs(table, predictions_of(table, plain)).set_index(["scope", "group"])
    row = found.loc[("all", "reach")]
    counts = ["workloads", "judged", "answered", "covered", "passing", "informative", "informative_answered",
              "informative_covered", "informative_passing", "constant_passing", "mosmodel_passing",
              "mosmodel_informative_passing"]  # fmt: skip
    assert row[counts].tolist() == [12, 24, 23, 22, 22, 12, 11, 10, 10, 12, 12, 0]
    # 22 answers of width 2 and one 1 below its interval: (22 x 2 + 2 + 20 x 1) / 23, of R_0 = 100
    assert row["interval_score"] == pytest.approx((22 * 2 + 2 + 20) / 23 / 100)
    # constant: each other workload has scores 0.1 and 0, so 90% of the mass needs 0.1; all are inside
    assert row["constant_interval_score"] == pytest.approx(0.2)
    assert (row["worth"], row["half_width"]) == ("trivial", pytest.approx(1 / 90))
    # w2 is covered in one of two points, the others in all: open for everyone, as 10 of 11 are covered
    assert row["open_for"] == 12
    new = found.loc[("new", "reach")]
    assert (new["workloads"], new["judged"], new["open_for"]) == (11, 22, 11)
    assert new["constant_interval_score"] == pytest.approx(0.2)  # of all others, gups-8gb too
    assert found.loc[("all", "all"), counts].tolist() == row[counts].tolist()
    assert found.loc[("all", "walk-cost"), "judged"] == 0 and np.isnan(
        found.loc[("all", "walk-cost"), "half_width"]
    )


def test_few_workloads_give_no_interval_of_90_percent_to_the_constant():
    table = made_up(9, 3)
    found = new_designs(table, predictions_of(table, False)).set_index(["scope", "group"])
    row = found.loc[("all", "reach")]
    assert np.isnan(row["constant_interval_score"]) and row["open_for"] == 0 and row["worth"] == ""
    assert found.loc[("all", "all"), "open_for"] is pd.NA or np.isnan(found.loc[("all", "all"), "open_for"])
