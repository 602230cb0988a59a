"""The claims table fits any terminal."""

from __future__ import annotations

import pytest

from tessera.report import claims_table, verdicts


@pytest.fixture
def table(five_claims):
    return claims_table.tidy_claims(five_claims)


@pytest.mark.parametrize("width", [40, 60, 80, 120, 300])
def test_no_line_is_wider_than_the_terminal(table, width):
    assert max(map(len, claims_table.claims_text(table, width).splitlines())) <= width


def test_verdicts_are_readable_at_80_columns(table):
    text = claims_table.claims_text(table, 80)
    assert all(name in text for name in table["verdict"])


def test_empty_values_are_dashes_and_numbers_short(table):
    row = next(
        line
        for line in claims_table.claims_text(table, 200).splitlines()
        if line.startswith("broadwell-runtime")
    )
    assert " - " in row
    assert (
        claims_table.readable_value(0.123456789) == "0.1235"
        and claims_table.readable_value(float("nan")) == ""
    )


def test_a_log_has_a_line_per_claim_and_one_long_value_does_not_widen_all(table, capsys):
    table = table.copy()
    table.loc[table.index[0], "obtained"] = "gups=1.5 " * 40
    claims_table.print_claims(table)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(table) and max(map(len, lines)) < 170
    assert "..." in lines[1] and lines[1].endswith(table["verdict"].iloc[0])


def test_each_score_has_a_line_and_words_of_its_own(table):
    """Ten claims, one of each verdict: six findings, two proof-readings, two self-checks; no count of 10."""
    assert verdicts.verdict_lines(table).splitlines() == [
        "findings: 1 REPRODUCED, 1 DEVIATES, 1 HOLDS-IN-SIMULATION, 1 FAILS-IN-SIMULATION, "
        "1 UNDECIDED (reading), 1 NOT-MEASURABLE-HERE",
        "proof-reading of papers: 1 CONSISTENT, 1 CONTRADICTED",
        "self-checks of Tessera: 1 PASS, 1 FAIL",
    ]
    older = table.assign(verdict=table["verdict"].replace("CONSISTENT", "REPRODUCED"))
    assert (
        verdicts.verdict_lines(older).splitlines()[1]
        == "proof-reading of papers: 1 REPRODUCED, 1 CONTRADICTED"
    )
    assert verdicts.verdict_lines(table.head(0)).splitlines()[0] == "findings: none"
