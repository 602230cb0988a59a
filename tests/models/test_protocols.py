"""Protocols: who is fitted to what, with numbers from independent loops."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tessera.core.errors import TesseraError
from tessera.fit.evaluation.accuracy import accuracy, relative_errors
from tessera.fit.evaluation.judgement import JUDGEMENT_FILES, learning_curve, write_empty, write_judgement
from tessera.fit.evaluation.protocols import PROTOCOLS, grouped_folds, protocol_registry, run_protocols
from tessera.fit.fitting import fit_all
from tessera.fit.models.registry import MODELS, create
from tessera.fit.models.samples import check_samples

from .builders import make_frame, make_samples, noisy, random_inputs


def table(samples=None, gb=True):
    frame = make_frame(noisy() if samples is None else samples)
    if gb:
        frame.loc[len(frame)] = ["1gb", 5.2e9, 3, 2, 70]
    return check_samples(frame)


def rows(judged, **where):
    for column, value in where.items():
        judged = judged[judged[column] == value]
    return judged


def number(judged, **where):
    (found,) = rows(judged, **where)["max_error"]
    return found


@pytest.fixture(scope="module")
def judged():
    return run_protocols(table())


def test_all_and_1gb_are_those_of_the_fit(judged):
    fitted = fit_all(table(), folds=())
    for row in fitted.errors.itertuples():
        found = rows(judged, model=row.model, protocol=row.protocol).iloc[0]
        assert found["max_error"] == row.max_error and found["geomean_error"] == row.geomean_error
    assert set(rows(judged, protocol="1gb")["test_samples"]) == {1}


def test_k_folds_without_duplicates_are_those_of_cv(judged):
    for row in fit_all(table()).cv.itertuples():
        assert number(judged, model=row.model, protocol="kfold", setting=str(row.folds)) == row.max_error


def test_models_that_learn_nothing_take_no_part_in_cross_validation(judged):
    trained = {name for name, model in MODELS.items() if model.cross_validated}
    assert {"poly1", "poly2", "poly3", "mosmodel"} <= trained <= {*MODELS} - {"basu", "yaniv"}
    assert set(rows(judged, protocol="kfold")["model"]) == trained
    assert set(rows(judged, protocol="heuristics")["model"]) == {*MODELS}


def test_train_on_growing_test_on_sliding_by_hand(judged):
    s = noisy()
    growing, sliding = (np.array([n.startswith(h) for n in s.layouts]) for h in ("growing", "sliding"))
    slope, beta = np.polyfit(s.C[growing], s.R[growing], 1)
    worst = np.abs((beta + slope * s.C[sliding]) / s.R[sliding] - 1).max()
    found = rows(judged, model="poly1", protocol="heuristics", setting="growing->sliding").iloc[0]
    assert found["max_error"] == pytest.approx(worst, rel=1e-9)
    assert (found["train_samples"], found["test_samples"], found["samples"]) == (9, 36, 54)


def test_lines_through_anchors_have_them_in_every_setting(judged):
    s = noisy()
    random = s.subset([i for i, n in enumerate(s.layouts) if n.startswith("random")])
    yaniv = create("yaniv").fit(s)
    worst = relative_errors(random.R, yaniv.predict(random.H, random.M, random.C)).max()
    found = rows(judged, model="yaniv", protocol="heuristics", setting="sliding->random").iloc[0]
    assert found["max_error"] == worst and found["train_samples"] == 2


def test_the_one_in_ten_rule_is_said_or_enforced(judged):
    found = rows(judged, model="mosmodel", protocol="kfold", setting="6").iloc[0]
    assert found["message"] == "breaks the one-in-ten rule: 5 coefficients from 45 samples"
    assert np.isfinite(found["max_error"])
    strict = run_protocols(table(), ["mosmodel"], ["kfold", "all"], one_in_ten="refuse")
    assert np.isnan(number(strict, protocol="kfold", setting="6"))
    assert np.isfinite(number(strict, protocol="all"))


def duplicated():
    """18 distinct layouts, each three times: without grouping each would be predicted by its copies."""
    H, M, C = random_inputs(18, seed=2)
    R = 5e9 * (1 + np.random.default_rng(0).random(18))  # noise alone: nothing can be learned
    return make_samples(*(np.repeat(values, 3) for values in (R, H, M, C)))


@pytest.mark.slow
def test_duplicates_stay_in_one_fold():
    judged = run_protocols(table(duplicated(), gb=False), ["poly3", "gp"], ["kfold", "1gb"])
    assert number(judged, model="gp", protocol="kfold", setting="6") > 0.1  # a copy would give 0
    assert set(rows(judged, protocol="kfold", setting="6")["effective_n"]) == {15}
    cv = fit_all(table(duplicated(), gb=False), models=["poly3"]).cv.set_index("folds")
    assert cv.at[6, "max_error"] == number(judged, model="poly3", protocol="kfold", setting="6")
    alone = number(judged, model="poly3", protocol="kfold", setting="leave-one-out")
    assert cv.at[27, "max_error"] == cv.at[54, "max_error"] == alone
    assert cv.at[54, "message"] == "18 folds: each distinct sample is one" and set(cv["effective_n"]) == {18}
    copies = fit_all(table(duplicated(), gb=False), models=["poly3"], duplicates="apart").cv.set_index(
        "folds"
    )
    assert (
        copies.at[54, "max_error"] < cv.at[54, "max_error"]
        and copies.at[54, "message"] != cv.at[54, "message"]
    )
    blocked = rows(judged, model="poly3", protocol="kfold", setting="27").iloc[0]
    assert blocked["message"] == "27 folds are not possible with 18 distinct layouts"
    assert np.isfinite(number(judged, model="poly3", protocol="kfold", setting="leave-one-out"))
    assert rows(judged, protocol="1gb").iloc[0]["message"] == "there is no layout 1gb"


def test_a_copy_of_a_training_layout_is_not_tested():
    s = noisy()
    same = np.arange(54)
    same[s.layouts.index("random-2")] = s.layouts.index("growing-3")
    columns = (getattr(s, symbol)[same] for symbol in "RHMC")
    judged = run_protocols(table(make_samples(*columns)), ["poly1"], ["heuristics"])
    tested = judged.set_index("setting")["test_samples"]
    assert tested["growing->random"] == 8 and tested["random->growing"] == 8
    assert tested["sliding->random"] == 9 and tested["growing->sliding"] == 36


def test_a_manifest_names_more_duplicates():
    names = {"sliding-20-0": "random-0"}
    plain, joined = (run_protocols(table(), ["poly1"], ["kfold"], duplicate_of=d) for d in (None, names))
    assert number(plain, setting="54") > 0
    assert "53 distinct" in rows(joined, setting="54").iloc[0]["message"]


@given(groups=st.lists(st.integers(0, 9), min_size=10, max_size=60), data=st.data(), seed=st.integers(0, 99))
def test_folds_never_split_a_group(groups, data, seed):
    groups = np.unique(groups, return_inverse=True)[1]
    distinct = groups.max() + 1
    folds = data.draw(st.integers(1, int(distinct)))
    parts = grouped_folds(groups, folds, seed)
    assert sorted(np.concatenate(parts)) == list(range(len(groups)))
    where = [set(groups[part]) for part in parts]
    assert sum(len(w) for w in where) == distinct


def test_folds_of_single_groups_are_the_ungrouped_ones():
    plain = np.array_split(np.random.RandomState(0).permutation(54), 6)
    for ours, theirs in zip(grouped_folds(np.arange(54), 6, 0), plain, strict=True):
        assert list(ours) == list(theirs)


def test_a_hundred_layouts():
    H, M, C = random_inputs(100, seed=3)
    s = make_samples(5e9 + 0.5 * C, H, M, C)
    names = [f"random-{9 + i}" if n.startswith("extra") else n for i, n in enumerate(s.layouts[:54])]
    names += [f"random-{9 + i}" for i in range(46)]
    frame = make_frame(s).assign(layout=names)
    judged = run_protocols(check_samples(frame), ["poly1"], ["hundred"])
    assert list(judged["setting"]) == ["54", "70", "85", "100"]
    assert list(judged["test_samples"]) == [54, 70, 85, 100]
    assert judged["max_error"].max() < 1e-9  # a line is a line, however many
    few = run_protocols(table(), ["poly1"], ["hundred"])
    assert (
        few.iloc[3]["message"]
        == "needs 100 layouts, there are 54: tessera layouts generate --random-count 55"
    )


def test_unnamed_layouts_belong_to_no_heuristic():
    s = noisy()
    frame = make_frame(s)
    frame["layout"] = [n if n.startswith("growing") else f"own-{i}" for i, n in enumerate(frame["layout"])]
    judged = run_protocols(check_samples(frame), ["poly1"], ["heuristics"])
    assert "growing, random, sliding" in rows(judged, setting="growing->random").iloc[0]["message"]
    assert judged["max_error"].isna().all()


def test_unknown_names_list_the_valid_ones():
    with pytest.raises(TesseraError, match="'loo': .*\n.*1gb, all, heuristics, hundred, kfold"):
        run_protocols(table(), protocols=["loo"])
    with pytest.raises(ValueError, match="'all'"):
        protocol_registry(PROTOCOLS["all"], PROTOCOLS["all"])


def test_learning_curve_of_a_line_is_flat_zero():
    H, M, C = random_inputs()
    curve = learning_curve(table(make_samples(5e9 + 0.5 * C, H, M, C), gb=False), ["poly1"], draws=3)
    assert list(curve["train_samples"]) == [6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 54]
    assert curve["max_error"].max() < 1e-9 and set(curve["failed_draws"]) == {0}


def test_learning_curve_ends_at_the_fit_of_all():
    curve = learning_curve(table(), ["mosmodel", "poly2"], draws=2, sizes=[10])
    s = noisy()
    for name in ("mosmodel", "poly2"):
        order = np.argsort(s.layouts)
        model = create(name).fit(s.subset(order))
        worst = accuracy(relative_errors(s.R, model.predict(s.H, s.M, s.C))).max_error
        last = curve[curve["model"] == name].iloc[-1]
        assert last["max_error"] == pytest.approx(worst, rel=1e-12) and last["draws"] == 1
        assert np.isnan(last["unseen_max_error"])
        first = curve[curve["model"] == name].iloc[0]
        assert (
            first["unseen_max_error"] <= first["max_error"]
            and first["max_error_p10"] <= first["max_error_p90"]
        )


def test_learning_curve_says_what_failed():
    curve = learning_curve(table(), ["mosmodel"], draws=4, sizes=[5])
    assert curve.iloc[0]["failed_draws"] == 4 and "6 coefficients but 5 samples" in curve.iloc[0]["message"]
    assert np.isnan(curve.iloc[0]["max_error"])
    with pytest.raises(TesseraError, match="'basu'") as error:
        learning_curve(table(), ["basu"])
    assert error.value.code == "anchors-only"


def test_files_with_and_without_numbers(tmp_path):
    judged = write_judgement(table(), tmp_path, ["poly1", "basu"], ["1gb"], draws=1)
    written = pd.read_csv(tmp_path / "protocols.csv", keep_default_na=False)
    assert list(written["max_error"]) == list(judged["max_error"]) and len(judged) == 2
    assert set(pd.read_csv(tmp_path / "learning_curve.csv")["model"]) == {"poly1"}
    names = [table.name for table in JUDGEMENT_FILES]
    headers = {name: (tmp_path / f"{name}.csv").read_text().splitlines()[0] for name in names}
    write_empty(tmp_path)
    for name, header in headers.items():
        assert (tmp_path / f"{name}.csv").read_text() == header + "\n"
    write_judgement(table(), tmp_path, ["basu"], ["all"])
    assert not (tmp_path / "learning_curve.csv").exists()  # nothing to learn, and no stale curve
