"""Which verdict a provenance allows: on the table, on the written page, and in the exit status."""

from __future__ import annotations

import pandas as pd
import pytest

from tessera.report import verdicts


def _claim(verdict, kind, provenance, hardware="haswell"):
    return {"id": "x", "verdict": verdict, "kind": kind, "provenance": provenance, "hardware_class": hardware}


ALLOWED = [
    ("CONSISTENT", "arithmetic", "published"),
    ("CONTRADICTED", "arithmetic", "published"),
    ("PASS", "invariant", "simulated"),
    ("FAIL", "invariant", "measured"),
    ("NOT-MEASURABLE-HERE", "invariant", ""),
    ("NOT-MEASURABLE-HERE", "arithmetic", ""),
    ("REPRODUCED", "finding", "measured"),
    ("DEVIATES", "finding", "measured"),
    ("HOLDS-IN-SIMULATION", "finding", "simulated"),
    ("FAILS-IN-SIMULATION", "finding", "simulated"),
    ("NOT-MEASURABLE-HERE", "finding", ""),
]
FORBIDDEN = [
    ("REPRODUCED", "finding", "simulated"),
    ("DEVIATES", "finding", "simulated"),
    ("REPRODUCED", "finding", "published"),
    ("REPRODUCED", "finding", ""),
    ("REPRODUCED", "arithmetic", "published"),
    ("DEVIATES", "arithmetic", "published"),
    ("REPRODUCED", "invariant", "simulated"),
    ("CONSISTENT", "arithmetic", "simulated"),
    ("CONSISTENT", "finding", "published"),
    ("CONSISTENT", "invariant", "published"),
    ("PASS", "finding", "measured"),
    ("PASS", "arithmetic", "published"),
    ("FAIL", "finding", "simulated"),
    ("HOLDS-IN-SIMULATION", "invariant", "simulated"),
    ("HOLDS-IN-SIMULATION", "finding", "measured"),
    ("HOLDS-IN-SIMULATION", "arithmetic", "published"),
    ("FAILS-IN-SIMULATION", "finding", ""),
    ("CONFIRMED", "finding", "measured"),
]


@pytest.mark.parametrize(("verdict", "kind", "provenance"), ALLOWED)
def test_allowed(verdict, kind, provenance):
    assert verdicts.objection(_claim(verdict, kind, provenance)) == ""


@pytest.mark.parametrize(("verdict", "kind", "provenance"), FORBIDDEN)
def test_forbidden(verdict, kind, provenance):
    assert verdicts.objection(_claim(verdict, kind, provenance))


def test_a_measurement_needs_its_hardware_class():
    assert verdicts.objection(_claim("REPRODUCED", "finding", "measured", hardware=""))


@pytest.mark.parametrize(("unit", "allowed"), [("percent", True), ("cycles", False), ("s", False)])
def test_a_guest_reproduces_no_cycles_and_no_times(unit, allowed):
    ours = {"implementation": "Tessera's patches on Linux 6.12, in a guest", "unit": unit}
    assert (verdicts.objection(_claim("REPRODUCED", "finding", "measured") | ours) == "") is allowed
    assert verdicts.objection(_claim("HOLDS-IN-SIMULATION", "finding", "simulated") | ours) == ""


def test_words_of_scores_overlap_only_where_nothing_is_decided():
    words = {kind: {one.name for one in verdicts.of_kind(kind)} for kind in verdicts.SCORES}
    assert words["finding"] & words["arithmetic"] == words["finding"] & words["invariant"]
    assert words["arithmetic"] & words["invariant"] == {"NOT-MEASURABLE-HERE"}
    assert set.union(*words.values()) == set(verdicts.VERDICTS)
    assert [one.name for one in verdicts.SCORES.values()] == [
        "findings", "proof-reading of papers", "self-checks of Tessera",
    ]  # fmt: skip


def test_the_page_check_sees_a_guest(tmp_path):
    page = tmp_path / "claims.html"
    page.write_text(
        '<tr data-claim="a" data-verdict="REPRODUCED" data-kind="finding" data-provenance="measured" '
        'data-hardware="any" data-implementation="a kernel, in a guest" data-unit="cycles"></tr>'
    )
    assert "guest" in verdicts.objections(verdicts.shown_verdicts(page))["a"]


def test_a_page_that_shows_a_forbidden_verdict_is_found(tmp_path):
    page = tmp_path / "index.html"
    page.write_text(
        '<table><tr data-claim="a" data-verdict="REPRODUCED" data-kind="finding" '
        'data-provenance="simulated"><td>x</td></tr></table>'
    )
    assert list(verdicts.objections(verdicts.shown_verdicts(page))) == ["a"]


def test_a_page_without_claims_has_no_objections(tmp_path):
    page = tmp_path / "index.html"
    page.write_text("<p>nothing</p>")
    assert isinstance(verdicts.shown_verdicts(page), pd.DataFrame) and not verdicts.objections(
        verdicts.shown_verdicts(page)
    )


def test_causes_of_findings_are_counted_and_those_of_printed_numbers_are_not():
    rows = pd.DataFrame(
        [("finding", "window"), ("finding", "window"), ("finding", "machine"), ("finding", "open"),
         ("finding", ""), ("arithmetic", "paper"), ("finding", "paper")],
        columns=["kind", "cause"],
    )  # fmt: skip
    assert verdicts.causes_line(rows) == (
        "Findings that do not hold or are undecided, by cause: 3 on our side (1 machine, 2 window), "
        "1 in the paper, 1 not known."
    )
    assert verdicts.causes_line(rows.assign(cause="")) == ""
