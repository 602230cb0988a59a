"""The table as a whole: columns, provenance, missing inputs, and what flips a verdict."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from tessera.core import reference
from tessera.core.files import repo_root
from tessera.core.results.report_tables import CLAIMS
from tessera.report.claims import VERDICTS, failing_claims, judged_claims
from tessera.report.claims.load import PROOF_READING
from tessera.report.verdicts import objections


@pytest.fixture(scope="module")
def baseline(make_tree, tmp_path_factory) -> pd.DataFrame:
    """The table of the unchanged synthetic tree, evaluated once."""
    tree = make_tree(tmp_path_factory.mktemp("baseline") / "results")
    return judged_claims(tree.write(), repo_root() / "config" / "claims.yaml")


@pytest.fixture
def tree(make_tree, tmp_path):
    """A tree of every row that the claims are about, not yet written."""
    return make_tree(tmp_path / "results")


def verdicts(tree, claims_file, *only: str, published: Path | None = None) -> pd.DataFrame:
    """By id. With ``only``, nothing but these claims is evaluated: all of them take many seconds."""
    if only:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        files = (claims_file, claims_file.with_name(PROOF_READING))
        entries = [one for file in files for one in yaml.load(file.read_text(), Loader=loader)["claims"]]
        entries = [one for one in entries if one["id"] in only]
        assert len(entries) == len(only)
        claims_file = tree.path.parent / "some-claims.yaml"
        claims_file.write_text(yaml.safe_dump({"claims": entries}, sort_keys=False))
    return judged_claims(tree.write(), claims_file, published).set_index("id")


def test_columns_are_the_contract_and_what_the_report_reads(baseline):
    table = baseline
    assert tuple(table.columns) == CLAIMS.names
    assert set(table["verdict"]) <= set(VERDICTS)
    assert objections(table) == {}
    assert not table["reason"].str.contains("the check broke").any()
    assert (table.loc[table["verdict"] != "NOT-MEASURABLE-HERE", "obtained"] != "").all()
    assert (table.loc[table["verdict"] == "NOT-MEASURABLE-HERE", "reason"] != "").all()


def test_known_verdicts_of_the_synthetic_tree(baseline):
    table = baseline.set_index("id")
    want = {
        "micro20-features-19": "CONSISTENT",
        "micro20-every-model-has-a-zero-error": "CONTRADICTED",
        "opera-l1-data-cache": "CONTRADICTED",
        "micro20-max-error-basu": "HOLDS-IN-SIMULATION",
        "micro20-existing-order": "HOLDS-IN-SIMULATION",
        "micro20-max-error-mosmodel": "HOLDS-IN-SIMULATION",
        "micro20-mosmodel-typical-geomean": "HOLDS-IN-SIMULATION",
        "micro20-mosmodel-beats-existing": "HOLDS-IN-SIMULATION",
        "micro20-slope-above-1-exists": "HOLDS-IN-SIMULATION",
        "micro20-table6-mosmodel": "HOLDS-IN-SIMULATION",
        "micro20-table8-gups-sandybridge": "FAILS-IN-SIMULATION",
        "micro20-h-least-valuable": "HOLDS-IN-SIMULATION",
        "micro20-best-input-differs": "FAILS-IN-SIMULATION",
        "micro20-1gb-like-2mb": "HOLDS-IN-SIMULATION",
        "micro20-hot-region": "FAILS-IN-SIMULATION",
        "micro20-random-near-anchors": "HOLDS-IN-SIMULATION",
        "micro20-sliding-most-diverse": "HOLDS-IN-SIMULATION",
        "micro20-basu-optimistic-near-zero": "HOLDS-IN-SIMULATION",
        "micro20-pham-optimistic": "HOLDS-IN-SIMULATION",
        "micro20-cv-100-layouts": "NOT-MEASURABLE-HERE",
        "micro20-mcf-mosmodel": "HOLDS-IN-SIMULATION",
        "micro20-bfs-road-broadwell": "FAILS-IN-SIMULATION",
        "micro20-bfs-road-older": "HOLDS-IN-SIMULATION",
        "micro20-badgertrap": "NOT-MEASURABLE-HERE",
        "opera-fewer-pages-win": "FAILS-IN-SIMULATION",
        "opera-pham-overestimates-graph500": "HOLDS-IN-SIMULATION",
        "tessera-mosmodel-nonzero": "PASS",
        "tessera-anchors-hit": "PASS",
        "tessera-degrees-nested": "PASS",
        "tessera-layout-count": "PASS",
        "tessera-workloads-sensitive": "PASS",
        "opera-walk-latency-close": "CONTRADICTED",
        "tessera-runtime-variation": "NOT-MEASURABLE-HERE",
    }
    assert table.loc[list(want), "verdict"].to_dict() == want
    assert set(table[table["verdict"].str.endswith("SIMULATION")]["provenance"]) == {"simulated"}
    assert failing_claims(table.reset_index()) == []


def test_an_empty_folder_decides_arithmetic_only(tmp_path, claims_file):
    table = judged_claims(tmp_path, claims_file)
    decided = table[table["verdict"] != "NOT-MEASURABLE-HERE"]
    assert set(decided["kind"]) == {"arithmetic"}
    assert not table["reason"].str.contains("the check broke").any()
    assert table.loc[table["kind"] != "arithmetic", "reason"].str.contains("to measure it: ").all()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cells.csv", None),
        ("cells.csv", "layout\n"),
        ("models/errors.csv", None),
        ("models/predictions.csv", ""),
        ("models/cv.csv", "workload,platform,model\n"),
        ("models/coefficients.csv", None),
    ],
)
def test_a_missing_table_is_a_reason_not_a_crash(baseline, tree, claims_file, name, content):
    path = tree.write() / name
    path.unlink() if content is None else path.write_text(content)
    table = judged_claims(tree.path, claims_file)
    assert not table["reason"].str.contains("the check broke").any()
    missing = [set(t.loc[t["verdict"] == "NOT-MEASURABLE-HERE", "id"]) for t in (baseline, table)]
    assert len(missing[1] - missing[0]) >= 2 and missing[0] <= missing[1]


def test_a_missing_workload_is_named(tree, claims_file):
    tree.cells = tree.cells[tree.cells["workload"] != "gapbs-pr-twitter"]
    row = verdicts(tree, claims_file, "micro20-max-error-basu").loc["micro20-max-error-basu"]
    assert row["verdict"] == "NOT-MEASURABLE-HERE"
    assert "gapbs-pr-twitter on haswell" in row["reason"] and "./run reproduce" in row["reason"]


def test_a_failed_cell_is_named_with_its_message(tree, claims_file):
    bad = (tree.cells["workload"] == "gapbs-pr-twitter") & (tree.cells["layout"] == "1gb")
    tree.cells.loc[bad, ["status", "message"]] = ["failed", "trace is damaged"]
    row = verdicts(tree, claims_file, "micro20-1gb-like-2mb").loc["micro20-1gb-like-2mb"]
    assert row["verdict"] == "NOT-MEASURABLE-HERE" and "trace is damaged" in row["reason"]


def test_an_error_that_no_model_has(tree, claims_file):
    tree.errors = tree.errors.assign(message="")
    bad = (tree.errors["model"] == "basu") & (tree.errors["workload"] == "gapbs-pr-twitter")
    tree.errors.loc[bad, ["max_error", "geomean_error", "message"]] = [None, None, "alpha undefined"]
    row = verdicts(tree, claims_file, "micro20-max-error-basu").loc["micro20-max-error-basu"]
    assert row["verdict"] == "NOT-MEASURABLE-HERE" and "alpha undefined" in row["reason"]


def test_insensitive_pairs_decide_only_what_is_about_sensitivity(tree, claims_file):
    """bfs-road gains 3% on Broadwell: out of the models' claims, as in the paper, and still in its own."""
    rows = (tree.cells["workload"] == "gapbs-bfs-road") & (tree.cells["platform"] == "broadwell-sim")
    small = tree.cells.loc[rows & (tree.cells["layout"] == "growing-0"), "runtime_cycles"].iloc[0]
    tree.cells.loc[rows & (tree.cells["layout"] == "1gb"), "runtime_cycles"] = 0.97 * small
    wild = (tree.errors["workload"] == "gapbs-bfs-road") & (tree.errors["platform"] == "broadwell-sim")
    tree.errors.loc[wild, "max_error"] = 50.0
    only = ("micro20-max-error-basu", "micro20-bfs-road-broadwell", "tessera-workloads-sensitive")
    table = verdicts(tree, claims_file, *only)
    assert float(table.loc["micro20-max-error-basu", "obtained"]) == pytest.approx(192)
    assert table.loc["micro20-bfs-road-broadwell", "verdict"] == "HOLDS-IN-SIMULATION"
    assert float(table.loc["micro20-bfs-road-broadwell", "obtained"]) == pytest.approx(3)
    assert table.loc["tessera-workloads-sensitive", "verdict"] == "PASS"


def test_a_claim_about_a_dropped_pair_says_so(tree, claims_file):
    rows = tree.cells["workload"] == "network-simplex"
    tree.cells.loc[rows, "runtime_cycles"] = 5000.0
    row = verdicts(tree, claims_file, "micro20-mcf-mosmodel").loc["micro20-mcf-mosmodel"]
    assert row["verdict"] == "NOT-MEASURABLE-HERE"
    assert "network-simplex on sandybridge-sim: 1GB pages save 0.0%" in row["reason"]


def test_hybrid_cells_decide_no_model_error(tree, claims_file):
    tree.cells["runtime_provenance"] = "measured"
    table = verdicts(tree, claims_file)
    findings = table[(table["kind"] == "finding")]
    assert set(findings["verdict"]) == {"NOT-MEASURABLE-HERE"}
    assert table.loc["tessera-hybrid-never-fitted", "verdict"] == "FAIL"
    assert [row["id"] for row in failing_claims(table.reset_index())] == ["tessera-hybrid-never-fitted"]


def test_measured_data_of_the_class_reproduces(tree, claims_file):
    """The same numbers from real machines: REPRODUCED and DEVIATES instead of the simulation's words."""
    for name in ("cells", "errors", "cv", "rsquared", "coefficients", "predictions"):
        table = getattr(tree, name)
        table["platform"] = table["platform"].str.replace("-sim", "-lab")
    tree.cells["runtime_provenance"] = tree.cells["tlb_provenance"] = "measured"
    table = verdicts(tree, claims_file)
    assert table.loc["micro20-max-error-basu", "verdict"] == "REPRODUCED"
    assert table.loc["micro20-table8-gups-sandybridge", "verdict"] == "DEVIATES"
    assert table.loc["micro20-max-error-basu", "provenance"] == "measured"
    assert not table["verdict"].str.contains("SIMULATION").any() or set(
        table[table["verdict"].str.contains("SIMULATION")]["provenance"]
    ) == {"simulated"}


def test_one_measured_machine_does_not_stand_for_three(tree, claims_file):
    extra = tree.cells[tree.cells["platform"] == "broadwell-sim"].copy()
    extra["platform"] = "broadwell-lab"
    extra["runtime_provenance"] = extra["tlb_provenance"] = "measured"
    tree.cells = pd.concat([tree.cells, extra], ignore_index=True)
    table = verdicts(tree, claims_file, "micro20-max-error-basu", "micro20-broadwell-walks-exceed-runtime")
    assert table.loc["micro20-max-error-basu", "provenance"] == "simulated"
    assert table.loc["micro20-broadwell-walks-exceed-runtime", "provenance"] == "measured"
    assert table.loc["micro20-broadwell-walks-exceed-runtime", "verdict"] == "DEVIATES"


@pytest.mark.parametrize(
    ("table", "where", "value", "claim", "before", "after"),
    [
        ("table6_cv_errors", {"model": "mosmodel"}, 1.0, "micro20-table6-mosmodel",
         "HOLDS-IN-SIMULATION", "FAILS-IN-SIMULATION"),
        ("printed_values", {"quantity": "coefficients"}, 18, "micro20-features-19",
         "CONSISTENT", "CONTRADICTED"),
        ("table7_xalancbmk", {"counter": "runtime_cycles", "page_size": "4KB"}, 1200,
         "micro20-table7-slope", "CONSISTENT", "CONTRADICTED"),
        ("printed_values", {"quantity": "nonzero_coefficients"}, 1, "tessera-mosmodel-nonzero",
         "PASS", "FAIL"),
        ("table8_rsquared", {"workload": "gups/8GB", "platform": "sandybridge", "input": "H"}, 0.5,
         "micro20-table8-gups-sandybridge", "FAILS-IN-SIMULATION", "HOLDS-IN-SIMULATION"),
    ],
)  # fmt: skip
def test_changing_a_published_value_flips_a_verdict(
    baseline, tree, claims_file, tmp_path, table, where, value, claim, before, after
):
    assert baseline.set_index("id").loc[claim, "verdict"] == before
    folder = tmp_path / "changed"
    shutil.copytree(reference.default_dir(), folder)
    frame = pd.read_csv(folder / f"{table}.csv", dtype=str, keep_default_na=False)
    rows = pd.Series(True, index=frame.index)
    for key, wanted in where.items():
        rows &= frame[key] == wanted
    frame.loc[rows, "value"] = str(value)
    frame.to_csv(folder / f"{table}.csv", index=False)
    changed = verdicts(tree, claims_file, claim, published=folder)
    assert changed.loc[claim, "verdict"] == after


def test_evaluating_again_gives_the_same_table(baseline, tree, claims_file):
    pd.testing.assert_frame_equal(baseline, judged_claims(tree.write(), claims_file))


def test_check_names_failed_and_broken_required_claims():
    rows = pd.DataFrame(
        [
            ("a", True, "CONTRADICTED", ""),
            ("b", False, "DEVIATES", ""),
            ("c", True, "CONSISTENT", ""),
            ("d", True, "NOT-MEASURABLE-HERE", "no good cells; to measure it: x"),
            ("e", True, "NOT-MEASURABLE-HERE", "the check broke: evaluator 'x': KeyError: 'y'"),
            ("f", "true", "FAIL", ""),
            ("g", True, "PASS", ""),
        ],
        columns=["id", "required", "verdict", "reason"],
    )
    assert [row["id"] for row in failing_claims(rows)] == ["a", "e", "f"]
