"""What stands beside a maximum: median, ninth tenth and number of the values behind it."""

from __future__ import annotations

import pytest

from tessera.report.claims import judged_claims
from tessera.report.claims.selection import describe_distribution, describe_distributions


def test_a_maximum_and_a_minimum_of_eleven_values():
    """0, 10 ... 100: the median is 50; nine tenths of the way up is 90, one tenth 10."""
    values = [10.0 * n for n in range(11)]
    assert describe_distribution(values, "max") == "median 50, 90% 90, max 100 of 11 pairs"
    assert describe_distribution(values, "min", "programs") == "median 50, 10% 10, min 0 of 11 programs"


@pytest.mark.parametrize(("values", "how"), [([1.0, 2.0], "median"), ([1.0, 2.0], "count"), ([1.0], "max")])
def test_other_aggregates_and_single_values_have_none(values, how):
    assert describe_distribution(values, how) == describe_distributions({"a": values}, how) == ""


def test_several_maxima_by_name():
    found = describe_distributions({"poly1": [1.0, 3.0], "poly2": [2.0, 2.0]}, "max")
    assert found == "poly1: median 2, 90% 2.8, max 3; poly2: median 2, 90% 2, max 2 of 2 pairs"


def test_claims_about_maxima_have_one(make_tree, tmp_path, claims_file):
    """Poly1 errs by 26% for every pair but one, where it errs by 40%: the maximum is not typical."""
    tree = make_tree(tmp_path / "results")
    rows = (tree.errors["model"] == "poly1") & (tree.errors["workload"] == "gups-8gb")
    tree.errors.loc[rows & (tree.errors["platform"] == "haswell-sim"), "max_error"] = 0.4
    table = judged_claims(tree.write(), claims_file).set_index("id")
    assert table.loc["micro20-max-error-poly1", "distribution"] == "median 26, 90% 26, max 40 of 57 pairs"
    assert "poly1: median 26, 90% 26, max 40" in table.loc["micro20-max-error-poly2", "distribution"]
    assert "of 57 pairs" in table.loc["micro20-table6-poly3", "distribution"]
    assert table.loc["micro20-gups-poly1", "distribution"] == ""  # one pair
    arithmetic = table[table["kind"] == "arithmetic"]
    assert set(arithmetic["distribution"]) == {""}
