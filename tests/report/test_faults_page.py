"""The page of page faults: numbers of the synthetic study, printed numbers beside, failures by name."""

from __future__ import annotations

import re
from html import unescape

import pandas as pd
import pytest

from tests.synthetic.faults import COMB, FAILED, HERTZ, LARGE, RUNTIME, SMALL


@pytest.fixture
def text(rendered):
    return unescape(re.sub(r"<[^>]+>", " ", (rendered / "faults.html").read_text()))


def test_each_scenario_has_its_parts_and_the_failure_is_named(rendered, text):
    lines = re.findall(r"<tr><td>gups.*?</tr>", (rendered / "faults.html").read_text())
    cells = [
        [unescape(re.sub(r"<[^>]+>", "", c)) for c in re.findall(r"<td.*?</td>", line)] for line in lines
    ]
    rows = {row[2]: row for row in cells if len(row) == 15}
    assert rows["thp-never"][3:5] == ["1,024", "0"] and rows["thp-no-zero-page"][3:5] == ["12", "2"]
    assert rows["thp-never"][9] == f"{SMALL:,}" and rows["thp-never"][10] == f"{SMALL + 100:,}"
    assert rows["thp-no-zero-page"][9] == f"{(10 * SMALL + 2 * LARGE) / 12:,.0f}"
    assert f"under {FAILED}" in text and text.count("NO-TEMPLATE-7") == 2


def test_printed_numbers_have_verdicts(text):
    assert "HOLDS-IN-SIMULATION" in text and "NOT-MEASURABLE-HERE" in text
    assert "0.32" in text and "4.62" in text  # Figure 1, and 180 over 39 cycles


def test_the_figure_has_every_number_in_its_table(rendered):
    shares = pd.read_csv(rendered / "figures" / "fault-shares.csv")
    ours = shares[shares["source"] == "Tessera"].set_index(["workload", "scenario", "part"])["share"]
    assert ours["gups", "thp-never", "page faults"] == 1024 * SMALL / RUNTIME
    printed = shares[shares["source"] == "Virtuoso"]
    assert set(printed["provenance"]) == {"published"} and set(printed["share"]) == {0.32, 0.01}


def test_latencies_stand_in_cycles_and_us(rendered):
    lines = re.findall(r"<tr><td>gups.*?</tr>", (rendered / "faults.html").read_text())
    cells = [
        [unescape(re.sub(r"<[^>]+>", "", c)) for c in re.findall(r"<td.*?</td>", line)] for line in lines
    ]
    rows = {(row[2], row[3]): row for row in cells if len(row) == 16}
    small = rows["thp-no-zero-page", "write-4kb"]
    assert small[4:10] == ["10", *[f"{SMALL:,}"] * 5] and small[10:15] == [f"{1e6 * SMALL / HERTZ:.2f}"] * 5
    together = rows["thp-no-zero-page", "all"]  # two of twelve faults have 2MB: p90 is theirs
    assert together[5:10] == [f"{SMALL:,}"] * 2 + [f"{LARGE:,}"] * 3
    (cost,) = (row for row in cells if len(row) == 13)
    assert cost[3:11] == ["8.25", "20.50", "2.48x", "1.92x", "1.31x", "5.03x", "0.49x", "1.21x"]
    assert cost[12] == "measured"
    (comb,) = (row for row in cells if len(row) == 11 and row[2] == "thp-never")
    assert comb[4] == COMB["reason"] and comb[9] == f"{COMB['extra_cycles']:,}"


def test_the_figure_of_latencies_has_both_scenarios(rendered):
    times = pd.read_csv(rendered / "figures" / "fault-times.csv")
    assert set(times["scenario"]) == {"thp-never", "thp-no-zero-page"}
    below = times[(times["panel"] == "time") & (times["scenario"] == "thp-no-zero-page")]
    share = 2 * LARGE / (2 * LARGE + 10 * SMALL)
    assert below["part"].max() == pytest.approx(share) and below["part"].min() == 0


def test_without_the_study_the_page_says_so(small_tree, five_claims):
    from tessera.report import site

    site.render_report(small_tree, only=["fault-shares", "fault-times"], with_pdf=False)
    assert "No program with the work of its page faults" in (small_tree / "report/faults.html").read_text()
