"""Rows of models' tables for one pair, as a table and as dictionaries; claims whose file changed."""

from __future__ import annotations

import os

import pandas as pd
import pytest
import yaml

from tessera.core.results.loader import Pair
from tessera.report.claims import load_claims
from tessera.report.claims.claim import Missing
from tessera.report.claims.evidence import Evidence
from tessera.report.evaluators.model_errors import predictions
from tessera.report.evaluators.model_inputs import r_squared_of_pair

PAIR = Pair("graph500-2gb", "haswell-sim")


@pytest.fixture
def evidence(tree) -> Evidence:
    return Evidence(tree.write())


def test_rows_are_those_that_satisfy_all_conditions(evidence):
    """54 layouts + 1gb for each model; 5 values of K."""
    table = evidence.models("predictions")
    wanted = table[(table["workload"] == PAIR.workload) & (table["platform"] == PAIR.platform)]
    wanted = wanted[wanted["model"] == "pham"]
    assert len(wanted) == 55
    pd.testing.assert_frame_equal(evidence.of_pair("predictions", PAIR, model="pham"), wanted)
    assert evidence.records("predictions", PAIR, model="pham") == wanted.to_dict("records")
    folds = evidence.records("cv", PAIR, model="poly1", protocol="")
    assert [row["folds"] for row in folds] == [3, 6, 9, 27, 54]
    assert evidence.record("cv", PAIR, model="mosmodel", folds=27)["max_error"] == 0.043


@pytest.mark.parametrize("read", ["of_pair", "records", "record"])
def test_no_row_names_the_pair_and_the_conditions(evidence, read):
    with pytest.raises(Missing, match="gups-8gb on host.*models/cv.csv.*this pair"):
        getattr(evidence, read)("cv", Pair("gups-8gb", "host"))
    with pytest.raises(Missing, match="models/cv.csv.*model poly1, folds 5"):
        getattr(evidence, read)("cv", PAIR, model="poly1", folds=5)


def test_evidence_of_some_platforms_shares_its_tables_and_decides_fewer_pairs(evidence):
    some = evidence.limited(["haswell-sim"])
    assert {pair.platform for pair in some.provenances} == {"haswell-sim"}
    assert len(evidence.provenances) == 9
    assert some.samples(PAIR) is evidence.samples(PAIR)


def test_a_row_that_is_there_twice_is_no_value(tree):
    tree.rsquared = pd.concat([tree.rsquared, tree.rsquared.tail(1)])
    tree.predictions = pd.concat([tree.predictions, tree.predictions.tail(1)])
    evidence, last = Evidence(tree.write()), Pair("gapbs-pr-twitter", "broadwell-sim")
    with pytest.raises(ValueError, match="rsquared.csv"):
        r_squared_of_pair(evidence, last)
    with pytest.raises(ValueError, match="predictions.csv.*poly3"):
        predictions(evidence, last, "poly3")
    assert len(predictions(evidence, PAIR, "poly3")) == 55


def test_a_changed_file_of_claims_is_read_again(tmp_path, claim_entries):
    path = tmp_path / "claims.yaml"
    first = dict(claim_entries[0])
    for second, text in enumerate(("What was written first.", "What was written later.")):  # of one size
        path.write_text(yaml.safe_dump({"claims": [first | {"statement": text}]}))
        os.utime(path, (second, second))
        assert [claim.statement for claim in load_claims(path)] == [text]
    load_claims(path).clear()
    assert len(load_claims(path)) == 1
