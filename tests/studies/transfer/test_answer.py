"""A design asked of a results folder: what the command and Python say, and every refusal of the files."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import tessera
from tessera.cli.main import cli
from tessera.core.errors import TesseraError
from tessera.core.results import transfer_tables as schema
from tessera.core.results.table_io import frame_of, write_table
from tessera.core.results.transfer_tables import DESIGN_ANSWERS
from tessera.core.results.tree import ResultsTree
from tessera.fit.predict.bracket import ChangedCounts
from tessera.lab.transfer import own_design
from tessera.lab.transfer.answer import TransferTables, answer_design
from tessera.lab.transfer.from_python import ask, known_of
from tessera.lab.transfer.own_design import OwnDesign, SimulatedDesign, read_own
from tessera.lab.transfer.runs import Units
from tessera.simulate.runner import CellCache
from tessera.simulate.sampling import Intervals

PLATFORM, WORKLOADS = "haswell-sim", [f"w{i}" for i in range(11)]
TOP, HITS = 1e9, 5e6
STLB, WALKERS = {"tlb.stlb.entries": 2048}, {"walker.count": 2}
NAMES = [*(f"growing-{i}" for i in range(9)), *(f"random-{i}" for i in range(10))]
SHARES = np.array([1, *np.linspace(0.9, 0.1, 7), 0.02, *np.linspace(0.05, 0.95, 10)])
C = dict(zip(NAMES, TOP * SHARES, strict=True))
PAIR = {"workload": "w0", "platform": PLATFORM}


def runtime(walk_cycles) -> float:
    """R of P."""
    return 2e9 + 0.6 * walk_cycles


R0 = runtime(TOP)


def samples_of(workload="w0", factor=1.0, **columns) -> pd.DataFrame:
    rows = [
        {
            "workload": workload, "platform": PLATFORM, "layout": name, "pages": "layout", "fitted": True,
            "stlb_hits": HITS, "stlb_misses": cycles / 30, "walk_cycles": cycles,
            "runtime_cycles": factor * runtime(cycles), "ideal_runtime_cycles": 2e9, "window_accesses": 999,
            "interval_instructions": 100, "warm_units": 2, "seed": 1, "provenance": "simulated",
        }
        for name, cycles in [*C.items(), ("medium", 0.7 * TOP)]
    ]  # fmt: skip
    rows[-1] |= {"pages": "mapping", "fitted": False}
    return frame_of(schema.SAMPLES, pd.DataFrame(rows).assign(**columns))


def answered(covered=True) -> pd.DataFrame:
    """`reach` of ten other workloads: answered, covered, passing."""
    one = {
        "platform": PLATFORM, "group": "reach", "variant": "stlb-x4", "family": "STLB", "layout": "growing-0",
        "source": "bracket", "status": "answered", "judged": True, "informative": True, "covered": covered,
        "passes": True, "constant_passes": False, "provenance": "simulated",
    }  # fmt: skip
    return frame_of(schema.ANSWERED, [one | {"workload": name} for name in WORKLOADS[1:]])


@pytest.fixture
def results(tmp_path):
    """A results folder with the tables that an answer reads."""
    tree = ResultsTree(tmp_path / "results")
    write_table(schema.SAMPLES, samples_of(), schema.SAMPLES.place(tree))
    write_table(schema.ANSWERED, answered(), schema.ANSWERED.place(tree))
    return tree.root


@pytest.fixture
def simulated(monkeypatch):
    """The simulator: (C', R) by the changes; records the designs that it ran."""
    asked: list[OwnDesign] = []
    found = {"tlb.stlb.entries": (0.5 * TOP, runtime(0.5 * TOP)), "walker.count": (TOP, 0.9 * R0)}

    def one(design, window, platform, cache=None, progress=None):
        asked.append(design)
        cycles, R = found.get(next(iter(design.changes), ""), (TOP, R0))
        return SimulatedDesign(ChangedCounts(HITS, cycles, 1), R)

    monkeypatch.setattr(own_design.TraceWindow, "of", classmethod(lambda *of: None))
    monkeypatch.setattr(own_design, "simulate_own", one)
    one.asked, one.found = asked, found
    return one


def decision(results, changes, **pages):
    return answer_design(
        TransferTables(ResultsTree(results), "w0", PLATFORM), OwnDesign("mine", changes, **pages)
    )


def test_the_bracket_answers_beside_the_engine(results, simulated):
    found = decision(results, STLB)
    assert (found.source, found.level, found.question.groups) == ("bracket", "C", ("reach",))
    assert found.answer.low <= runtime(0.5 * TOP) <= found.answer.high
    assert found.others["engine"].centre == runtime(0.5 * TOP) and len(simulated.asked) == 1


def test_classes_that_counts_do_not_show_have_the_engine(results, simulated):
    found = decision(results, WALKERS)
    assert (found.source, found.level, found.answer.centre) == ("engine", "D", 0.9 * R0)
    assert found.sentence() == "mine: -10.0% of P, 2.34e9 cycles, source engine, level D"
    found = decision(results, {"cache.l2.ways": 4})
    assert (found.source, found.question.unknown) == ("engine", ("cache.l2.ways=4",))
    assert found.others["bracket"].codes == ("unclassed",)


def test_the_engine_outside_the_bracket_is_no_answer(results, simulated):
    simulated.found["tlb.stlb.entries"] = (0.5 * TOP, 1.5e9)
    assert decision(results, STLB).codes == ("engine-outside",)


def test_no_change_is_no_difference(results, simulated):
    found = decision(results, {})
    assert found.question.groups == ("control",) and "no-difference" in found.codes
    assert found.answer.centre == pytest.approx(R0)


def test_under_a_mapping_the_base_is_the_mapping(results, simulated):
    found = decision(results, STLB, mapping="medium")
    assert found.base_runtime == runtime(0.7 * TOP) and found.question.layout == "medium"


def test_a_layout_that_the_study_lacks_is_simulated_for_p_too(results, simulated):
    found = decision(results, STLB, layout="growing-99")
    assert found.base_runtime == R0 and [one.changes for one in simulated.asked] == [STLB, {}]


def measured(tmp_path, **columns) -> str:
    """Samples of a processor on which everything takes 3% longer than the simulator says."""
    path = tmp_path / "samples.csv"
    rows = samples_of(factor=1.03, **columns).query("fitted").drop(columns=["platform", "fitted"])
    rows.assign(runtime_provenance="measured").to_csv(path, index=False)
    return str(path)


def test_samples_beside_a_study_have_its_clock(results, simulated, tmp_path):
    """S is R / 1.03: the gate accepts, so the level is A."""
    found = ask({"changes": STLB}, samples=measured(tmp_path), results=results, **PAIR)
    (one,) = found.decisions
    assert (one.source, one.level) == ("calibrated", "A")
    assert one.answer.centre == pytest.approx(1.03 * runtime(0.5 * TOP), rel=1e-3)
    assert one.others["engine"].codes == ("no-engine",)
    simulated.found["walker.count"] = (TOP, R0)
    one = ask({"changes": WALKERS}, samples=measured(tmp_path), results=results, **PAIR)
    assert one.decisions[0].level == "A", "the gate holds for `invisible`, too"


def test_openness_raises_the_bracket_to_b(results, simulated, tmp_path, monkeypatch):
    """A clock of fewer than 12 layouts of P: only the bracket answers."""
    tree = ResultsTree(results)
    write_table(schema.SAMPLES, samples_of().iloc[:11], schema.SAMPLES.place(tree))
    pair = {"results": results, **PAIR}
    found = ask({"changes": STLB}, samples=measured(tmp_path), **pair)
    (one,) = found.decisions
    assert (one.source, one.level) == ("bracket", "B")
    assert one.others["calibrated"].codes == ("few-layouts",) and any(
        "11 of the 19" in n for n in found.notes
    )
    write_table(schema.ANSWERED, answered().assign(family="coalescing"), schema.ANSWERED.place(tree))
    (one,) = ask({"changes": STLB}, samples=measured(tmp_path), **pair).decisions
    assert one.codes == ("not-open",) and "STLB" in one.reasons[0].text, "its family was never judged"
    write_table(schema.ANSWERED, answered(covered=False), schema.ANSWERED.place(tree))
    (one,) = ask({"changes": STLB}, samples=measured(tmp_path), **pair).decisions
    assert (one.level, one.codes) == ("C", ("not-open",)) and "0 of 10" in one.reasons[0].text


def test_counts_have_no_level_b(results, tmp_path):
    """Nothing compares their simulator's P with the samples, and the study must have the workload."""
    path = measured(tmp_path)
    asked = pd.DataFrame({"design": ["d"], "stlb_hits": HITS, "stlb_misses": 1e7, "walk_cycles": 0.5 * TOP})
    stated = {"hits_are": "latency", "walk_cycles_are": "busy", "classes": "reach", "samples": path}
    (one,) = ask(counts=asked, **stated, results=results, **PAIR).decisions
    assert (one.source, one.level, one.codes) == ("bracket", "C", ("not-open",))
    assert "nothing compares" in one.reasons[0].text
    with pytest.raises(TesseraError) as wrong:
        ask(counts=asked, **stated, results=results, workload="mine", platform=PLATFORM)
    assert wrong.value.code == "pair-differs"


def test_counts_of_another_part_of_the_program_are_no_change_by_themselves(results, simulated, tmp_path):
    """P's samples have 30% more walk cycles than the simulator's: its counts are another thing."""
    path = measured(tmp_path)
    rows = pd.read_csv(path)
    rows["walk_cycles"] *= 1.3
    rows["runtime_cycles"] *= 2  # so that the gate refuses, too
    rows.to_csv(path, index=False)
    (one,) = ask({"changes": STLB}, samples=path, results=results, **PAIR).decisions
    assert one.source == "none" and {"counts-differ", "slope"} <= set(one.codes)


def test_r_of_the_same_engine_is_no_second_clock(results, simulated, tmp_path):
    path = tmp_path / "cells.csv"
    samples_of().query("fitted").assign(runtime_provenance="simulated").to_csv(path, index=False)
    known = known_of(results, "w0", PLATFORM, str(path))
    assert known.processor.clock is None
    (one,) = ask({"changes": STLB}, samples=path, results=results, **PAIR).decisions
    assert one.others["calibrated"].codes == ("no-clock",) and (one.source, one.level) == ("bracket", "C")


# name: (what happens to the folder, code, words)
FOLDERS = {
    "no study": (lambda tree: schema.SAMPLES.place(tree).unlink(), "no-study", "samples.csv"),
    "a column is missing": (
        lambda tree: samples_of().drop(columns="seed").to_csv(schema.SAMPLES.place(tree), index=False),
        "results-of-another-commit", "lacks seed"),
    "no table of answers": (
        lambda tree: schema.ANSWERED.place(tree).unlink(), "results-of-another-commit", "answers.csv"),
}  # fmt: skip


@pytest.mark.parametrize("case", FOLDERS)
def test_a_folder_of_another_commit(case, results, simulated, tmp_path):
    change, code, words = FOLDERS[case]
    tree = ResultsTree(results)
    tree.provenance("git").parent.mkdir(parents=True)
    tree.provenance("git").write_text(json.dumps({"commit": "0123abc"}))
    change(tree)
    asked = {"samples": measured(tmp_path), "results": results, "workload": "w0", "platform": PLATFORM}
    with pytest.raises(TesseraError) as refused:
        ask({"changes": STLB}, **asked)
    assert refused.value.code == code and words in str(refused.value)
    assert "./run reproduce" in refused.value.remedy
    if code == "results-of-another-commit":
        assert "commit 0123abc" in refused.value.found


@pytest.mark.parametrize(
    ("workload", "platform", "code", "named"),
    [
        ("w9", PLATFORM, "no-pair", "w0 on haswell-sim"),
        ("w0", "broadwell-sim", "no-pair", "w0 on haswell-sim"),
    ],
)
def test_what_the_study_lacks_is_named(results, workload, platform, code, named):
    with pytest.raises(TesseraError) as refused:
        ask({"changes": STLB}, results=results, workload=workload, platform=platform)
    assert refused.value.code == code and named in str(refused.value)


def test_the_command_and_python_say_the_same(results, simulated, tmp_path):
    design, out = tmp_path / "large.yaml", tmp_path / "out.csv"
    design.write_text("name: large STLB\nchanges: {tlb.stlb.entries: 2048}\n")
    words = ["predict", "--design", design, "--workload", "w0", "--platform", PLATFORM, "--results", results]
    done = CliRunner().invoke(cli, [*map(str, words), "--out", str(out)])
    assert done.exit_code == 0, done.output
    line = "large STLB: -11.5% of P (-12.4% to -10.7%), 2.30e9 cycles, source bracket, level C"
    assert done.stdout.splitlines()[0] == line
    assert "  engine: -11.5% of P, 2.30e9 cycles" in done.stdout.splitlines()
    written = pd.read_csv(out)
    assert tuple(written.columns) == DESIGN_ANSWERS.names and written["level"].tolist() == ["C"]
    shown = json.loads(CliRunner().invoke(cli, [*map(str, words), "--json"]).stdout)
    frame = tessera.predict(design, workload="w0", platform=PLATFORM, results=results)
    for name in ("runtime_cycles", "low_cycles", "high_cycles", "base_runtime_cycles", "change"):
        assert frame[name][0] == shown[name] == pytest.approx(written[name][0], rel=1e-12)
    assert frame.attrs["decisions"][0].sentence() == line


def test_no_answer_has_exit_status_3_and_no_number(results, simulated, tmp_path):
    simulated.found["tlb.stlb.entries"] = (0.0, float("nan"))
    words = ["--workload", "w0", "--platform", PLATFORM, "--results", str(results)]
    design = tmp_path / "d.yaml"
    design.write_text("changes: {tlb.stlb.entries: 2048}\n")
    done = CliRunner().invoke(
        cli, ["predict", "--design", str(design), *words, "--out", str(tmp_path / "o.csv")]
    )
    assert done.exit_code == 3 and done.stdout.startswith("d: no answer, source none\n")
    assert "help: " in done.stdout
    row = pd.read_csv(tmp_path / "o.csv").iloc[0]
    assert row["codes"].split() == ["no-clock", "no-walks", "r-not-finite"] and pd.isna(row["runtime_cycles"])
    frame = tessera.predict({"changes": STLB}, workload="w0", platform=PLATFORM, results=results)
    assert frame["runtime_cycles"][0] is pd.NA


# text of a design file -> code
DESIGNS = {
    "typo: 1\n": "design-key", "[1]\n": "design-value", "mapping: a\nlayout: b\n": "design-pages",
    "changes: {tlb.stlb.entries: [1]}\n": "design-value", "changes: [1]\n": "design-value",
    "layout: [1]\n": "design-value",
    'name: "d\\nlevel A"\n': "design-value",
}  # fmt: skip


@pytest.mark.parametrize("text", DESIGNS)
def test_a_design_file_that_is_none(text, tmp_path, results, simulated):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(TesseraError) as refused:
        ask(path, results=results, **PAIR)
    assert refused.value.code == DESIGNS[text] and refused.value.exit_code == 2


def test_a_design_file(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("changes: {mmu.design: anchor, design.anchor.distance_pages: 16}\nmapping: medium\n")
    found = read_own(path)
    assert (found.name, found.pages, found.changes["design.anchor.distance_pages"]) == ("mine", "medium", 16)


def test_a_design_in_python_calls_its_layout_as_counts_do_and_its_keys_are_names():
    for layout, expected in (("4kb", "growing-0"), ("2mb", "growing-8"), ("My/4kb.csv", "My/4kb.csv")):
        assert own_design.of_tree({"layout": layout}, "here", "d").layout == expected
    with pytest.raises(TesseraError) as refused:
        own_design.of_tree({"changes": {5: 3}}, "here", "d")
    assert refused.value.code == "design-key"


def test_an_unknown_layout_file_is_named(tmp_path, results):
    window = own_design.TraceWindow("w0", tmp_path / "t.tst", 2, 100, 1, tmp_path / "manifest.csv")
    with pytest.raises(TesseraError) as refused:
        own_design._pages(OwnDesign("d", {}, layout="growing-77"), window, tmp_path, print)
    assert refused.value.code == "layout-unknown" and "growing-77" in str(refused.value)


# name: (arguments of ask, code)
WRONG = {
    "nothing asked": ({}, "one-question"),
    "two questions": ({"design": {}, "counts": pd.DataFrame()}, "one-question"),
    "no P": ({"counts": pd.DataFrame()}, "no-p"),
    "two sources of P": ({"counts": pd.DataFrame(), "samples": "a.csv", "fit": "b"}, "two-sources-of-p"),
    "a folder without a pair": ({"counts": pd.DataFrame(), "results": "r"}, "pair-unstated"),
    "a design without a window": ({"design": {}, "samples": "SAMPLES"}, "design-needs-results"),
    "a design with counts' words": (
        {"design": {}, "hits_are": "latency", "workload": "w0"}, "design-and-statement"),
    "a table as a design": ({"design": "counts.csv", "workload": "w0"}, "design-is-a-table"),
    "two clocks": ({"counts": pd.DataFrame(), "samples": "SAMPLES", "clock": "c.csv", "workload": "w0"},
                   "two-clocks"),
    "a clock for a design": ({"design": {}, "clock": "CLOCK", "workload": "w0"}, "two-clocks"),
    "samples of another workload": ({"design": {}, "samples": "SAMPLES", "workload": "w9"}, "pair-differs"),
    "an unknown class": ({"counts": pd.DataFrame(), "classes": "K9", "workload": "w0"}, "class-unknown"),
    "the class ideal": ({"counts": pd.DataFrame(), "classes": "ideal", "workload": "w0"}, "class-unknown"),
    "an unknown word": ({"counts": pd.DataFrame(), "hits_are": "hits", "workload": "w0"}, "word-unknown"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_requests(case, results, simulated, tmp_path):
    options, code = WRONG[case]
    clock = tmp_path / "clock.csv"
    pd.DataFrame({"layout": list(C), "runtime_cycles": 1e9}).to_csv(clock, index=False)
    files = {"SAMPLES": measured(tmp_path), "CLOCK": str(clock)}
    options = {
        key: files.get(value, value) if isinstance(value, str) else value for key, value in options.items()
    }
    if "workload" in options:
        options |= {"platform": PLATFORM, "results": results}
    with pytest.raises(TesseraError) as refused:
        ask(**options)
    assert (refused.value.code, refused.value.exit_code) == (code, 2)


def test_counts_and_formulas_about_p_of_a_study(results, tmp_path):
    """The platform states hit time and walkers; a formula is fitted to the same samples, R = 2e9 + 0.6 C."""
    words = ["predict", "--workload", "w0", "--platform", PLATFORM, "--results", str(results)]
    words += ["--point", f"{HITS},1e7,{0.5 * TOP}", "--json"]
    stated = ["--hits-are", "latency", "--walk-cycles-are", "busy", "--design-class", "reach"]
    done = CliRunner().invoke(cli, [*words, *stated])
    entry = json.loads(done.stdout)
    assert (done.exit_code, entry["source"], entry["level"]) == (0, "bracket", "C")
    assert entry["low_cycles"] <= runtime(0.5 * TOP) <= entry["high_cycles"]
    assert json.loads(CliRunner().invoke(cli, [*words, *stated[:-1], "invisible"]).stdout)["source"] == "none"
    formula = json.loads(CliRunner().invoke(cli, [*words, "--formula", "poly1"]).stdout)
    assert formula["predicted_runtime_cycles"] == pytest.approx(runtime(0.5 * TOP))


def test_units_of_a_window_are_read_once(monkeypatch, tmp_path):
    """A prediction that was made before starts no simulator."""
    made = Units(Intervals.of([(0, 5, 100, 1), (105, 0, 100, 1)]), 2, 999, 5, 1, 100)
    read = []
    monkeypatch.setattr(own_design, "units_of_length", lambda *of: read.append(of) or made)
    monkeypatch.setattr(own_design, "trace_identity", str)
    window = own_design.TraceWindow("w0", tmp_path / "t.tst", 1, 100, 1, tmp_path / "manifest.csv")
    cache = CellCache(tmp_path / "cache")
    assert own_design._units(window, cache) == made == own_design._units(window, cache)
    assert len(read) == 1
    own_design._units(replace(window, interval_instructions=99), cache)
    own_design._units(window, CellCache(None))
    assert len(read) == 3
