"""The page of placements: every row, the failed one, claims, and the figure."""

from __future__ import annotations

import re
from html import unescape

import pandas as pd
import pytest

from tessera.numa.placement import placements
from tessera.results.schema.numa import PLACEMENTS


@pytest.fixture
def text(rendered):
    return (rendered / "placements.html").read_text()


def test_every_placement_and_the_failure_are_there(text, rendered):
    words = unescape(re.sub(r"<[^>]+>", " ", text))
    rows = pd.read_csv(rendered.parent / PLACEMENTS.pattern)
    good = rows[rows["status"] == "ok"]
    assert len(good) == len(rows) - 1 and "PLACEMENT-7" in words
    for name in [*placements(), "RPI-LD+M"]:
        assert name in words
    for row in good.itertuples():
        assert f"{row.runtime_ratio:.3f}" in words and f"{row.walk_ratio:.3f}" in words
    assert "580" in words


def test_the_figure_is_drawn_with_every_number_in_its_table(text, rendered):
    assert "figures/numa-placements.svg" in text
    drawn = pd.read_csv(rendered / "figures" / "numa-placements.csv")
    rows = pd.read_csv(rendered.parent / PLACEMENTS.pattern)
    good = rows[rows["status"] == "ok"]
    ours = drawn[drawn["source"] == "Tessera"]
    for quantity, column in (("runtime", "runtime_ratio"), ("walk cycles", "walk_ratio")):
        assert sorted(ours.loc[ours["quantity"] == quantity, "ratio"]) == pytest.approx(sorted(good[column]))
    assert set(ours["provenance"]) == {"simulated"}


def test_programs_have_their_scale_and_every_bar(text, rendered):
    words = unescape(re.sub(r"<[^>]+>", " ", text))
    drawn = pd.read_csv(rendered / "figures" / "numa-programs.csv")
    ours = drawn[drawn["source"] == "Tessera"]
    # six bars of Figure 6 and one of Figure 10 for each page size; RP-RD of one program failed with 2MB pages
    assert len(ours) == 2 * 2 * 7 - 1 and "RECORDING-5" in words
    assert set(ours["platform"]) == {"haswell-4s-sim-by-16", "haswell-4s-sim-by-20"}
    for row in ours.itertuples():
        assert f"{row.ratio:.3f}" in words
    assert "figures/numa-programs.svg" in text and "mitosis-xsbench" in words
