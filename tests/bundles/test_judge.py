"""Verdicts by machine: numbers chosen by hand, so that each verdict is known in advance."""

from __future__ import annotations

import pytest
import yaml
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.cli.measure import bundle as bundle_judge
from tessera.core.errors import TesseraError
from tessera.core.results.loader import Pair
from tessera.core.results.table_io import write_cells
from tessera.core.results.tree import ResultsTree
from tessera.measure.bundles.reader import parse_bundle
from tessera.report.claims import judged_claims as plain
from tessera.report.claims.claim import Claim, Scope, Tolerance
from tessera.report.machines import judge_machines
from tessera.report.machines.bundle_tree import write_tree
from tessera.report.machines.groups import Coverage, in_scope, part_decides, scope_coverage, whole_groups
from tessera.report.verdicts import objections
from tests.bundles.processor import Plan, made, put

BDW_A, BDW_B = "broadwell-aaaaaaaa", "broadwell-bbbbbbbb"
HSW, SNB, SKX, ZEN = "haswell-cccccccc", "sandybridge-dddddddd", "skylake-eeeeeeee", "zen3-ffffffff"


def cell(workload, platform, layout, runtime, provenance="measured"):
    return {
        "workload": workload, "platform": platform, "layout": layout, "repeat": 0, "status": "ok",
        "runtime_cycles": runtime, "stlb_hits": 1, "stlb_misses": 1, "walk_cycles": 1, "instructions": 1,
        "runtime_provenance": provenance, "tlb_provenance": provenance, "engine": "launcher",
    }  # fmt: skip


def tree(tmp_path, gains, simulated=()):
    """A folder with (workload, platform) -> percent that the layout 1gb saves."""
    rows = []
    for (workload, platform), gain in gains.items():
        kind = "simulated" if platform in simulated else "measured"
        rows.append(cell(workload, platform, "growing-0", 10_000, kind))
        rows.append(cell(workload, platform, "1gb", 10_000 - 100 * gain, kind))
    write_cells(rows, ResultsTree(tmp_path / "results").cells)
    return tmp_path / "results"


GAIN = '100 * (1 - runtime_cycles["1gb"] / runtime_cycles["growing-0"])'


def claim(name, how, rule, published, workloads=("a", "b"), platforms=("broadwell",), hardware="broadwell"):
    return {
        "id": name, "paper": "micro20", "section": "I", "statement": "A statement.", "kind": "finding",
        "published": {"value": published, "reason": "chosen"}, "unit": "percent",
        "tolerance": {"rule": rule, "value": 0, "why": "chosen"},
        "evaluator": {"name": "over_pairs", "parameters": {"formula": GAIN, "how": how}},
        "scope": {"workloads": list(workloads), "platforms": list(platforms), "about": "x"},
        "hardware_class": hardware, "required": False, "figure": "",
    }  # fmt: skip


def judged(tmp_path, gains, *claims, simulated=()):
    """(claims by id, rows elsewhere)."""
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump({"claims": list(claims)}))
    done = judge_machines(tree(tmp_path, gains, simulated), path)
    return done.claims.set_index("id"), done.elsewhere


BOTH = {("a", BDW_A): 20, ("b", BDW_A): 40}


def test_one_machine(tmp_path):
    table, elsewhere = judged(
        tmp_path, BOTH, claim("least", "max", "at-least", 40), claim("most", "max", "at-most", 39)
    )
    assert table.loc["least", "verdict"] == "REPRODUCED" and table.loc["least", "obtained"] == "40"
    assert table.loc["most", "verdict"] == "DEVIATES" and "39" in table.loc["most", "reason"]
    assert set(table.provenance) == {"measured"} and elsewhere.empty


def test_two_machines_are_not_mixed(tmp_path):
    """The maximum over both machines is 50 and the median 35: numbers of no machine's own."""
    gains = BOTH | {("a", BDW_B): 30, ("b", BDW_B): 50}
    table, _ = judged(
        tmp_path, gains, claim("median", "median", "absolute", 35), claim("max", "max", "at-least", 45),
        claim("min", "min", "at-least", 19.9),
    )  # fmt: skip
    assert table.loc["median", "verdict"] == "DEVIATES"  # 30 and 40
    assert table.loc["median", "obtained"] == f"{BDW_A}: 30; {BDW_B}: 40"
    assert table.loc["max", "verdict"] == "DEVIATES"
    assert f"holds on {BDW_B}, fails on {BDW_A}" in table.loc["max", "reason"]
    assert table.loc["min", "verdict"] == "REPRODUCED"


def test_a_machine_of_each_generation(tmp_path):
    """Two Broadwells and a Haswell are two groups."""
    scope = {"workloads": ("a",), "platforms": ("haswell", "broadwell"), "hardware": "intel-pmu"}
    gains = {("a", HSW): 10, ("a", BDW_A): 20, ("a", BDW_B): 40}
    table, _ = judged(
        tmp_path,
        gains,
        claim("mean", "mean", "at-most", 20, **scope),
        claim("min", "min", "at-most", 10.1, **scope),
    )
    assert table.loc["mean", "verdict"] == "DEVIATES"
    assert table.loc["mean", "obtained"] == f"{HSW} + {BDW_A}: 15; {HSW} + {BDW_B}: 25"
    assert table.loc["min", "verdict"] == "REPRODUCED"


@pytest.mark.parametrize("how, rule, holds, found", [
    ("max", "at-most", False, True), ("max", "at-most", True, False),
    ("min", "at-least", False, True), ("min", "at-least", True, False),
    ("max", "at-least", True, True), ("max", "at-least", False, False),
    ("min", "at-most", True, True), ("min", "at-most", False, False),
    ("median", "at-most", False, False), ("max", "relative", False, False), ("", "at-most", False, False),
])  # fmt: skip
def test_what_a_part_decides(how, rule, holds, found):
    assert part_decides(how, rule, holds) == found


@pytest.mark.parametrize("how, rule, published, verdict", [
    ("max", "at-most", 19, "DEVIATES"), ("max", "at-most", 21, "NOT-MEASURABLE-HERE"),
    ("min", "at-least", 21, "DEVIATES"), ("min", "at-least", 19, "NOT-MEASURABLE-HERE"),
    ("max", "at-least", 19, "REPRODUCED"), ("max", "at-least", 21, "NOT-MEASURABLE-HERE"),
    ("min", "at-most", 21, "REPRODUCED"), ("min", "at-most", 19, "NOT-MEASURABLE-HERE"),
    ("median", "at-least", 1, "NOT-MEASURABLE-HERE"),
])  # fmt: skip
def test_a_part_of_the_workloads(tmp_path, how, rule, published, verdict):
    """Only workload a of a and b ran, and saves 20%."""
    table, _ = judged(tmp_path, {("a", BDW_A): 20}, claim("one", how, rule, published))
    assert table.loc["one", "verdict"] == verdict
    assert "1 of 2 pairs" in table.loc["one", "reason"]


def test_a_part_of_the_generations(tmp_path):
    scope = {"platforms": ("sandybridge", "haswell", "broadwell"), "hardware": "intel-pmu"}
    table, _ = judged(
        tmp_path,
        BOTH,
        claim("max", "max", "at-most", 30, **scope),
        claim("low", "max", "at-most", 90, **scope),
    )
    assert table.loc["max", "verdict"] == "DEVIATES" and "2 of 6 pairs" in table.loc["max", "reason"]
    assert table.loc["low", "verdict"] == "NOT-MEASURABLE-HERE"


def test_a_part_that_refutes_counts_beside_a_whole_one_that_holds(tmp_path):
    gains = BOTH | {("a", BDW_B): 60}
    table, _ = judged(tmp_path, gains, claim("max", "max", "at-most", 50))
    assert table.loc["max", "verdict"] == "DEVIATES"
    assert f"holds on {BDW_A}, fails on {BDW_B}" in table.loc["max", "reason"]


def test_a_whole_scope_with_a_missing_layout_is_judged_by_its_parts(tmp_path):
    """The 1GB layout of b failed on the Haswell: no number of both, but the Broadwell refutes alone."""
    scope = {"platforms": ("haswell", "broadwell"), "hardware": "intel-pmu"}
    gains = BOTH | {("a", HSW): 10, ("b", HSW): 10}
    root = tree(tmp_path, gains)
    lines = (root / "cells.csv").read_text().splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(f"b,{HSW},1gb")]
    assert len(kept) == len(lines) - 1
    (root / "cells.csv").write_text("".join(kept))
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump({"claims": [claim("max", "max", "at-most", 30, **scope)]}))
    row = judge_machines(root, path).claims.iloc[0]
    assert row.verdict == "DEVIATES" and "2 of 4 pairs" in row.reason


def test_what_machines_do_not_decide_is_judged_without_them(tmp_path):
    """Of the simulated platform, with both workloads; the measured part does not change it."""
    gains = {("a", BDW_A): 20, ("a", "broadwell-sim"): 5, ("b", "broadwell-sim"): 15}
    wanted = claim("median", "median", "at-most", 10.1)
    table, _ = judged(tmp_path, gains, wanted, simulated=("broadwell-sim",))
    row = table.loc["median"]
    assert (row.verdict, row.obtained, row.provenance) == ("HOLDS-IN-SIMULATION", "10", "simulated")


def test_other_classes_have_a_table_of_their_own(tmp_path):
    gains = {("a", SKX): 20, ("b", SKX): 40, ("a", ZEN): 5}
    table, elsewhere = judged(
        tmp_path, gains, claim("max", "max", "at-least", 30),
        claim("three", "max", "at-least", 30, platforms=("haswell", "broadwell"), hardware="intel-pmu"),
    )  # fmt: skip
    assert set(table.verdict) == {"NOT-MEASURABLE-HERE"}
    rows = {(r.id, r.machine): r for r in elsewhere.itertuples()}
    assert set(rows) == {("max", SKX), ("max", ZEN), ("three", SKX), ("three", ZEN)}
    assert rows["max", SKX].holds == "HOLDS-ELSEWHERE" and rows["max", SKX].obtained == "40"
    assert rows["max", ZEN].holds == "FAILS-ELSEWHERE"
    assert elsewhere["class"].tolist().count("zen3") == 2
    assert rows["max", ZEN].coverage.startswith("1 of 2")


def test_a_claim_about_any_class_is_decided_by_every_machine(tmp_path):
    gains = {("a", SKX): 20, ("a", ZEN): 5}
    table, elsewhere = judged(
        tmp_path, gains, claim("any", "max", "at-least", 10, ("a",), (), "any")
    )  # fmt: skip
    assert table.loc["any", "verdict"] == "DEVIATES" and elsewhere.empty
    assert f"holds on {SKX}, fails on {ZEN}" in table.loc["any", "reason"]


def test_without_machines_the_table_is_the_plain_one(tmp_path):
    root = tree(tmp_path, {("a", "broadwell-sim"): 5, ("b", "broadwell-sim"): 9}, ("broadwell-sim",))
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump({"claims": [claim("max", "max", "at-most", 9)]}))
    assert judge_machines(root, path).claims.equals(plain(root, path))
    (root / "cells.csv").unlink()
    assert judge_machines(root, path).claims.equals(plain(root, path))


def test_groups_by_hand():
    found = whole_groups(
        Claim("x", "p", "s", "t", "finding", 1, "", "1", Tolerance("exact", 0, ""), "gain",
              scope=Scope(("a",), ("haswell", "broadwell")), hardware_class="intel-pmu"),
        {name: [Pair("a", name)] for name in (HSW, BDW_A, BDW_B, SKX, ZEN)}
        | {SNB: [Pair("a", SNB)]},
    )  # fmt: skip
    assert [(one.machines, one.whole) for one in found] == [((HSW, BDW_A), True), ((HSW, BDW_B), True)]


def test_coverage_by_hand():
    def about(workloads, platforms=("haswell", "broadwell"), hardware="intel-pmu"):
        return Claim("x", "p", "s", "t", "finding", 1, "", "1", Tolerance("exact", 0, ""), "gain",
                     scope=Scope(workloads, platforms), hardware_class=hardware)  # fmt: skip

    one, every = about(("a", "b")), about(())
    mine = [Pair("a", BDW_A), Pair("c", BDW_A)]
    assert in_scope(one, mine) == mine[:1] and in_scope(every, mine) == mine
    assert in_scope(one, [Pair("a", SKX)]) == in_scope(one, []) == []
    assert in_scope(about(("a",), (), "broadwell"), [Pair("a", HSW)]) == []
    assert scope_coverage(one, mine[:1]) == Coverage(1, 4)  # two workloads on two generations
    assert scope_coverage(one, [Pair("a", BDW_A), Pair("a", BDW_B)]) == Coverage(1, 4)
    assert scope_coverage(every, mine) == Coverage(2, None)
    assert scope_coverage(about(("a", "b"), ()), mine[:1]) == Coverage(1, 2)


# -- from bundles

WALKS = "micro20-broadwell-walks-exceed-runtime"


def bundle(**changes):
    return parse_bundle("made", made(Plan(**changes)).files)


def verdict_of(tmp_path, *bundles):
    judged = bundle_judge.judge_bundles(bundles, tmp_path / "out", seed=1, orders=1, rehearsals=True)
    out = ResultsTree(tmp_path / "out")
    assert out.claims.exists() and out.claims_elsewhere.exists()
    assert not judged.claims["reason"].str.contains("the check broke").any()
    assert objections(judged.claims) == {}
    return judged.claims.set_index("id").loc[WALKS], judged.elsewhere


GUPS = ("gups-8gb", "gups-16gb", "gups-32gb")


def test_walks_exceed_the_runtime_on_a_broadwell_of_two_walkers(tmp_path):
    """C of 4KB pages is 1.4 x 31 cycles a miss of 0.6 accesses, R 3 cycles an access and 1.2 x 31 a miss.

    So C / R is 26.0 / (3 + 22.3) = 1.03 for each gups; one of them is enough for a maximum.
    """
    row, elsewhere = verdict_of(tmp_path, bundle(workloads=GUPS[:1], rehearsal=True))
    assert row.verdict == "REPRODUCED" and "1 of 3 pairs" in row.reason
    assert float(row.obtained) == pytest.approx(0.6 * 31 * 1.4 / (3 + 1.2 * 0.6 * 31), rel=0.01)
    assert WALKS not in set(elsewhere["id"])


def test_models_are_fitted_to_all_layouts_only(tmp_path, capsys):
    """Six layouts and 1gb: what needs no model is decided, and nothing about models."""
    bundle_judge.judge_bundles(
        [bundle(workloads=GUPS, rehearsal=True)], tmp_path / "out", seed=1, orders=1, rehearsals=True
    )
    assert capsys.readouterr().err.count("6 layouts, so no model is fitted; models need 54") == len(GUPS)
    assert not list((tmp_path / "out").rglob("errors.csv"))


def test_walks_do_not_exceed_the_runtime_on_a_haswell_of_one_walker(tmp_path):
    """18.6 / 25.3 = 0.73, and another class decides nothing."""
    row, elsewhere = verdict_of(tmp_path, bundle(class_name="haswell", workloads=GUPS, rehearsal=True))
    assert row.verdict == "NOT-MEASURABLE-HERE"
    found = elsewhere.set_index("id").loc[WALKS]
    assert found["holds"] == "FAILS-ELSEWHERE" and found["class"] == "haswell"
    assert float(found["obtained"]) == pytest.approx(0.6 * 31 / (3 + 1.2 * 0.6 * 31), rel=0.01)


def test_two_bundles_of_a_machine_and_rehearsals_are_rejected(tmp_path):
    with pytest.raises(TesseraError) as error:
        write_tree([bundle(), bundle(workloads=("chase",))], tmp_path / "a")
    assert error.value.code == "bundle-twice"
    with pytest.raises(TesseraError) as error:
        write_tree([bundle(rehearsal=True)], tmp_path / "b")
    assert error.value.code == "bundle-rehearsal"


def test_barred_bundles_are_rejected(tmp_path):
    put(made(Plan(rounds=2)).files, tmp_path / "b")
    done = CliRunner().invoke(
        cli, ["measure", "bundle", "judge", str(tmp_path / "b"), "--out", str(tmp_path / "out")]
    )
    assert done.exception.code == "bundle-barred" and "rounds-1" in str(done.exception)
    assert not (tmp_path / "out").exists()
