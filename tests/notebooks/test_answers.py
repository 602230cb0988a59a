"""Notebooks 02 and 03: predictions, and the one decision with the archive's data, and no bare number."""

from __future__ import annotations

import re
import shutil

import pytest

from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.results.table_io import frame_of, write_table
from tessera.core.results.transfer_tables import NEW_DESIGNS, VERDICTS
from tessera.fit.predict.bracket import Bracket, ProcessorCounts
from tessera.fit.predict.bracket import ChangedCounts as Asked
from tessera.report import explore
from tessera.report.explore import Design, answers
from tessera.report.explore.designs import _archived

PLATFORM, WORKLOAD = "haswell-sim", "graph500-4gb"
BIGGER = Design("bigger", {"tlb.stlb.entries": 4096})
WALKERS = Design("walkers", {"walker.count": 2})
HOT = Design("hot", hot_share=0.5)
ALL = [BIGGER, WALKERS, HOT]


@pytest.fixture
def source(tmp_path):
    """A copy of the archive without its study."""
    data = repo_root() / "notebooks" / "data"
    shutil.copytree(data, tmp_path / "data", ignore=shutil.ignore_patterns("studies"))
    found = explore.open_results(str(tmp_path / "data"))
    found.where = "notebooks/data"
    return found


def put(source, table, rows):
    write_table(table, frame_of(table, rows), table.place(source.results.tree))


def with_runtimes(points, **known):
    """``points`` with another R, by the names of the designs here."""
    return points.assign(runtime_cycles=points["design"].map(known).fillna(points["runtime_cycles"]))


@pytest.fixture
def pair(source):
    return source.pair(WORKLOAD, PLATFORM)


@pytest.fixture
def points(pair):
    return _archived(pair, ALL)


def test_a_larger_tlb_has_the_interval_of_the_bracket(pair, points):
    (found,) = answers(pair, [BIGGER], points)
    base, row = pair.at("growing-0"), points.iloc[0]
    bracket = Bracket.fit(pair.table.fitted, hit_cycles=7)
    own = bracket.answer(
        ProcessorCounts(base["R"], base["H"], base["C"]), Asked(row.stlb_hits, row.walk_cycles)
    )
    assert (found.source, found.level, found.question.groups) == ("bracket", "C", ("reach",))
    assert (found.answer.low, found.answer.high) == (own.low, own.high)
    assert base["R"] == pytest.approx(found.base_runtime) and found.answer.high < base["R"]
    assert re.search(r"-8\.\d% of P \(-1\d\.\d% to -\d\.\d%\).*source bracket, level C", found.sentence())


def test_a_second_walker_is_refused_until_there_is_a_clock(pair, points):
    base = pair.at("growing-0")
    assert tuple(points.loc[1, ["stlb_hits", "stlb_misses", "walk_cycles"]]) == (
        base["H"],
        base["M"],
        base["C"],
    )
    (refused,) = answers(pair, [WALKERS], points)
    assert refused.answer is None and refused.source == "none" and "class" in refused.codes
    assert "invisible" in "\n".join(refused.lines()) and not re.search(r"\d cycles", refused.sentence())
    (timed,) = answers(pair, [WALKERS], points, clock=True)
    assert (timed.source, timed.level) == ("engine", "D")
    assert timed.share(timed.answer.centre) == pytest.approx(-0.234, abs=0.001)


def test_an_engine_outside_the_interval_leaves_no_answer(pair, points):
    points = with_runtimes(points, bigger=1.0)
    (found,) = answers(pair, [BIGGER], points, clock=True)
    assert found.answer is None and found.codes == ("engine-outside",)


def test_other_pages_have_no_base_and_only_the_engine(pair, points):
    points = with_runtimes(points, hot=22.0)
    (refused,) = answers(pair, [HOT], points)
    assert {"r0-absent", "no-engine"} <= set(refused.codes)
    (timed,) = answers(pair, [HOT], points, clock=True)
    assert (timed.answer.centre, timed.level, timed.base_runtime) == (22.0, "D", None)


def test_an_archive_without_r_has_no_engine(pair, points):
    points["runtime_cycles"] = points["runtime_cycles"].where(points["design"] != "walkers")
    (found,) = answers(pair, [WALKERS], points, clock=True)
    assert found.answer is None and "no-engine" in found.codes


def test_the_engine_is_not_asked_about_a_measured_processor(pair, points):
    measured = explore.PairSamples(
        WORKLOAD, PLATFORM, pair.samples.assign(runtime_provenance="measured"), pair.tree
    )
    (found,) = answers(measured, [BIGGER], points, clock=True)
    assert (found.source, found.level) == ("bracket", "C") and "not-open" in found.codes
    (walkers,) = answers(measured, [WALKERS], points, clock=True)
    assert walkers.answer is None and "no-engine" in walkers.codes


@pytest.mark.parametrize(
    ("design", "value"),
    [(Design("absent", {"tlb.stlb.entries": 2048}), "absent"), (Design("hot", {"mmu.design": "rmm"}), "rmm")],
    ids=["no counts", "another organisation"],
)
def test_what_the_counts_do_not_have_is_an_error(pair, points, design, value):
    with pytest.raises(TesseraError) as error:
        answers(pair, [design], points)
    assert value in f"{error.value.asked} {error.value.found}"


def test_the_table_for_a_new_design_prefers_workloads_on_which_nothing_was_tuned(source):
    assert explore.for_a_new_design(source, PLATFORM).empty
    row = {"platform": PLATFORM, "group": "reach", "workloads": 9, "judged": 100, "answered": 90,
           "covered": 89, "half_width": 0.02, "passing": 88, "constant_passing": 50, "mosmodel_passing": 40,
           "informative_answered": 30, "informative_passing": 29, "provenance": "simulated"}  # fmt: skip
    put(source, NEW_DESIGNS, [row | {"scope": "all", "judged": 200}, row | {"scope": "new"}])
    found = explore.for_a_new_design(explore.open_results(source.results.tree.root), PLATFORM)
    assert found.loc["reach: what TLBs hold"].tolist() == [100, 90, 89, "2.0%", 88, 50, 40, 30, 29]


def test_the_pair_of_the_notebook_is_one_of_the_study(source):
    assert explore.studied_pair(source).platform == "sandybridge-sim"
    put(
        source,
        VERDICTS,
        [{"platform": PLATFORM, "inputs": "counted", "group": "reach", "provenance": "simulated"}],
    )
    studied = explore.open_results(source.results.tree.root)
    assert explore.studied_pair(studied).platform == PLATFORM
    named = explore.studied_pair(studied, "gups-8gb", "broadwell-sim")
    assert (named.workload, named.platform) == ("gups-8gb", "broadwell-sim")


def test_the_notebooks_show_an_answer_a_refusal_and_no_negative_runtime():
    text = (repo_root() / "notebooks" / "03-answer-and-refusal.ipynb").read_text()
    assert "source bracket, level C" in text and "no answer, source none" in text and "level D" in text
    models = (repo_root() / "notebooks" / "02-your-own-design.ipynb").read_text()
    assert "impossible" in models and "-100%" not in models
    assert not re.search(r"-\d\.\d+e[+]?\d", text)
