"""The page "What the kernel did to my program": scenarios beside layouts, a failure, figures, the oracle."""

from __future__ import annotations

import re
from html import unescape

import pandas as pd
import pytest

from tessera.core.files import repo_root
from tessera.report.pages.operating_system import ORACLE_PAGE, compared_decisions
from tests.synthetic.scenarios import DECIDED, FAILED, LAYOUTS, MISSES, PAGES

BOTH = {"gups", "graph500"}


@pytest.fixture
def text(rendered):
    return unescape(re.sub(r"<[^>]+>", " ", (rendered / "scenarios.html").read_text()))


def test_scenarios_and_layouts_are_in_one_table_and_the_failure_is_named(text):
    for name, misses in (MISSES | LAYOUTS).items():
        assert len(re.findall(rf"\b{name}\b", text)) >= 2
        assert f"{100_000 + 30 * misses:,}" in text
    assert f"under {FAILED}" in text and text.count("SCENARIO-7") == 2
    assert "nine tenths" not in text  # a description of a scenario that this run did not have


def test_counts_follow_from_the_pages(rendered):
    """1,024 faults of 4KB and no 2MB page, or two faults and 4 MB in 2MB pages; layouts have no faults."""
    text = (rendered / "scenarios.html").read_text()
    rows = [
        tuple(unescape(re.sub(r"<[^>]+>", "", cell)) for cell in re.findall(r"<td[^>]*>.*?</td>", line))
        for line in re.findall(r"<tr><td>gups.*?</tr>", text)
    ]
    cells = {row[3]: row for row in rows if len(row) == 16}
    assert cells["thp-never"][4:10] == (f"{PAGES:,}", "0", "7", "4", "0", "1")
    assert cells["thp-always"][4:10] == ("2", "0", "7", "4", "4", "1")
    assert cells["growing-0"][4:10] == ("",) * 6 and cells["growing-0"][11] == "900"
    assert len(cells) == len(DECIDED) + len(LAYOUTS)


def test_figures_have_every_number_in_their_tables(rendered):
    folder = rendered / "figures"
    sizes, faults, chunks = (pd.read_csv(folder / f"os-{name}.csv") for name in ("sizes", "faults", "chunks"))
    for drawn in (sizes, faults, chunks):
        assert set(drawn["provenance"]) == {"simulated"} and set(drawn["workload"]) == BOTH
        assert set(drawn["scenario"]) == set(DECIDED)
    last = sizes[sizes["part"] == 1].groupby(["workload", "scenario"])["mapped_mb"].sum()
    assert set(last) == {4.0}  # 1,024 pages of 4KB or two of 2MB
    by_kind = faults.set_index(["workload", "scenario", "kind"])["faults"]
    assert by_kind["gups", "half", "page 4KB"] == 512 and by_kind["gups", "half", "page 2MB"] == 1
    of_half = chunks[(chunks["workload"] == "gups") & (chunks["scenario"] == "half")]
    assert dict(zip(of_half["least_pages"], of_half["share"], strict=True)) == {1: 1.0, 512: 0.5}


def test_the_page_has_what_linux_decided(text):
    found = compared_decisions((repo_root() / ORACLE_PAGE).read_text())
    assert len(found) > 10 and all(0 <= one["equal"] <= one["number"] for one in found)
    for one in found:
        assert f"{one['number']:,}" in text
    rows = "| what | number | equal | first |\n|---|---|---|---|\n| a: b | 1,200 | 1,100 | below |\n"
    rows += "| c | d | 1 | 2 |\n"
    assert compared_decisions(rows) == [{"what": "a: b", "number": 1200, "equal": 1100}]


def test_without_the_study_the_page_says_so(small_tree, five_claims):
    from tessera.report import site

    site.render_report(small_tree, only=["os-sizes", "os-faults", "os-chunks"], with_pdf=False)
    assert "No study of scenarios" in (small_tree / "report" / "scenarios.html").read_text()
