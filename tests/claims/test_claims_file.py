"""config/claims.yaml itself, and what its schema refuses."""

from __future__ import annotations

import copy
import re

import pytest
import yaml
from click.testing import CliRunner

from tessera.cli.report import report
from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.report.claims import load_claims, registry
from tessera.report.claims.load import PROOF_READING


def test_it_loads_and_covers_the_papers(claims_file):
    claims = load_claims(claims_file)
    assert len(claims) >= 150
    papers = {"micro20", "opera-d5.10", "mitosis-asplos20", "park-kaist19", "virtuoso-asplos25", "tessera"}
    assert {claim.paper for claim in claims} == papers
    assert {claim.kind for claim in claims} == {"arithmetic", "invariant", "finding"}


def test_proof_reading_has_a_file_of_its_own(claims_file):
    both = load_claims(claims_file)
    own = load_claims(claims_file.with_name(PROOF_READING))
    assert {claim.kind for claim in own} == {"arithmetic"}
    assert [claim for claim in both if claim.kind == "arithmetic"] == own


def test_proof_reading_needs_no_results():
    done = CliRunner().invoke(report, ["proof-read"])
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[-1] == "proof-reading of papers: 98 CONSISTENT, 20 CONTRADICTED"
    assert len(lines) == 1 + 118 + 2
    appendix = (repo_root() / "docs" / "artifact-appendix.md").read_text()
    rows = re.findall(r"^\| proof-reading of papers \((\d+)\) \| ([A-Z]+) \| (\d+)", appendix, re.MULTILINE)
    counts = ", ".join(f"{count} {word}" for _, word, count in rows)
    assert (lines[-1], {len(lines) - 3}) == (
        f"proof-reading of papers: {counts}", {int(total) for total, *_ in rows},
    )  # fmt: skip


def test_proof_reading_fails_if_a_required_claim_does(tmp_path, monkeypatch):
    one = entry() | {"published": {"value": 5, "reason": "wrong"}}
    (tmp_path / PROOF_READING).write_text(yaml.safe_dump({"claims": [one]}))
    monkeypatch.setattr("tessera.report.claims.load.claims_path", lambda: tmp_path / "claims.yaml")
    done = CliRunner().invoke(report, ["proof-read"])
    assert done.exit_code == 1 and "FAILED one: CONTRADICTED" in done.output


def test_only_arithmetic_and_invariants_are_required(claims_file):
    for claim in load_claims(claims_file):
        assert not claim.required or claim.kind != "finding", claim.id  # that needs hardware


def test_every_tolerance_has_its_reason(claims_file):
    assert all(claim.tolerance.why for claim in load_claims(claims_file))


def test_every_evaluator_is_used(claims_file):
    claims = load_claims(claims_file)
    beside = {one.evaluator for claim in claims for one in claim.beside}
    assert {claim.evaluator for claim in claims} | beside == set(registry.evaluators())


def test_changes_are_logged():
    log = (repo_root() / "config" / "claims-changes.md").read_text()
    assert "Initial set" in log and "before the first cell" in log


def entry() -> dict:
    return {
        "id": "one", "paper": "micro20", "section": "I", "statement": "s", "kind": "arithmetic",
        "published": {"value": 4, "reason": "r"}, "unit": "count",
        "tolerance": {"rule": "exact", "value": 0, "why": "w"},
        "evaluator": {"name": "printed", "parameters": {"formula": "comb(1 + 3, 3)"}},
        "scope": {"workloads": [], "platforms": [], "about": "a"},
        "hardware_class": "any", "required": True, "figure": "",
    }  # fmt: skip


def load(tmp_path, *entries, **extra):
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump({"claims": list(entries)} | extra))
    return load_claims(path)


def test_the_entry_that_the_others_are_made_from(tmp_path):
    assert load(tmp_path, entry())[0].published == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, "claims/0/colour: unknown key"),
        ({"kind": "finding"}, "claims/0/required: true; it must be false"),
        ({"kind": "guess"}, "claims/0/kind: 'guess'; it must be one of arithmetic, "),
        ({"hardware_class": "alpha"}, "'alpha'; it must be one of any, "),
        ({"figure": "Figure 1"}, "claims/0/figure: 'Figure 1'; it must be text of the form "),
        ({"id": "Upper Case"}, "claims/0/id: 'Upper Case'; .* of the form "),
        ({"published": {"value": 4}}, "claims/0/published: keys missing: reason"),
        ({"published": {"table": "t", "where": {}}}, "claims/0/published: keys missing: column"),
        ({"tolerance": {"rule": "roughly", "value": 0, "why": "w"}}, "rule: 'roughly'; it must be one of"),
        ({"tolerance": {"rule": "exact", "value": 0}}, "claims/0/tolerance: keys missing: why"),
        ({"tolerance": {"rule": "exact", "value": -1, "why": "w"}}, "value: -1; .* of at least 0"),
        ({"scope": {"workloads": [], "platforms": ["broadwell-sim"], "about": "a"}}, "mean 'broadwell'"),
        pytest.param({"evaluator": {"name": "none", "parameters": {}}}, "evaluator 'none'",
                     id="change12-no such protocol"),
        pytest.param({"evaluator": {"name": "printed", "parameters": {}}},
                     r"\[\] .*'printed'", id="change13-missing a required"),
        pytest.param({"published": {"table": "table9", "where": {}, "column": "value"}}, "table9",
                     id="change14-no such reference"),
        pytest.param(
            {"published": {"table": "table6_cv_errors", "where": {"model": "p"}, "column": "value"}},
            "table6_cv_errors.*'p'", id="change15-no row matches",
        ),
        pytest.param(
            {"published": {"table": "table6_cv_errors", "where": {}, "column": "value"}},
            "4 rows", id="change16-4 rows match",
        ),
        pytest.param(
            {"published": {"table": "table8_rsquared", "where": {}, "column": "value",
                           "key": "input"}},
            "'table8_rsquared', key 'input'", id="change17-several rows have the same name",
        ),
    ],
)  # fmt: skip
def test_refused(tmp_path, change, message):
    with pytest.raises(TesseraError, match=message):
        load(tmp_path, entry() | change)


def test_a_missing_key_is_refused(tmp_path):
    for name in entry():
        lacking = copy.deepcopy(entry())
        del lacking[name]
        with pytest.raises(TesseraError, match=f"claims/0: keys missing: {name}"):
            load(tmp_path, lacking)


def test_an_id_used_twice_is_refused(tmp_path):
    with pytest.raises(TesseraError, match="claim 'one'") as error:
        load(tmp_path, entry(), entry())
    assert error.value.code == "claim-twice"


def test_an_unknown_top_level_key_is_refused(tmp_path):
    with pytest.raises(TesseraError, match="extra: unknown key"):
        load(tmp_path, entry(), extra={})


def test_no_file_and_no_yaml(tmp_path):
    with pytest.raises(TesseraError, match="absent.yaml") as error:
        load_claims(tmp_path / "absent.yaml")
    assert error.value.code == "claims-absent"
    (tmp_path / "bad.yaml").write_text("claims: [")
    with pytest.raises(TesseraError, match="bad.yaml") as error:
        load_claims(tmp_path / "bad.yaml")
    assert error.value.code == "claims-yaml"
