"""`tessera report check`: a doubled value of a required claim makes it fail, a doubled finding does not.

It prints what failed or is unexpected, and a short summary.
"""

from __future__ import annotations

import pytest
import yaml
from click.testing import CliRunner

from tessera.cli.report import report
from tessera.core import reference
from tessera.report import claims_table
from tessera.report.claims import unexplained

FINDING = "micro20-max-error-basu"
REQUIRED = ("micro20-features-19", "opera-slope", "tessera-platforms-table4", "tessera-layout-count")


@pytest.fixture(scope="module")
def tree(make_tree, tmp_path_factory):
    return make_tree(tmp_path_factory.mktemp("check") / "results").write()


def check(tree, claims):
    claims_table.evaluate_claims(tree, claims, reference.default_dir())
    return CliRunner().invoke(report, ["check", "--results", str(tree)])


def doubled(claim_entries, tmp_path, name):
    """A few claims, one with twice its published value (plus one, so that zero changes too)."""
    claims = [dict(one) for one in claim_entries if one["id"] in (*REQUIRED, FINDING)]
    entry = next(one for one in claims if one["id"] == name)
    spec = entry["published"]
    value = spec.get("value")
    if value is None:
        value = reference.lookup(spec["table"], spec["where"], reference.default_dir())
    entry["published"] = {"value": 2 * value + 1, "reason": "doubled by a test"}
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump({"claims": claims}, sort_keys=False))
    return path


def test_it_passes_as_published(tree, claims_file):
    done = check(tree, claims_file)
    assert done.exit_code == 0, done.output
    table = claims_table.read_claims(tree)
    shown = [name for name in table["id"] if f"{name} " in done.output]
    assert shown == unexplained(table)
    summary = done.output[done.output.index("claims fail unexpectedly") :].splitlines()
    assert len(summary) <= 12 and any(line.startswith("findings: ") for line in summary)


@pytest.mark.parametrize("name", REQUIRED)
def test_a_doubled_required_value_fails_it(tree, claim_entries, tmp_path, name):
    done = check(tree, doubled(claim_entries, tmp_path, name))
    assert done.exit_code != 0 and name in done.output + str(done.exception), done.output


def test_a_doubled_finding_does_not(tree, claim_entries, tmp_path):
    done = check(tree, doubled(claim_entries, tmp_path, FINDING))
    assert done.exit_code == 0, done.output
    assert FINDING not in done.output  # it has an explanation
