"""Notebook 03's answers: a model that survived its class, else the timing engine, else what is missing."""

from __future__ import annotations

import shutil

import pandas as pd
import pytest

from tessera.core.paths import repo_root
from tessera.results.schema.cells import ARCHIVED_DESIGNS
from tessera.results.schema.transfer import VERDICTS, WIDTHS
from tessera.results.tree import Tree
from tessera.results.write import frame_of, write
from tessera.show import explore
from tessera.show.explore import Design, answers
from tessera.show.explore.designs import _archived

PLATFORM, MODEL = "haswell-sim", "yaniv"
BIGGER = Design("bigger", {"tlb.stlb.entries": 4096})
HOT = Design("hot", hot_share=0.5)


@pytest.fixture
def archive(tmp_path):
    """A copy of the archive without its study; ``made`` are verdicts by class."""
    shutil.copytree(
        repo_root() / "notebooks" / "data", tmp_path / "data", ignore=shutil.ignore_patterns("studies")
    )

    def make(**made):
        rows = [
            {"platform": PLATFORM, "inputs": "counted", "group": group, "model": MODEL, "verdict": verdict,
             "points": 9, "judged": 8, "coverage": 0.95, "half_width": 0.2, "provenance": "simulated"}
            for group, verdict in made.items()
        ]  # fmt: skip
        widths = [
            {"platform": PLATFORM, "inputs": "counted", "group": group, "model": MODEL,
             "workload": "graph500-4gb", "points": 5, "half_width": 0.1, "provenance": "simulated"}
            for group in made
        ]  # fmt: skip
        for table, content in ((VERDICTS, rows), (WIDTHS, widths)):
            if made:
                write(table, frame_of(table, content), table.place(Tree(tmp_path / "data")))
        found = explore.open_results(str(tmp_path / "data"))
        found.where = "notebooks/data"
        return found

    return make


def asked(source, workload="graph500-4gb"):
    pair = source.pair(workload, PLATFORM)
    points = _archived(pair, [BIGGER, HOT])
    return answers(source, pair, [BIGGER, HOT], points).set_index("design"), points.set_index("design"), pair


def test_a_model_that_survived_answers_and_the_engine_where_none_did(archive, tmp_path):
    source = archive(K1="survives", K0="fails")
    path = Tree(tmp_path / "data").archived_designs("graph500-4gb", PLATFORM)
    table = pd.read_csv(path)
    write(ARCHIVED_DESIGNS, frame_of(ARCHIVED_DESIGNS, table.assign(runtime_cycles=[11, 22])), path)
    found, points, pair = asked(source)
    # Yaniv by hand: the line in C through the 4KB and 2MB runs
    small, large = pair.at("growing-0"), pair.at("growing-8")
    slope = (small["R"] - large["R"]) / (small["C"] - large["C"])
    guess = large["R"] + slope * (points.loc["bigger", "walk_cycles"] - large["C"])
    row = found.loc["bigger"]
    assert (row["class"], row["source"]) == ("K1", MODEL)
    assert row["runtime_cycles"] == pytest.approx(guess)
    assert (row["low_cycles"], row["high_cycles"]) == (pytest.approx(guess / 1.1), pytest.approx(guess / 0.9))
    row = found.loc["hot"]
    assert (row["class"], row["source"], row["runtime_cycles"]) == ("K0", "timing engine", 22)
    assert "K0" in row["why"]


def test_another_workload_takes_the_interval_of_all_workloads(archive):
    found, *_ = asked(archive(K1="survives", K0="survives"), "gups-8gb")
    row = found.loc["bigger"]
    assert row["low_cycles"] == pytest.approx(row["runtime_cycles"] / 1.2)


def test_without_study_and_engine_the_command_is_named(archive, tmp_path):
    source = archive()
    path = Tree(tmp_path / "data").archived_designs("graph500-4gb", PLATFORM)
    write(ARCHIVED_DESIGNS, pd.read_csv(path).assign(runtime_cycles=float("nan")), path)
    found, *_ = asked(source)
    assert set(found["source"]) == {"none"} and found["runtime_cycles"].isna().all()
    assert found["why"].str.contains("./run reproduce", regex=False).all()


def test_the_pair_of_the_notebook_is_one_of_the_study(archive):
    assert explore.studied_pair(archive()).platform == "sandybridge-sim"
    assert explore.studied_pair(archive(K1="survives")).platform == PLATFORM
    named = explore.studied_pair(archive(K1="survives"), "gups-8gb", "broadwell-sim")
    assert (named.workload, named.platform) == ("gups-8gb", "broadwell-sim")
