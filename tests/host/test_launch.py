"""A finished run is believed only if its status, its verifier and its time allow it."""

from __future__ import annotations

import pytest

from tessera.measure.launch import judge, last_words

GOOD = '{"workload": "gups", "roi_ns": 5, "verified": true}\n'


def test_a_good_run_has_its_time():
    assert judge(0, "noise\n" + GOOD, "").runtime_ns == 5


@pytest.mark.parametrize(
    ("status", "output", "errors", "said"),
    [
        (1, GOOD, "gups: verification: checksum 1, expected 2\n  what to do: x\n", "status 1: gups: verif"),
        (137, "", "", "status 137: no message"),
        (0, "", "", "no JSON"),
        (0, "done\n", "", "no JSON"),
        (0, "[]\n", "", "no JSON"),
        (0, GOOD.replace("true", "false"), "", "not verified"),
        (0, GOOD.replace("5", "0"), "", "not a positive number"),
        (0, GOOD.replace("5", '"5"'), "", "not a positive number"),
    ],
)
def test_anything_else_is_a_failure_with_its_reason(status, output, errors, said):
    outcome = judge(status, output, errors)
    assert outcome.runtime_ns is None
    assert said in outcome.message


def test_last_words_are_the_finding_not_the_remedy():
    assert last_words("a\nb: found\n  what to do: c\n\n") == "b: found"
    assert last_words("  what to do: c\n") == "what to do: c"
    assert last_words("") == ""
