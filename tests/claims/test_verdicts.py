"""The whole truth table of verdicts: kind x provenance x hardware x whether the value holds."""

from __future__ import annotations

from itertools import product

import pytest

from tessera.report.claims.claim import KINDS, PLACEMENT, Claim, Tolerance, class_matches
from tessera.report.claims.verdicts import BAD, GOOD, UNDECIDED, VERDICTS, judge_value
from tessera.report.verdicts import objection

PROVENANCES = ("published", "simulated", "measured", "hybrid", "")


def claim(kind: str, hardware_class: str = "broadwell") -> Claim:
    tolerance = Tolerance("exact", 0, "test")
    return Claim("x", "micro20", "I", "s", kind, 1.0, "test", "1", tolerance, "p",
                 hardware_class=hardware_class)  # fmt: skip


def expected(kind: str, provenance: str, same_class: bool, good: bool) -> str:
    """The table of docs/explain/claims.md, written a second time."""
    if kind == "arithmetic":
        if provenance != "published":
            return "NOT-MEASURABLE-HERE"
        return "CONSISTENT" if good else "CONTRADICTED"
    if kind == "invariant":
        return "PASS" if good else "FAIL"
    if provenance == "simulated":
        return "HOLDS-IN-SIMULATION" if good else "FAILS-IN-SIMULATION"
    if provenance == "measured" and same_class:
        return "REPRODUCED" if good else "DEVIATES"
    return "NOT-MEASURABLE-HERE"


@pytest.mark.parametrize(
    ("kind", "provenance", "machine", "obtained"),
    list(product(KINDS, PROVENANCES, ("broadwell", "haswell", ""), (1.0, 2.0))),
)
def test_truth_table(kind, provenance, machine, obtained):
    judged = judge_value(claim(kind), obtained, provenance, machine)
    assert judged.name == expected(kind, provenance, machine == "broadwell", obtained == 1.0)
    assert judged.name in VERDICTS
    assert bool(judged.reason) == (
        judged.name not in ("CONSISTENT", "PASS", "REPRODUCED", "HOLDS-IN-SIMULATION")
    )


@pytest.mark.parametrize(
    ("kind", "quantity", "name"),
    [
        ("finding", PLACEMENT, "REPRODUCED"),
        ("finding", "", "NOT-MEASURABLE-HERE"),
        ("finding", "instructions", "NOT-MEASURABLE-HERE"),
        ("invariant", "", "PASS"),
    ],
)
def test_a_guest_decides_findings_about_placement_only(kind, quantity, name):
    """Cycles, times and instructions of a guest reproduce nothing, even for a claim of class 'any'."""
    assert judge_value(claim(kind, "any"), 1.0, "measured", "guest", quantity=quantity).name == name


def test_no_word_belongs_to_two_scores():
    """A count of one word is then a count of one score."""
    words = [
        {
            judge_value(claim(kind, "any"), value, provenance, "haswell").name
            for value, provenance in product((1.0, 2.0), PROVENANCES)
        }
        - {"NOT-MEASURABLE-HERE"}
        for kind in KINDS
    ]
    assert sum(map(len, words)) == len(set.union(*words)) == len(VERDICTS) - 2 == len(GOOD) + len(BAD)
    assert set(VERDICTS) - {*GOOD, *BAD} == {UNDECIDED, "NOT-MEASURABLE-HERE"}


@pytest.mark.parametrize(("kind", "provenance"), list(product(KINDS, PROVENANCES)))
def test_nothing_obtained(kind, provenance):
    judged = judge_value(claim(kind), None, provenance, "broadwell", "no PMU; to measure it: x")
    assert judged == ("NOT-MEASURABLE-HERE", "no PMU; to measure it: x")


@pytest.mark.parametrize("value", [float("nan"), {"C": 0.9, "M": float("nan")}])
def test_not_a_number(value):
    assert judge_value(claim("finding"), value, "simulated", "").name == "NOT-MEASURABLE-HERE"


def test_the_reason_of_a_deviation_names_all_three_numbers():
    reason = judge_value(claim("finding"), 2.0, "simulated", "").reason
    assert reason == "obtained 2 1, published 1, tolerance exact"


@pytest.mark.parametrize(
    ("wanted", "machine", "same"),
    [
        ("any", "", True),
        ("any", "host", True),
        ("intel-pmu", "haswell", True),
        ("intel-pmu", "skylake", True),
        ("intel-pmu", "icelake", True),
        ("intel-pmu", "zen4", False),
        ("other-pmu", "zen4", True),
        ("other-pmu", "unknown", False),
        ("other-pmu", "host", False),
        ("intel-pmu", "unknown", False),
        ("broadwell", "broadwell", True),
        ("broadwell", "haswell", False),
        ("other-pmu", "broadwell", False),
        ("intel-pmu", "intel-pmu", True),
    ],
)
def test_hardware_classes(wanted, machine, same):
    assert class_matches(wanted, machine) is same


@pytest.mark.parametrize(
    ("kind", "provenance", "machine", "obtained"),
    list(product(KINDS, ("published", "simulated", "measured"), ("broadwell", "haswell"), (1, 2))),
)
def test_the_report_accepts_every_verdict(kind, provenance, machine, obtained):
    """The report checks verdicts again, by its own rule."""
    judged = judge_value(claim(kind), obtained, provenance, machine)
    row = {"verdict": judged.name, "kind": kind, "provenance": provenance}
    assert objection(row | {"hardware_class": "broadwell"}) == ""
