"""The study of a made-up workload whose R is known: errors, twins, verdicts, refusals."""

from __future__ import annotations

import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.core.results import transfer_tables as schema
from tessera.core.results.table_io import frame_of
from tessera.lab.transfer import study, verdicts
from tests.studies.transfer import world

VARIANTS = ("noop", "new-layouts", "thp", "stlb-x2", "walkers-x2", "anchor-8", "delayed-tlb", "many-segment")
PAIR = {"workload": "made", "platform": "haswell-sim", "provenance": "simulated"}


@pytest.fixture
def tables(monkeypatch):
    found = study.study_tables(world.subject_of(monkeypatch, VARIANTS, ladders=True))
    return {table.name: frame_of(table, [PAIR | row for row in found[table.name]]) for table in schema.PARTS}


def part(tables, name, **where):
    rows = tables[f"transfer_{name}"]
    for column, value in where.items():
        rows = rows[rows[column] == value]
    return rows


def test_controls_have_transfer_error_0(tables):
    rows = part(tables, "twins", group="control", inputs="counted")
    assert len(rows) == 3 + 2 + 2 and (rows["transfer_error"] == 0).all() and (rows["kind"] == "exact").all()


def test_r_as_a_function_of_hmc_has_no_transfer_error(tables):
    """Half of the misses become hits: R is that of P there, and the slope corrects near twins."""
    rows = part(tables, "twins", variant="stlb-x2", inputs="counted")
    near = rows[rows["kind"] != "none"]
    assert len(near) and near["transfer_error"].abs().max() < 1e-9
    assert (rows[rows["kind"] == "none"]["distance"] > 0.01).all()


def test_same_counts_and_another_runtime_give_the_bound(tables):
    rows = part(tables, "twins", group="invisible", inputs="counted")
    assert len(rows) == len(world.LAYOUTS) and (rows["kind"] == "exact").all()
    assert rows["gap"].tolist() == pytest.approx([0.1] * len(rows))
    assert rows["least_error"].tolist() == pytest.approx([0.1 / 2.1] * len(rows))
    assert rows["transfer_error"].tolist() == pytest.approx([1 / 1.1 - 1] * len(rows))


def test_model_and_transfer_error_sum_to_the_error(tables):
    keys = ["group", "variant", "layout", "inputs"]
    joined = part(tables, "predictions", model="basu").merge(part(tables, "twins"), on=keys)
    joined = joined[joined["model_error"].notna()]
    assert len(joined) > 20
    total = joined["model_error"] + joined["transfer_error"]
    assert total.tolist() == pytest.approx(joined["error"].tolist(), abs=1e-12)


def test_the_constant_predicts_r0(tables):
    rows = part(tables, "predictions", model="constant", variant="walkers-x2", inputs="counted")
    assert rows["error"].tolist() == pytest.approx([1 / 1.1 - 1] * len(rows))
    assert (rows["hull_distance"] == 0).all()


def test_rejected_variants_are_rows_with_the_reason(tables):
    rows = part(tables, "points", variant="many-segment")
    assert set(rows["status"]) == {"refused"} and len(rows) == 2
    assert rows["message"].str.contains("9999").all()
    assert part(tables, "predictions", variant="many-segment").empty


def test_inputs_of_anchors(tables):
    rows = part(tables, "points", variant="anchor-8", layout="medium").set_index("inputs")
    H, M, C = world.counts("medium")
    assert rows.loc["latency", "stlb_hits"] == pytest.approx(7.5 * H / 7)
    assert rows.loc["busy", "walk_cycles"] == C + 5000
    assert rows.loc["counted", "background_cycles"] == 5000


def test_points_that_translation_hardly_matters_to_are_not_judged(tables):
    rows = part(tables, "points", variant="stlb-x2", inputs="counted").set_index("layout")
    for name in world.LAYOUTS:
        base = world.runtime(*world.counts(name))
        assert rows.loc[name, "judged"] == (base - world.IDEAL_CYCLES >= 0.05 * base)
        assert rows.loc[name, "gain_ci95_cycles"] == 0  # all units are alike


def test_verdicts_of_a_plane(tables):
    found = verdicts.verdicts(*(tables[f"transfer_{n}"] for n in ("points", "predictions", "twins", "fits")))
    by = found.set_index(["inputs", "group", "model"])
    assert by.loc[("counted", "reach", "mosmodel"), "verdict"] == "survives"
    assert by.loc[("counted", "reach", "constant"), "verdict"] == "fails"
    assert by.loc[("counted", "invisible", "mosmodel"), "verdict"] == "fails"
    assert by.loc[("counted", "invisible", "mosmodel"), "least_error"] == pytest.approx(0.1 / 2.1)
    row = by.loc[("counted", "invisible", "mosmodel")]
    assert (row["good_bad"], row["good_good"], row["bad_good"]) == (1, 0, 0)
    assert verdicts.survivors(found, "reach", "counted") == ["poly1", "mosmodel"]
    # `reach`: stlb-x2 alone; the plane passes all, R_0 only what hardly changes
    row, of_r0 = (by.loc[("counted", "reach", model)] for model in ("mosmodel", "constant"))
    points = part(tables, "points", variant="stlb-x2", inputs="counted")
    informative = int((points["judged"].astype(bool) & points["informative"].astype(bool)).sum())
    assert row["informative"] == informative == row["informative_passing"] > 0
    assert row["constant_passing"] == of_r0["passing"] < row["passing"] and of_r0["informative_passing"] == 0
    assert row["worth"] == "trivial" and informative < 20  # too few points, however good
    assert row["variant_share"] == row["pass_share"] == 1
    assert (found["workloads"] <= 1).all() and found["coverage"].isna().all()


def test_inversions_of_designs_by_hand():
    """Two variants under one layout of R_0 = 100: 80 and 90, predicted the other way round."""
    key = {"workload": "w", "platform": "p", "group": "reach", "layout": "l", "inputs": "counted"}
    points, predictions = [], []
    for name, runtime, guess in (("a", 80, 95), ("b", 90, 85)):
        numbers = {"runtime_cycles": runtime, "base_runtime_cycles": 100, "gain_ci95_cycles": 0.1}
        points.append(key | {"variant": name, "status": "ok", "judged": True} | numbers)
        predictions.append(
            key | {"variant": name, "model": "m", "predicted_cycles": guess, "error": guess / runtime - 1,
                   "bound_holds": False, "gain_holds": False, "passes": False, "hull_distance": 0.5}
        )  # fmt: skip
    frames = [frame_of(schema.POINTS, points), frame_of(schema.PREDICTIONS, predictions)]
    frames += [frame_of(schema.TWINS, []), frame_of(schema.FITS, [])]
    row = verdicts.verdicts(*frames).set_index("inputs").loc["counted"]
    assert (row["pairs"], row["inversions"], row["outside_fail"]) == (1, 1, 2)
    assert row["worst_error"] == pytest.approx(15 / 80)
    assert (row["good_good"], row["bad_bad"]) == (0, 0)  # without fits nothing is known of P


def test_ladders_begin_at_p_and_name_what_is_rejected(tables):
    rows = part(tables, "ladder", ladder="delayed-tlb", layout="medium")
    gap = 0.5 * world.runtime(*world.counts("medium"))
    assert rows["step_cycles"].sum() == pytest.approx(gap) == rows["gap_cycles"].iloc[0]
    assert rows["mechanism"].iloc[0] == "P" and rows["step"].tolist() == list(range(len(rows)))
    assert part(tables, "ladder", ladder="many-segment")["status"].tolist().count("refused") == 2


def test_samples_say_what_the_models_are_fitted_to(tables):
    rows = part(tables, "samples")
    assert set(rows[rows["fitted"].astype(bool)]["layout"]) == set(world.LAYOUTS)
    assert set(rows[rows["pages"] == "mapping"]["layout"]) == {"medium", "high"}
    assert (rows["ideal_runtime_cycles"] == world.IDEAL_CYCLES).all()


def test_too_few_distinct_samples_are_named(monkeypatch):
    subject = world.subject_of(monkeypatch, ("noop",))
    few = study.Subject(**{**vars(subject), "layouts": world.files(["growing-0", "growing-4", "growing-8"])})
    with pytest.raises(TesseraError, match="3 samples"):
        study.study_tables(few)
    none = study.Subject(**{**vars(subject), "layouts": world.files(["growing-8"])})
    with pytest.raises(TesseraError, match="growing-0"):
        study.study_tables(none)


def test_a_table_of_points_has_a_row_for_each_input(tables):
    rows = part(tables, "points", status="ok")
    assert not rows.duplicated(["group", "variant", "layout", "inputs"]).any()
    assert pd.Series(rows["inputs"]).value_counts().nunique() == 1
