"""Worked examples of the papers: values by hand, and examples that break the rule they illustrate."""

from __future__ import annotations

import pandas as pd
import pytest

from tessera.core.files import repo_root
from tessera.report.claims import load_claims
from tessera.report.claims.claim import holds
from tessera.report.claims.evidence import Evidence
from tessera.report.evaluators.printed_numbers import interval_faults, raw_events, released_at_top

REFERENCE = repo_root() / "reference-results"
REQUESTS = [f"hole_request_{letter}" for letter in "abcde"]


@pytest.fixture
def evidence(tmp_path):
    return Evidence(tmp_path)


def test_the_mask_is_above_the_select():
    assert raw_events(None, None, {"one": [0x08, 0x04], "two": [0xFF, 0x01]}).value == {
        "one": 0x0408,
        "two": 0x01FF,
    }


@pytest.mark.parametrize(
    ("freed", "released"),
    [
        ("dcba", 0),  # the report's order: e is still there
        ("e", 4096),
        ("ed", 4096 + (10 << 20)),
        ("dcbae", (1 << 30) + (200 << 20) + (2 << 30) + (10 << 20) + 4096),
        ("dcae", 4096 + (10 << 20) + (2 << 30)),  # a lies below b
    ],
)
def test_only_the_top_of_a_heap_is_released(evidence, freed, released):
    names = [f"hole_request_{letter}" for letter in freed]
    assert released_at_top(None, evidence, REQUESTS, names).value == released


class Other:
    """The example with other numbers, in MB."""

    def __init__(self, **numbers):
        self.numbers = {
            "interval_offset": 1, "interval_1gb_end": 1025, "interval_2mb_start": 1029,
            "interval_2mb_end": 1049, "pool_request": 1050,
        } | numbers  # fmt: skip

    def number(self, spec):
        return self.numbers[spec["where"]["quantity"]]


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        ({}, [0, 0, 0, 0]),
        ({"interval_1gb_end": 1024}, [1023 << 20, 0, 1 << 20, 0]),
        ({"interval_2mb_end": 1048}, [0, 1 << 20, 0, 0]),
        ({"interval_2mb_end": 1051}, [0, 0, 0, 1 << 20]),
    ],
)
def test_an_interval_that_breaks_a_rule_is_found(change, faults):
    assert list(interval_faults(None, Other(**change)).value.values()) == faults


def test_the_printed_numbers_are_those_of_the_text(evidence):
    assert interval_faults(None, evidence).value == interval_faults(None, Other()).value


def test_poly2_has_a_bound_as_printed(claims_file):
    claim = {one.id: one for one in load_claims(claims_file)}["micro20-poly2-up-to-6"]
    assert holds(6.0, claim.published, claim.tolerance) and not holds(6.01, claim.published, claim.tolerance)


def test_the_papers_name_the_same_events():
    columns = ["quantity", "value"]
    tables = [pd.read_csv(REFERENCE / f"{name}_values.csv")[columns] for name in ("printed", "opera")]
    events = [
        table[table["quantity"].str.startswith("walk_event_")].set_index("quantity")["value"]
        for table in tables
    ]
    assert (
        events[0].to_dict()
        == events[1].to_dict()
        == {"walk_event_loads": 0x0408, "walk_event_stores": 0x0449}
    )
