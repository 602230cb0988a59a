"""Which verdict a provenance allows: on the table, on the written page, and in the exit status."""

from __future__ import annotations

import pandas as pd
import pytest

from tessera.show import verdicts


def _claim(verdict, kind, provenance, hardware="haswell"):
    return {"id": "x", "verdict": verdict, "kind": kind, "provenance": provenance, "hardware_class": hardware}


ALLOWED = [
    ("REPRODUCED", "arithmetic", "published"),
    ("DEVIATES", "arithmetic", "published"),
    ("REPRODUCED", "invariant", "simulated"),
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
    ("REPRODUCED", "arithmetic", "simulated"),
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


def test_a_page_that_shows_a_forbidden_verdict_is_found(tmp_path):
    page = tmp_path / "index.html"
    page.write_text(
        '<table><tr data-claim="a" data-verdict="REPRODUCED" data-kind="finding" '
        'data-provenance="simulated"><td>x</td></tr></table>'
    )
    assert list(verdicts.objections(verdicts.shown(page))) == ["a"]


def test_a_page_without_claims_has_no_objections(tmp_path):
    page = tmp_path / "index.html"
    page.write_text("<p>nothing</p>")
    assert isinstance(verdicts.shown(page), pd.DataFrame) and not verdicts.objections(verdicts.shown(page))
