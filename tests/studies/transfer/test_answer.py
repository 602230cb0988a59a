"""Who may answer for a design: survivors with an interval that covers, else the engine, else the bound."""

from __future__ import annotations

import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.predict_design import predict_design
from tessera.core.errors import TesseraError
from tessera.fit.predict.design import read_design
from tessera.judge.studies.transfer import answer, coverage, own_design, study, verdicts
from tessera.judge.studies.transfer.declared import INPUTS, Point
from tessera.judge.studies.transfer.own_design import Counted, OwnDesign, read_own
from tessera.results.schema import transfer as schema
from tessera.results.tree import Tree
from tessera.results.write import frame_of, write
from tests.studies.transfer import world

VARIANTS = ("noop", "stlb-x2", "walkers-x2", "delayed-tlb")
PLATFORM = "haswell-sim"
X = Point(5e5, 5e5, 5.1e7)
WORKLOADS = ("one", "two", "three")


@pytest.fixture(scope="module")
def tables():
    """Three workloads that are alike, so that one of them can be left out."""
    patch = pytest.MonkeyPatch()
    rows = study.tables(world.request_of(patch, VARIANTS))
    patch.undo()
    found = {}
    for table in schema.PARTS:
        pairs = [{"workload": w, "platform": PLATFORM, "provenance": "simulated"} for w in WORKLOADS]
        found[table.name] = frame_of(table, [pair | row for pair in pairs for row in rows[table.name]])
    return found


@pytest.fixture
def results(tmp_path, tables, monkeypatch):
    """A results tree; ``change`` alters the tables before the verdicts."""
    monkeypatch.setattr(own_design.Window, "of", classmethod(lambda *of: None))

    def make(change=lambda made: None):
        made = {name: table.copy() for name, table in tables.items()}
        change(made)
        named = (made[f"transfer_{name}"] for name in ("points", "predictions", "twins", "fits"))
        made[schema.VERDICTS.name] = verdicts.verdicts(*named)
        made[schema.WIDTHS.name] = verdicts.widths(made["transfer_points"], made["transfer_predictions"])
        for table in schema.OF_RUN:
            write(table, made[table.name], table.place(Tree(tmp_path)))
        return tmp_path

    return make


def simulated(monkeypatch, runtime=7e8):
    """The design's counts; records whether R was asked for."""
    asked = []

    def one(design, window, platform, cache, *, timed, progress):
        asked.append(timed)
        return Counted(dict.fromkeys(INPUTS, X), runtime if timed else float("nan"))

    monkeypatch.setattr(own_design, "simulate_own", one)
    return asked


def only(found):
    (row,) = found.answers.to_dict("records")
    return row


def test_a_model_that_survived_answers_with_an_interval(results, monkeypatch):
    asked = simulated(monkeypatch)
    design = OwnDesign("bigger", {"tlb.stlb.entries": 2048})
    found = answer.answer_design(results(), design, "one", PLATFORM)
    row = only(found)
    assert row["source"] in ("poly1", "mosmodel") and row["groups"] == "K1" and asked == [False]
    assert row["runtime_cycles"] == pytest.approx(world.runtime(*X), rel=1e-3)
    assert row["low_cycles"] <= row["runtime_cycles"] <= row["high_cycles"]
    assert row["coverage"] == 1 and row["points"] == 2 * _judged(results(), "K1")
    assert set(found.asked["model"]) == {"basu", "poly1", "mosmodel"}


def _judged(root, group) -> int:
    rows = pd.read_csv(root / "studies" / "transfer" / "points.csv")
    rows = rows[(rows["workload"] == "one") & (rows["group"] == group) & (rows["inputs"] == "counted")]
    return int(rows["judged"].sum())


def test_where_none_survived_the_engine_answers_and_says_why(results, monkeypatch):
    asked = simulated(monkeypatch)
    row = only(answer.answer_design(results(), OwnDesign("w", {"walker.count": 2}), "one", PLATFORM))
    assert (row["source"], row["runtime_cycles"], asked) == (answer.ENGINE, 7e8, [True])
    assert "K3" in row["message"] and pd.isna(row["low_cycles"])
    assert row["least_error"] == pytest.approx(0.1 / 2.1)


def test_a_design_of_two_classes_needs_a_model_that_survived_both(results, monkeypatch):
    simulated(monkeypatch)
    design = OwnDesign("both", {"tlb.stlb.entries": 2048, "walker.count": 2})
    row = only(answer.answer_design(results(), design, "one", PLATFORM))
    assert (row["groups"], row["source"]) == ("K1 K3", answer.ENGINE)


def test_another_cache_is_in_no_class(results, monkeypatch):
    simulated(monkeypatch)
    row = only(answer.answer_design(results(), OwnDesign("c", {"cache.l2.ways": 4}), "one", PLATFORM))
    assert row["source"] == answer.ENGINE and "cache.l2.ways=4" in row["message"]


def test_an_interval_that_does_not_cover_is_not_trusted(results, monkeypatch):
    simulated(monkeypatch)

    def change(made):
        """poly1 is exact on `one` and `two`, and 2% off on `three`: no half-width covers `three`."""
        rows = made["transfer_predictions"]
        rows.loc[:, "error"] = 0.0
        rows.loc[rows["workload"] == "three", "error"] = 0.02

    row = only(
        answer.answer_design(results(change), OwnDesign("b", {"tlb.stlb.entries": 2048}), "one", PLATFORM)
    )
    assert row["source"] == answer.ENGINE and "67%" in row["message"]


def test_one_workload_gives_no_interval(results, monkeypatch):
    simulated(monkeypatch)

    def change(made):
        for name, table in made.items():
            made[name] = table[table["workload"] == "one"]

    row = only(
        answer.answer_design(results(change), OwnDesign("b", {"tlb.stlb.entries": 2048}), "one", PLATFORM)
    )
    assert row["source"] == answer.ENGINE


def test_counts_from_elsewhere_have_no_engine(results):
    counts = read_design(
        pd.DataFrame([("mine", *X)], columns=["design", "stlb_hits", "stlb_misses", "walk_cycles"])
    )
    row = only(answer.answer_counts(results(), counts, "one", PLATFORM, "K3"))
    assert (row["source"], row["runtime_cycles"] != row["runtime_cycles"]) == (answer.BOUND, True)
    assert row["least_error"] == pytest.approx(0.1 / 2.1)
    row = only(answer.answer_counts(results(), counts, "one", PLATFORM, "K1"))
    assert row["runtime_cycles"] == pytest.approx(world.runtime(*X), rel=1e-3)


@pytest.mark.parametrize(
    ("workload", "platform", "group", "named"),
    [
        ("one", "broadwell-sim", "K1", PLATFORM),
        ("four", PLATFORM, "K1", "three on haswell-sim"),
        ("one", PLATFORM, "K2", "K1"),
        ("one", PLATFORM, "K9", "K9"),
    ],
)
def test_what_the_study_lacks_is_named(results, workload, platform, group, named):
    counts = read_design(pd.DataFrame({"stlb_hits": [1], "stlb_misses": [1], "walk_cycles": [1]}))
    with pytest.raises(TesseraError) as refused:
        answer.answer_counts(results(), counts, workload, platform, group)
    assert named in f"{refused.value.asked} {refused.value.found}"


def test_the_command_prints_the_source_and_writes_tables(results, tmp_path):
    counts, out = tmp_path / "counts.csv", tmp_path / "answer.csv"
    counts.write_text(f"design,stlb_hits,stlb_misses,walk_cycles\nmine,{X.H},{X.M},{X.C}\n")
    common = [
        "--counts",
        str(counts),
        "--workload",
        "one",
        "--platform",
        PLATFORM,
        "--results",
        str(results()),
    ]
    done = CliRunner().invoke(predict_design, [*common, "--class", "K1", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "mine" in done.output and "90%" not in done.output and "100%" in done.output
    assert pd.read_csv(out)["source"].isin(["poly1", "mosmodel"]).all()
    done = CliRunner().invoke(predict_design, [*common, "--class", "K5"])
    assert done.exit_code == 0 and f"source: {answer.BOUND}" in done.output


def test_counts_without_a_class_are_refused(tmp_path):
    done = CliRunner().invoke(
        predict_design, ["--counts", "c.csv", "--workload", "w", "--platform", PLATFORM]
    )
    assert isinstance(done.exception, TesseraError) and done.exception.code == "design-or-counts"


def test_designs_are_read_and_checked(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("changes: {mmu.design: anchor, design.anchor.distance_pages: 16}\nmapping: medium\n")
    found = read_own(path)
    assert (found.name, found.pages, found.changes["design.anchor.distance_pages"]) == ("mine", "medium", 16)
    for text, named in (
        ("typo: 1\n", "typo"), ("[1]\n", "list"), ("mapping: a\nlayout: b\n", "mapping"),
        ("changes: {tlb.stlb.entries: [1]}\n", "changes"),
    ):  # fmt: skip
        path.write_text(text)
        with pytest.raises(TesseraError) as refused:
            read_own(path)
        assert named in f"{refused.value.asked} {refused.value.found}"


def test_the_half_width_is_that_of_the_other_workloads():
    judged = pd.DataFrame({"workload": ["a"] * 20 + ["b"], "error": [0.01] * 20 + [0.5]})
    assert coverage.left_out(judged, "a") == 0.5 and coverage.left_out(judged, "b") == 0.01
