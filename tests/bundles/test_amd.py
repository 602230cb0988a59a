"""AMD counts no walk cycles (MICRO'20 VI-A): a bundle of a Zen decides it, published lists another claim."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml

from tessera.cli.pipeline.bundles import take_part
from tessera.core.files import repo_root
from tessera.core.results.table_io import read_cells, write_cells
from tessera.core.results.tree import ResultsTree
from tessera.machine.counters.event_table import counter_classes
from tessera.report.evaluators import real_machines
from tessera.report.machines.evaluate import judge_results
from tests.bundles.processor import Plan, made, put

FINDING, LISTED = IDS = ("micro20-amd-no-walk-cycles", "micro20-amd-no-walk-cycles-listed")
PLAN = Plan(class_name="zen3", layouts=("growing-0", "growing-8", "1gb"))
ZENS = ("zen1", "zen2", "zen3", "zen4", "zen5")


@pytest.fixture
def claims(tmp_path):
    """The two claims, as the files of config have them."""
    files = [repo_root() / "config" / name for name in ("claims.yaml", "proof-reading.yaml")]
    known = [one for file in files for one in yaml.safe_load(file.read_text())["claims"]]
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump({"claims": [one for one in known if one["id"] in IDS]}))
    return path


@pytest.fixture
def results(tmp_path):
    """A results folder without cells."""
    (tmp_path / "results").mkdir()
    return tmp_path / "results"


def take(results, *plans):
    folders = []
    for number, plan in enumerate(plans):
        folders.append(results.parent / f"bundle-{number}")
        put(made(plan, number + 1).files, folders[-1])
    take_part(folders, ResultsTree(results).machines.bundles_list, seed=1, orders=1)


def judged(results, claims):
    """Id -> row, and the rows of other classes."""
    found = judge_results(results, claims)
    return {row["id"]: row for row in found.claims.to_dict("records")}, found.elsewhere


def change(results, column, value, layout=None):
    path = ResultsTree(results).machines.cells
    table = read_cells(path)
    table.loc[table["layout"] == (layout or table["layout"]), column] = value
    write_cells(table, path)


def test_without_a_machine_the_lists_are_named_and_decide_nothing(results, claims):
    rows, _ = judged(results, claims)
    row = rows[FINDING]
    assert (row["verdict"], row["obtained"]) == ("NOT-MEASURABLE-HERE", "")
    assert all(f"{name} 0" in row["reason"] for name in ZENS) and "./run measure" in row["reason"]
    assert (rows[LISTED]["verdict"], rows[LISTED]["provenance"]) == ("CONSISTENT", "published")


def test_a_machine_of_amd_decides(results, claims):
    take(results, PLAN)
    cells = read_cells(ResultsTree(results).machines.cells)
    assert cells["walk_cycles"].isna().all() and cells["stlb_misses"].notna().all()
    rows, elsewhere = judged(results, claims)
    row = rows[FINDING]
    assert (row["verdict"], row["obtained"], row["provenance"]) == ("REPRODUCED", "0", "measured")
    assert elsewhere.empty


def test_a_machine_that_counts_walk_cycles_refutes(results, claims):
    take(results, PLAN)
    change(results, "walk_cycles", 1000, layout="growing-8")
    row = judged(results, claims)[0][FINDING]
    assert (row["verdict"], row["obtained"]) == ("DEVIATES", "1")


def test_a_machine_without_misses_shows_nothing(results, claims):
    take(results, PLAN)
    change(results, "stlb_misses", float("nan"), layout="growing-8")
    assert judged(results, claims)[0][FINDING]["verdict"] == "NOT-MEASURABLE-HERE"


def test_two_machines_of_two_classes(results, claims):
    take(results, PLAN, replace(PLAN, class_name="zen5", machine_id="b" * 32))
    row = judged(results, claims)[0][FINDING]
    assert row["verdict"] == "REPRODUCED"
    assert "zen3-" in row["obtained"] and "zen5-" in row["obtained"]


def test_a_machine_of_intel_says_nothing_of_amd(results, claims):
    """Broadwell has two events of C; the sentence is not about it, so it has no row elsewhere."""
    take(results, replace(PLAN, class_name="broadwell"))
    rows, elsewhere = judged(results, claims)
    assert rows[FINDING]["verdict"] == "NOT-MEASURABLE-HERE" and elsewhere.empty


def test_lists_with_an_event_of_walk_cycles_contradict(results, claims, monkeypatch):
    """As if Zen 4 had the events of Broadwell: the claim of the lists changes, the finding is still open."""
    changed = dict(counter_classes())
    events = (*changed["zen4"].events, *changed["broadwell"].of_quantity("C loads"))
    changed["zen4"] = replace(changed["zen4"], events=events)
    monkeypatch.setattr(real_machines, "counter_classes", lambda: changed)
    rows, _ = judged(results, claims)
    assert (rows[LISTED]["verdict"], rows[LISTED]["obtained"]) == ("CONTRADICTED", "1")
    assert rows[FINDING]["verdict"] == "NOT-MEASURABLE-HERE" and "zen4 1" in rows[FINDING]["reason"]
