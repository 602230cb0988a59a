"""Answers follow from steps; nothing is claimed where nothing was measured."""

import pandas as pd
import pytest

from tessera.lab.chase import findings
from tessera.lab.chase.latency_steps import STEP_COLUMNS

NOTHING = pd.DataFrame(columns=["series", "elements", "chains", "low_cycles"])


def step(series, number, entries, added, half=10):
    row = dict.fromkeys(STEP_COLUMNS, 0.0) | {"source": "measured", "series": series, "step": number}
    return row | {"entries": entries, "low": entries - half, "high": entries + half, "added_cycles": added}


def table(*rows):
    return pd.DataFrame(list(rows), columns=list(STEP_COLUMNS))


def answers(steps, aligned=1.0, known="True"):
    status = pd.DataFrame(
        [{"series": "contiguous", "frames_known": known, "aligned_runs_of_8_frames": aligned}]
    )
    found = findings.findings_table(steps, status, NOTHING)
    return dict(zip(found["finding"], found["answer"], strict=True))


SPLIT, COALESCED = "2MB pages are splintered", "STLB coalesces contiguous frames"


@pytest.mark.parametrize(
    "rows, expected",
    [
        ([step("pages", 1, 96, 7), step("large-pages", 1, 97, 7)], "yes"),
        ([step("pages", 1, 96, 7), step("large-pages", 1, 4000, 0.5)], "no"),
        ([step("pages", 1, 96, 7), step("large-pages", 1, 4000, 6)], "unknown"),  # as high, elsewhere
        ([step("pages", 1, 96, 7), step("large-stride", 1, 32, 7)], "no"),  # no step inside 2MB pages
        ([step("pages", 1, 96, 7)], "unknown"),  # not measured
    ],
)
def test_splintering(rows, expected):
    assert findings.splintered(table(*rows)) == expected
    assert answers(table(*rows))[SPLIT] == expected


@pytest.mark.parametrize(
    "reach, aligned, known, expected",
    [
        (1536, 1.0, "True", "no"),
        (1536 * 1.24, 1.0, "True", "no"),
        (1536 * 1.26, 1.0, "True", "yes"),
        (6000, 0.2, "True", "unknown"),  # the frames were not contiguous
        (6000, 1.0, "False", "unknown"),
    ],
)
def test_coalescing(reach, aligned, known, expected):
    steps = table(step("pages", 2, 1536, 40), step("contiguous", 2, reach, 40))
    assert answers(steps, aligned, known)[COALESCED] == expected


def test_nothing_measured_nothing_claimed():
    assert set(answers(table()).values()) == {"unknown"}
