"""`tessera predict` on samples: answers and formulas, every refusal by its code and exit status."""

import json
import math
import re
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import tessera
from tessera.cli.main import cli
from tessera.core.errors import TesseraError
from tessera.core.results.cell_tables import MODELS_OF_PAIR
from tessera.core.results.transfer_tables import DESIGN_ANSWERS
from tessera.fit.models.registry import EVERY
from tessera.fit.predict import ExtrapolationWarning, predict_designs
from tessera.fit.predict.counts import DesignPoint, Statement, answer, read_design_points
from tessera.fit.predict.formula import NOT_AN_ANSWER
from tessera.fit.predict.processor import of_samples

from .builders import design, samples

STATED = ("--hits-are", "latency", "--walk-cycles-are", "busy", "--design-class", "reach")
#: without the platform, whose hit time and walkers are those of haswell-sim
POINT = ("--point", "1e7,5e7,2e9")
LINE = samples(noise=0.0)
ROOT = Path(__file__).resolve().parents[2]
#: Every number of cycles that is printed.
RUNTIME = re.compile(r"(?<![\w.])(-?[\d.]+(?:e[+-]?\d+)?|-?nan|-?inf) cycles\b")


def run(*words):
    return CliRunner().invoke(cli, ["predict", *map(str, words)])


def error(done) -> TesseraError:
    assert isinstance(done.exception, TesseraError), (done.exception, done.output)
    return done.exception


@pytest.fixture
def cells(tmp_path):
    path = tmp_path / "cells.csv"
    LINE.to_csv(path, index=False)
    return path


def counts(tmp_path, **columns):
    path = tmp_path / "counts.csv"
    row = {"design": ["mine"], "stlb_hits": [1e7], "stlb_misses": [5e7], "walk_cycles": [2e9]}
    pd.DataFrame({k: v for k, v in (row | columns).items() if v is not None}).to_csv(path, index=False)
    return path


def codes(done) -> list[str]:
    return [reason["code"] for reason in json.loads(done.stdout)["reasons"]]


def test_half_of_the_walk_cycles(cells, tmp_path):
    """R = 5e9 + 0.5 C: from 7e9 to 6e9. Known to hold: the interval, the sentence, JSON, CSV, Python."""
    asked = ("--samples", cells, "--counts", counts(tmp_path), *STATED)
    done = run(*asked, "--out", tmp_path / "out.csv")
    assert done.exit_code == 0, done.output
    line, *rest = done.stdout.splitlines()
    assert re.fullmatch(
        r"mine: -14\.\d% of P \(-15\.\d% to -13\.\d%\), (5\.9|6\.0)\de9 cycles, source bracket, level C", line
    )
    assert all(text.startswith("  ") for text in rest)
    entry = json.loads(run(*asked, "--json").stdout)
    assert entry["low_cycles"] <= 6e9 <= entry["high_cycles"] and entry["base_runtime_cycles"] == 7e9
    written = pd.read_csv(tmp_path / "out.csv", keep_default_na=False)
    assert tuple(written.columns) == DESIGN_ANSWERS.names
    assert (written["platform"][0], written["provenance"][0]) == ("haswell-sim", "simulated")
    frame = tessera.predict(
        counts=counts(tmp_path), samples=cells, hits_are="latency", walk_cycles_are="busy", classes="reach"
    )
    assert frame["runtime_cycles"][0] == entry["runtime_cycles"] == float(written["runtime_cycles"][0])


def test_a_design_under_two_layouts_names_them(cells, tmp_path):
    two = {"design": ["mine"] * 2, "layout": ["4kb", "growing-3"], "stlb_hits": 1e7, "stlb_misses": 5e7}
    lines = run("--samples", cells, "--counts", counts(tmp_path, **two, walk_cycles=2e9), *STATED).stdout
    assert re.findall(r"^(mine.*?):", lines, re.M) == ["mine under growing-0", "mine under growing-3"]


@pytest.mark.parametrize("name", ["walkers", "hit_cycles", "miss_cycles"])
def test_words_for_numbers_are_refused_in_python(name):
    with pytest.raises(TesseraError) as refused:
        tessera.predict(counts=design(), samples=LINE, **{name: "7"})
    assert refused.value.code == "no-number"


def test_one_design_without_a_file(cells):
    done = run("--samples", cells, *POINT, *STATED)
    assert done.exit_code == 0 and done.stdout.startswith("design: -14.")
    there = run("--samples", cells, *POINT, "--layout", "growing-3", *STATED, "--json")
    base = LINE.set_index("layout")["runtime_cycles"]["growing-3"]
    assert json.loads(there.stdout)["base_runtime_cycles"] == base


def test_the_fit_keeps_the_samples(cells, tmp_path):
    fit = tmp_path / "fit"
    words = ["models", "fit", "--samples", cells, "--out", fit, "--folds", "3", "--model", "poly1"]
    assert CliRunner().invoke(cli, list(map(str, words))).exit_code == 0
    of_samples_, of_fit = (run(*source, *POINT, *STATED, "--json") for source in (("--samples", cells),
                                                                                ("--fit", fit)))  # fmt: skip
    assert json.loads(of_fit.stdout) == json.loads(of_samples_.stdout)
    document = json.loads((fit / "fit.json").read_text())
    for data in ([], {"layouts": []}, document["data"] | {"R": [1]}):
        (fit / "fit.json").write_text(json.dumps(document | {"data": data}))
        assert "fit.json" in error(run("--fit", fit, *POINT, *STATED)).asked
    del document["data"]
    (fit / "fit.json").write_text(json.dumps(document))
    assert error(run("--fit", fit, *POINT, *STATED)).code == "fit-without-samples"


def test_a_clock_of_another_simulator(cells, tmp_path):
    """S = 0.97 R: the gate accepts. P is simulated, so level C; `invisible` is answered, too."""
    clock = tmp_path / "clock.csv"
    LINE[["layout"]].assign(runtime_cycles=LINE["runtime_cycles"] * 0.97).to_csv(clock, index=False)
    asked = ("--samples", cells, "--clock", clock, "--counts", counts(tmp_path, runtime_cycles=[0.97 * 6e9]))
    entry = json.loads(run(*asked, *STATED, "--json").stdout)
    assert (entry["source"], entry["level"]) == ("calibrated", "C")
    assert entry["runtime_cycles"] == pytest.approx(6e9, rel=0.003)
    of_queues = json.loads(run(*asked, *STATED[:-1], "invisible", "--json").stdout)
    assert of_queues["source"] == "calibrated"
    clock.write_text("layout,runtime_cycles\ngrowing-0,1e9\n")
    done = run(*asked, *STATED[:-1], "invisible", "--json")
    assert done.exit_code == 3 and "layouts-differ" in codes(done)
    for text, code in (
        ("layout,runtime_cycles\na,1\na,2\n", "table-double"),
        ("layout\na\n", "clock-columns"),
    ):
        clock.write_text(text)
        assert error(run(*asked, *STATED)).code == code


# What is not stated, or stated as an input of no source: words instead of STATED -> codes
UNSTATED = {
    "hits": (STATED[2:], ["hits-unstated"]),
    "walk cycles": ((*STATED[:2], *STATED[4:]), ["walk-cycles-unstated"]),
    "class": (STATED[:4], ["class-absent"]),
    "nothing": ((), ["hits-unstated", "walk-cycles-unstated", "class-absent"]),
    "accesses": (("--hits-are", "accesses", *STATED[2:]), ["hits-accesses"]),
    "waited": ((*STATED[:2], "--walk-cycles-are", "waited", *STATED[4:]), ["walk-cycles-waited"]),
}


@pytest.mark.parametrize("case", UNSTATED)
def test_what_is_not_stated_is_refused_with_what_to_add(case, cells):
    words, expected = UNSTATED[case]
    done = run("--samples", cells, *POINT, *words, "--json")
    assert (done.exit_code, codes(done)) == (3, expected)
    shown = run("--samples", cells, *POINT, *words)
    assert shown.exit_code == 3 and shown.stdout.startswith("design: no answer, source none\n")
    assert shown.stdout.count("what would help: ") == len(expected)


def test_walkers_and_hit_time_come_from_the_platform_or_are_stated(tmp_path):
    path = tmp_path / "cells.csv"
    LINE.assign(platform="my processor").to_csv(path, index=False)
    assert codes(run("--samples", path, *POINT, *STATED, "--json")) == [
        "no-clock",
        "hit-cycles-absent",
        "no-engine",
    ]
    done = run("--samples", path, *POINT, *STATED, "--hit-cycles", 7, "--json")
    assert codes(done) == ["no-clock", "walkers-absent", "no-engine"]
    for words in (("--hit-cycles", 7, "--walkers", 1), ("--platform", "haswell-sim")):
        assert run("--samples", path, *POINT, *STATED, *words).exit_code == 0
    assert "no such platform" in str(error(run("--samples", path, *POINT, *STATED, "--platform", "mine")))


# Bad counts: columns -> codes of the answer (None: the file itself is wrong, exit status 2)
COUNTS = {
    "C' is 0": ({"walk_cycles": [0]}, ["no-clock", "no-walks", "no-engine"]),
    "C' is 4.01 times the largest": ({"walk_cycles": [4.01 * 4e9]}, ["no-clock", "far", "no-engine"]),
    "H' is absent": ({"stlb_hits": None}, ["no-clock", "h-absent", "no-engine"]),
    "an empty H'": ({"stlb_hits": [""]}, ["no-clock", "h-absent", "no-engine"]),
    "C' is absent": ({"walk_cycles": None}, ["no-clock", "c-absent", "no-engine"]),
    "M' is absent": ({"stlb_misses": None}, ["m-absent"]),
    "NaN": ({"walk_cycles": ["NaN"]}, ["no-clock", "c-not-finite", "no-engine"]),
    "infinite": ({"stlb_hits": ["inf"]}, ["no-clock", "h-not-finite", "no-engine"]),
    "negative": ({"stlb_hits": [-1]}, ["no-clock", "h-negative", "no-engine"]),
    "negative M'": ({"stlb_misses": [-1]}, ["m-negative"]),
    "an unknown layout": ({"layout": ["growing-77"]}, ["layout-unknown"]),
}


@pytest.mark.parametrize("case", COUNTS)
def test_bad_counts(case, cells, tmp_path):
    columns, expected = COUNTS[case]
    done = run("--samples", cells, "--counts", counts(tmp_path, **columns), *STATED, "--json")
    assert (done.exit_code, codes(done)) == (3, expected)


def test_files_of_counts_that_are_wrong(cells, tmp_path):
    twice = {"design": ["a", "a"], "stlb_hits": 1, "stlb_misses": 1, "walk_cycles": 1}
    for frame, code in (
        (pd.DataFrame(twice), "table-double"),
        (pd.DataFrame(twice).assign(design=["a", ""]), "design-unnamed"),
        (pd.DataFrame(twice).iloc[:0], "no-rows"),
        (pd.DataFrame(twice).assign(design=["a", "b"], walk_cycles="many"), "table-number"),
    ):
        with pytest.raises(TesseraError) as refused:
            read_design_points(frame)
        assert (refused.value.code, refused.value.exit_code) == (code, 2)
    under_two = pd.DataFrame(twice).assign(layout=["growing-0", "4kb"])
    with pytest.raises(TesseraError, match="under growing-0"):
        read_design_points(under_two)
    found = read_design_points(pd.DataFrame(twice).assign(layout=["growing-0", "growing-1"]))
    assert [row.layout for row in found.rows] == ["growing-0", "growing-1"]
    cells_ = pd.DataFrame(twice).drop(columns="design").assign(layout=["2mb", "1gb"], status=["ok", "failed"])
    found = read_design_points(cells_)
    assert [row.design for row in found.rows] == ["growing-8"] and "1gb" in found.notes[0]
    assert [row.design for row in read_design_points(pd.DataFrame(twice).drop(columns="design")).rows] == [
        "row 1",
        "row 2",
    ]
    assert error(run("--samples", cells, "--counts", counts(tmp_path), "--only", "yours", *STATED)).code == (
        "design-unknown"
    )


# Counts or statements that contradict each other: (samples, words instead of the point, words more) -> code
SWAPPED = ("--point", "1e7,2e9,5e7")
CONTRADICTIONS = {
    "C' in millions of cycles": (LINE, ("--point", "1e7,5e7,2e3"), (), "units"),
    "C' and M' swapped": (LINE, SWAPPED, (), "units"),
    "C of all in millions": (
        LINE.assign(walk_cycles=LINE["walk_cycles"] / 1e6), ("--point", "1e7,5e7,2e3"), (), "units"),
    "R in seconds": (LINE.assign(runtime_cycles=LINE["runtime_cycles"] / 3e9), POINT, (), "units"),
    "walks of two walkers": (LINE.assign(runtime_cycles=LINE["walk_cycles"] / 2 + 1), POINT, (), "units"),
    "a second walker": (LINE, POINT, ("--walkers", "2"), "walkers-differ"),
    "control that changes something": (LINE, POINT, ("--design-class", "control"), "changed"),
    "no hit time": (LINE, POINT, ("--hit-cycles", "0"), "hit-cycles-zero"),
}  # fmt: skip


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_contradictions_are_no_answer(case, tmp_path):
    frame, point, words, code = CONTRADICTIONS[case]
    path = tmp_path / "cells.csv"
    frame.to_csv(path, index=False)
    stated = STATED[:-2] if "--design-class" in words else STATED
    done = run("--samples", path, *point, *stated, *words, "--json")
    assert done.exit_code == 3 and code in codes(done)


def test_a_contradiction_is_shown_once(cells):
    for word, lines in (("control", 1), ("invisible", 0)):
        shown = run("--samples", cells, *POINT, *STATED[:-1], word)
        assert shown.exit_code == 3 and shown.stdout.count("class control") == lines


def test_control_beside_a_class_is_that_class(cells):
    entry = json.loads(run("--samples", cells, *POINT, *STATED, "--design-class", "control", "--json").stdout)
    assert (entry["classes"], entry["source"]) == (["reach"], "bracket")


def test_a_clock_with_the_samples_own_runtimes_is_no_other_clock(cells, tmp_path):
    """S = R would pass the gate exactly, and would be level A on a measured P."""
    LINE.assign(runtime_provenance="measured").to_csv(cells, index=False)
    clock = tmp_path / "clock.csv"
    LINE[["layout", "runtime_cycles"]].to_csv(clock, index=False)
    asked = ("--samples", cells, "--clock", clock, "--counts", counts(tmp_path, runtime_cycles=[6e9]))
    entry = json.loads(run(*asked, *STATED, "--json").stdout)
    assert (entry["source"], entry["level"]) == ("bracket", "C")
    assert entry["sources"]["calibrated"]["reasons"][0]["code"] == "no-clock"


@pytest.mark.parametrize("one", ["", "simulated"])
def test_a_row_that_is_not_measured_makes_p_not_measured(one, tmp_path):
    frame = LINE.assign(runtime_provenance=["measured"] * 39 + [one])
    assert of_samples(frame).origin != "measured"
    assert of_samples(LINE.assign(runtime_provenance="measured")).origin == "measured"


# Counts: change of a good frame -> code of the wrong request
WRONG_COUNTS = {
    "a misspelled layout": ({"layuot": "growing-8"}, "column-alike"),
    "a name of two lines": ({"design": "a\nlevel A"}, "design-unnamed"),
    "another workload": ({"workload": "yours"}, "pair-differs"),
}


@pytest.mark.parametrize("case", WRONG_COUNTS)
def test_counts_that_are_another_question(case):
    columns, code = WRONG_COUNTS[case]
    stated = {"hits_are": "latency", "walk_cycles_are": "busy", "classes": "reach"}
    known = LINE.assign(workload="mine")
    with pytest.raises(TesseraError) as refused:
        tessera.predict(counts=design(**columns), samples=known, **stated)
    assert (refused.value.code, refused.value.exit_code) == (code, 2)


# Samples of P: change -> (code, exit status); an answer's codes hold it, or the file is refused with it
def _few(n):
    return LINE.iloc[[*range(9), *range(9, n)]]


SAMPLES = {
    "without C": (LINE.drop(columns="walk_cycles"), "c-absent"),
    "without H": (LINE.drop(columns="stlb_hits"), "h-absent"),
    "without R": (LINE.drop(columns="runtime_cycles"), "r-absent"),
    "R is empty": (LINE.assign(runtime_cycles=""), "r-absent"),
    "NaN": (LINE.assign(walk_cycles=[np.nan, *LINE["walk_cycles"][1:]]), "table-number"),
    "negative": (LINE.assign(stlb_hits=[-1, *LINE["stlb_hits"][1:]]), "table-number"),
    "11 layouts": (_few(11), "few-layouts"),
    "one (H, M, C)": (LINE.assign(stlb_hits=1, stlb_misses=1, walk_cycles=1), "few-layouts"),
    "equal C": (LINE.assign(walk_cycles=1e9), "equal-c"),
    "without the 2MB run": (LINE.drop(index=8), "no-anchor"),
}  # fmt: skip


@pytest.mark.parametrize("case", SAMPLES)
def test_bad_samples(case, tmp_path):
    frame, code = SAMPLES[case]
    path = tmp_path / "cells.csv"
    frame.to_csv(path, index=False)
    done = run("--samples", path, *POINT, *STATED, "--json")
    if isinstance(done.exception, TesseraError):
        assert (done.exception.code, done.exception.exit_code) == (code, 3)
    else:
        assert done.exit_code == 3 and code in codes(done)


def test_12_layouts_are_enough_and_one_h_changes_nothing(tmp_path):
    """H has a part in the look-ups only: with H' = H_0 the answer is the same."""
    path = tmp_path / "cells.csv"
    _few(12).to_csv(path, index=False)
    assert run("--samples", path, *POINT, *STATED).exit_code == 0
    entries = []
    for frame in (LINE, LINE.assign(stlb_hits=1e7)):
        frame.to_csv(path, index=False)
        entries.append(json.loads(run("--samples", path, *POINT, *STATED, "--json").stdout))
    assert entries[0] == entries[1], "the 4KB run has 1e7 hits in both"


def test_layouts_twice_and_two_platforms_are_wrong_files(tmp_path):
    path = tmp_path / "cells.csv"
    for frame in (pd.concat([LINE, LINE.iloc[:1]]), LINE.assign(platform=["a", *["b"] * 39])):
        frame.to_csv(path, index=False)
        assert error(run("--samples", path, *POINT, *STATED)).exit_code == 2


# Wrong requests of the command: words -> code
WRONG = {
    "nothing": ((), "one-question"),
    "two designs": (("--counts", "a.csv", *POINT), "one-question"),
    "half a design": (("--point", "1e7,5e7"), "one-question"),
    "no P": ((*POINT,), "no-p"),
    "a layout beside a table": (("--counts", "a.csv", "--layout", "4kb"), "layout-twice"),
    "a name of one design": ((*POINT, "--samples", "CELLS", "--only", "mine", *STATED), "only-of-a-table"),
    "another platform than the samples'": (
        (*POINT, "--samples", "CELLS", "--platform", "skylake-sim", *STATED), "pair-differs"),
    "two sources": ((*POINT, "--samples", "a", "--fit", "b"), "two-sources-of-p"),
    "two sources of a formula": (
        (*POINT, "--samples", "a", "--fit", "b", "--formula", "yaniv"), "two-sources-of-p"),
    "a formula of nothing": ((*POINT, "--formula", "yaniv"), "no-p"),
    "a level without a formula": ((*POINT, "--samples", "a", "--level", "0.9"), "formula-option"),
    "a formula with a class": (
        (*POINT, "--samples", "a", "--formula", "yaniv", "--design-class", "reach"), "formula-option"),
    "a formula under a layout": (
        (*POINT, "--samples", "a", "--formula", "yaniv", "--layout", "growing-3"), "formula-option"),
    "a formula with a hit time of 0": (
        (*POINT, "--samples", "a", "--formula", "yaniv", "--hit-cycles", "0"), "formula-option"),
    "a formula of a design": (
        ("--design", "a.yaml", "--formula", "yaniv", "--samples", "a"), "formula-of-design"),
    "a class that there is not": ((*POINT, "--samples", "a", "--design-class", "K7"), "class-unknown"),
    "a design of samples alone": (
        ("--design", "examples/designs/stlb-x4.yaml", "--samples", "CELLS"), "design-needs-results"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_requests(case, cells, monkeypatch):
    monkeypatch.chdir(ROOT)
    words, code = WRONG[case]
    found = error(run(*(cells if word == "CELLS" else word for word in words)))
    assert (found.code, found.exit_code) == (code, 2)


@pytest.mark.parametrize("name", ["predict-design", "models predict"])
@pytest.mark.parametrize("words", [(), ("--fit", "x", "--model", "yaniv"), ("--help",)])
def test_names_that_are_gone_end_in_one_line_with_the_new_call(name, words):
    done = CliRunner().invoke(cli, [*name.split(), *words])
    assert (done.exit_code, done.stdout) == (2, "") and done.stderr.count("\n") == 1
    assert "use tessera predict --" in done.stderr


def test_the_help_has_two_examples_and_the_exit_status():
    text = run("--help").stdout
    assert "Example 1" in text and "Example 2" in text and "3 if one" in text


def test_a_formula_is_printed_as_such(cells, tmp_path):
    asked = ("--samples", cells, "--counts", counts(tmp_path), "--formula", "poly1")
    done = run(*asked, "--out", tmp_path / "out.csv", "--budget", tmp_path / "budget.csv")
    assert done.exit_code == 0, done.output
    line = done.stdout.splitlines()[0]
    assert line.startswith(f"mine: 6.00e9 cycles by poly1 ({NOT_AN_ANSWER}), 0.95 interval ")
    assert line.endswith("outside the samples by 25.00% of their ranges")
    written = pd.read_csv(tmp_path / "out.csv", keep_default_na=False)
    assert tuple(written.columns) == MODELS_OF_PAIR["one_gb"].names
    with pytest.warns(ExtrapolationWarning):
        expected = predict_designs(LINE, pd.read_csv(counts(tmp_path)), "poly1").iloc[0]
    assert written.loc[0, "predicted_runtime_cycles"] == expected["predicted_runtime_cycles"]
    entry = json.loads(run(*asked, "--json").stdout)
    assert entry["caution"] == NOT_AN_ANSWER
    assert entry["predicted_runtime_cycles"] == expected["predicted_runtime_cycles"]
    assert len(pd.read_csv(tmp_path / "budget.csv")) == 5


def test_formulas_of_a_fit_equal_those_of_its_samples(tmp_path):
    noisy = tmp_path / "cells.csv"
    samples().to_csv(noisy, index=False)
    words = ["models", "fit", "--samples", noisy, "--out", tmp_path / "fit", "--folds", "3"]
    assert CliRunner().invoke(cli, list(map(str, words))).exit_code == 0
    for model in ("mosmodel", "yaniv"):
        of_fit, of_table = (
            json.loads(run(*source, *POINT, "--formula", model, "--json").stdout)
            for source in (("--fit", tmp_path / "fit"), ("--samples", noisy))
        )
        assert of_fit == of_table, model
    (tmp_path / "fit" / "intervals.json").unlink()
    entry = json.loads(run("--fit", tmp_path / "fit", *POINT, "--formula", "poly1", "--json").stdout)
    assert entry["low_cycles"] is None and "no intervals.json" in entry["message"]


FAR = {
    "inside": (4e7, 2.5e7, 1e9), "nothing": (0, 0, 0), "no walks": (5e7, 1e5, 0), "far": (1e9, 1e9, 1e11),
    "farther": (1e11, 1e11, 1e13), "no hits": (0, 1e8, 4e9), "only hits": (1e12, 0, 1e9),
}  # fmt: skip


def falling() -> pd.DataFrame:
    """Runtimes that fall with C, so that lines go below zero outside the samples."""
    return samples(noise=2e7).assign(runtime_cycles=lambda t: 9e9 - 1.7 * t["walk_cycles"])


@pytest.mark.parametrize("make", [samples, falling])
def test_no_formula_prints_a_runtime_that_is_none(make, tmp_path):
    """Each model at points far outside: every number of cycles that is printed or written is above zero."""
    path, asked = tmp_path / "cells.csv", tmp_path / "counts.csv"
    make().to_csv(path, index=False)
    columns = ["stlb_hits", "stlb_misses", "walk_cycles"]
    pd.DataFrame(FAR, index=columns).T.rename_axis("design").reset_index().to_csv(asked, index=False)
    refused = 0
    for model in EVERY:
        if model in ("gp", "alam-scaled", "lasso", "mosmodel-authors") and make is falling:
            continue  # slow, and the same path
        words = ("--samples", path, "--counts", asked, "--formula", model)
        done = run(*words, "--out", tmp_path / "out.csv")
        if isinstance(done.exception, TesseraError):
            assert model == "alam-scaled"
            continue
        assert done.exit_code in (0, 3)
        printed = [float(value) for value in RUNTIME.findall(done.stdout)]
        assert all(math.isfinite(value) and value > 0 for value in printed), (model, done.stdout)
        assert done.stdout.count(NOT_AN_ANSWER) == len(FAR), "each value says what it is"
        table = pd.read_csv(tmp_path / "out.csv")
        values = table[["predicted_runtime_cycles", "low_cycles", "high_cycles"]].to_numpy()
        assert np.all(np.isnan(values) | (np.isfinite(values) & (values > 0)))
        absent = int(table["predicted_runtime_cycles"].isna().sum())
        assert (done.exit_code == 3) == bool(absent)
        assert done.stdout.count("no value") == absent
        assert table["message"][np.isnan(values).any(axis=1)].notna().all(), "what is empty has a reason"
        refused += absent
    assert refused or make is samples, "no model gave a value that had to be refused"


def test_one_row_of_several_without_an_answer_is_status_3(cells, tmp_path):
    path = counts(
        tmp_path, design=["a", "b"], stlb_hits=[1e7, 1e7], stlb_misses=[5e7, 5e7], walk_cycles=[2e9, 0]
    )
    done = run("--samples", cells, "--counts", path, *STATED)
    assert done.exit_code == 3 and "b: no answer" in done.stdout and "source bracket" in done.stdout
    assert run("--samples", cells, "--counts", path, "--only", "a", *STATED).exit_code == 0


def test_miss_cycles_and_walkers_reach_the_bracket(cells):
    wide = json.loads(run("--samples", cells, *POINT, *STATED, "--miss-cycles", 1e8, "--json").stdout)
    plain = json.loads(run("--samples", cells, *POINT, *STATED, "--json").stdout)
    assert wide["high_cycles"] - plain["high_cycles"] == pytest.approx(1e8, rel=0.1)
    assert codes(run("--samples", cells, *POINT, *STATED, "--walkers", 0, "--json")) == [
        "no-clock", "walkers-zero", "no-engine",
    ]  # fmt: skip
    done = run("--samples", cells, *POINT, *STATED, "--miss-cycles", "nan", "--json")
    assert "miss-cycles-not-finite" in codes(done)


def test_an_answer_takes_little_time_after_the_imports():
    """Fit and decision of 40 layouts: 0.1 s; the bound leaves room for a busy machine."""
    processor = of_samples(LINE).with_hardware(None, walkers=1, hit_cycles=7)
    began = time.process_time()
    found = answer(
        DesignPoint("mine", H=1e7, M=5e7, C=2e9), Statement("latency", "busy", ("reach",)), processor
    )
    assert found.source == "bracket" and time.process_time() - began < 2


def test_designs_with_names_of_cells():
    """`design` of the builders is a data frame, too."""
    assert read_design_points(design()).rows[0] == DesignPoint("mine", "growing-0", 4e7, 2.5e7, 1e9, None)
