"""Explanations: shown where a claim deviates, asked for where it does, written for the default run."""

from __future__ import annotations

import pandas as pd
import pytest
import yaml

from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.report.claims import judged_claims, load_claims, unexplained
from tessera.report.claims.verdicts import BAD, NOT_MEASURABLE, UNDECIDED
from tessera.report.verdicts import CAUSES


def test_shown_only_where_a_claim_deviates(make_tree, tmp_path, claims_file):
    table = judged_claims(make_tree(tmp_path / "results").write(), claims_file)
    written = {claim.id: claim.explanation for claim in load_claims(claims_file)}
    bad = table["verdict"].isin(BAD)
    assert bad.any() and (table.loc[~bad, "explanation"] == "").all()
    assert table.loc[bad, "explanation"].tolist() == [written[name] for name in table.loc[bad, "id"]]
    # These deviate whatever the results, since they are about printed numbers.
    always = table.set_index("id").loc[["opera-l1-data-cache", "micro20-poly1-below-existing"]]
    assert set(always["verdict"]) == {"CONTRADICTED"} and (always["explanation"] != "").all()


def test_a_finding_of_a_paper_says_whether_ours_or_the_paper_is_the_cause(claims_file):
    for claim in load_claims(claims_file):
        asked = bool(claim.explanation) and claim.kind == "finding" and claim.paper != "tessera"
        assert bool(claim.cause) == asked, claim.id
        assert claim.cause in ("", *CAUSES), claim.id


def test_the_cause_is_shown_with_its_explanation_only(make_tree, tmp_path, claims_file):
    table = judged_claims(make_tree(tmp_path / "results").write(), claims_file)
    written = {claim.id: claim.cause for claim in load_claims(claims_file)}
    shown = table["explanation"] != ""
    assert (table.loc[~shown, "cause"] == "").all() and (table.loc[shown, "cause"] != "").any()
    assert table.loc[shown, "cause"].tolist() == [written[name] for name in table.loc[shown, "id"]]


def test_an_unknown_cause_is_refused_by_name(tmp_path, claim_entries):
    path, entry = tmp_path / "claims.yaml", next(one for one in claim_entries if one.get("cause"))
    path.write_text(yaml.safe_dump({"claims": [entry]}))
    assert load_claims(path)[0].cause == entry["cause"]
    path.write_text(yaml.safe_dump({"claims": [entry | {"cause": "weather"}]}))
    with pytest.raises(TesseraError, match="weather"):
        load_claims(path)


def test_what_lacks_one_is_named():
    rows = pd.DataFrame(
        [("a", "DEVIATES", ""), ("b", "FAILS-IN-SIMULATION", "why"), ("c", "REPRODUCED", ""),
         ("d", "FAILS-IN-SIMULATION", None), ("e", "NOT-MEASURABLE-HERE", ""),
         ("f", "CONTRADICTED", ""), ("g", "FAIL", ""), ("h", "PASS", "")],
        columns=["id", "verdict", "explanation"],
    )  # fmt: skip
    assert unexplained(rows) == ["a", "d", "f", "g"]


def test_each_is_a_sentence_and_hides_nothing(claims_file):
    for claim in load_claims(claims_file):
        if claim.explanation:
            assert claim.explanation.endswith(".") and 20 <= len(claim.explanation) <= 400, claim.id


def test_those_written_are_those_of_the_archived_default_run(claims_file):
    """By the verdicts in notebooks/data; only measured numbers may deviate in one run and not in another."""
    archived = pd.read_csv(repo_root() / "notebooks" / "data" / "claims.csv").set_index("id")
    written = {claim.id for claim in load_claims(claims_file) if claim.explanation}
    written &= set(archived.index)  # a claim that is newer than the archive has no verdict there
    deviating = set(archived.index[archived["verdict"].isin((*BAD, UNDECIDED))])
    open_ = set(archived.index[archived["verdict"] == NOT_MEASURABLE])
    assert deviating <= written
    # an input that a default run does not make has its explanation from a longer one
    assert set(archived["provenance"][list(written - deviating - open_)]) <= {"measured"}


def test_the_default_run_has_one_for_every_deviation(claims_file):
    results = repo_root() / "results" / "default"
    if not (results / "cells.csv").exists():
        pytest.skip("no results of the default configuration; ./run reproduce")
    assert unexplained(judged_claims(results, claims_file)) == []
