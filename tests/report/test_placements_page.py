"""The page of placements: every row, the failed one, claims, and the figure."""

from __future__ import annotations

import re
from html import unescape

import pandas as pd
import pytest

from tessera.core.results.kernel_tables import PLACEMENTS
from tessera.lab.numa.mitosis_figures import mixed_gain
from tessera.lab.numa.placement_costs import placements


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


def table_after(text: str, heading: str) -> str:
    """Words of the first table behind a heading."""
    part = text[text.index(heading) :]
    return unescape(re.sub(r"<[^>]+>", " ", part[: part.index("</table>")]))


def test_maps_of_the_guest_have_their_differences(text):
    words = table_after(text, "Where the guest puts")
    assert re.search(r"RP-LD\s+table\s+1\s+17\s+17\s+14\s+3\s+0\s+0", words)
    assert re.search(r"TRP-LD\+M\s+table\s+1\s+17\s+17\s+17\s+0\s+0\s+0", words)


def test_fragmented_memory_has_shares_and_gains(text, rendered):
    words = table_after(text, "Fragmented memory (Figure 11)")
    assert re.search(r"0\.900\s+0\.910\s+512\s+63\s+1\s+256\s+64\s+0\.250\s+0\.970", words)
    assert "GUEST-3" in words
    rows = pd.read_csv(rendered.parent / PLACEMENTS.pattern)
    expected = mixed_gain(rows[rows["status"] == "ok"], 0.25, "runtime_cycles")
    shown = table_after(text, "TRPI-LD over TRPI-LD+M")
    assert re.search(rf"guest, free blocks\s+TRP-LD\s+0\.250\s+measured\s+\d\.\d\d\s+{expected:.2f}", shown)
