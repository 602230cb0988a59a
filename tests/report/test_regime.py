"""The regime page: ratios from counts, printed numbers beside them, errors with and without gups."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pandas as pd
import pytest

from tessera.core import platforms
from tessera.core.files import repo_root
from tessera.record import workloads
from tessera.report import site
from tessera.report.figures import workload_regimes
from tessera.report.pages.studies import regime_sentences
from tessera.report.results import Results
from tests.synthetic import make_tree
from tests.synthetic.tables import put_info

REFERENCE = repo_root() / "reference-results"


def row_of(tree: Path, workload: str) -> dict:
    rows = workload_regimes.regime_rows(Results(tree), REFERENCE)
    (row,) = rows[rows["workload"] == workload].to_dict("records")
    return row


def test_ratios_are_those_of_the_all_4kb_cell(small_tree):
    cells = Results(small_tree).simulated.set_index("layout")
    small, large = cells.loc["growing-0"], cells.loc["growing-8"]
    row = row_of(small_tree, "gups")
    assert row["walk_cycles_per_miss"] == pytest.approx(small["walk_cycles"] / small["stlb_misses"])
    assert row["walk_share"] == pytest.approx(small["walk_cycles"] / small["runtime_cycles"])
    assert row["hits_per_miss"] == pytest.approx(small["stlb_hits"] / small["stlb_misses"])
    assert row["saved_2mb"] == pytest.approx(1 - large["runtime_cycles"] / small["runtime_cycles"])
    assert row["provenance"] == "simulated" and pd.isna(row["touched_bytes"])


def test_walker_loads_are_counted_where_they_are_served():
    """100 loads come to L1D, 70 of them go on to L2, 40 to L3, 10 to memory."""
    shares = workload_regimes._walker_level_shares({"l1d": 100.0, "l2": 70.0, "l3": 40.0, "dram": 10.0})
    assert shares == {
        "walker_l1d_share": 0.3, "walker_l2_share": 0.3, "walker_l3_share": 0.3, "walker_dram_share": 0.1,
    }  # fmt: skip
    assert (
        workload_regimes._walker_level_shares(dict.fromkeys(("l1d", "l2", "l3", "dram"), 0.0))[
            "walker_l2_share"
        ]
        is None
    )


def test_sizes_are_touched_ones(tmp_path):
    """1,000,000 pages of 4096 bytes; 8 bytes of leaf entry each."""
    name = "gups-8gb"
    tree = make_tree(tmp_path / "tree", (name,), ("haswell-sim",), host=False, broken=False)
    put_info(tree, name, distinct_4kb_pages=1_000_000)
    row = row_of(tree, name)
    haswell = platforms.load_platform("haswell-sim").values
    published = workloads.load_workload(name).size("paper").footprint
    assert row["touched_bytes"] == 4_096_000_000
    assert row["touched_share"] == pytest.approx(4_096_000_000 / published)
    assert row["as_published"] == "no"
    assert row["touched_per_reach"] == pytest.approx(1_000_000 / haswell["tlb.stlb.entries"].value)
    assert row["leaf_bytes_per_l2"] == pytest.approx(8_000_000 / haswell["cache.l2.bytes"].value)
    assert row["leaf_bytes_per_l3"] == pytest.approx(8_000_000 / haswell["cache.l3.bytes"].value)
    put_info(tree, name, distinct_4kb_pages=-(-published * 9 // 10 // 4096))
    assert row_of(tree, name)["as_published"] == "yes"


def test_a_row_states_its_part_of_the_region_and_of_the_published_footprint(tmp_path):
    name = "gapbs-sssp-twitter"
    tree = make_tree(tmp_path / "tree", (name,), ("haswell-sim",), host=False, broken=False)
    more = {"size": "published", "accesses": 100_000_000, "windows": 10}
    memory = {"allocated_bytes": 9_000_000_000, "touched_bytes": 4_096_000_000, "recorded_share": 0.025}
    put_info(tree, name, distinct_4kb_pages=1_000_000, memory=memory, **more)
    row = row_of(tree, name)
    assert (row["allocated_bytes"], row["touched_bytes"]) == (9_000_000_000, 4_096_000_000)
    assert (row["recorded_share"], row["windows"], row["published_share"]) == (0.025, 10, 0.5)
    site.render_report(tree, only=["regime"], with_pdf=False)
    page = (tree / "report" / "regime.html").read_text()
    assert "10 windows over the region" in page
    assert 'data-sort="0.025"' in page and 'data-sort="0.5"' in page


def test_printed_counters_stand_beside_them():
    """MICRO'20 Table 7: C = 76e9, M = 2e9, R = 1320e9 and 1155e9 with 2MB pages."""
    (row,) = [
        r for r in workload_regimes._printed_regimes(REFERENCE) if r["workload"].endswith("xalancbmk_s")
    ]
    assert row["walk_cycles_per_miss"] == pytest.approx(38)
    assert row["walk_share"] == pytest.approx(76 / 1320)
    assert row["saved_2mb"] == pytest.approx(0.125)
    assert row["provenance"] == "published"


def test_errors_with_and_without_gups(monkeypatch, small_tree):
    errors = pd.DataFrame(
        [("gups-8gb", 0.9), ("gups-16gb", 0.5), ("pr", 0.2), ("bfs", 0.1), ("bc", 0.3)],
        columns=["workload", "max_error"],
    ).assign(platform="haswell-sim", model="yaniv", protocol="all")
    results = Results(small_tree)
    monkeypatch.setattr(results, "models", lambda name: errors)
    (row,) = workload_regimes.errors_without_gups(results)
    assert (row["pairs"], row["median"], row["largest"], row["worst"]) == (
        5,
        0.3,
        0.9,
        "gups-8gb on haswell-sim",
    )
    assert (row["other_pairs"], row["other_median"], row["other_largest"]) == (3, 0.2, 0.3)
    assert row["other_worst"] == "bc on haswell-sim"


def test_sentences_count():
    ours = pd.DataFrame(
        {"workload": ["a", "a", "b"], "walk_cycles_per_miss": [10.0, 20.0, 60.0],
         "as_published": ["no", "no", "yes"], "leaf_bytes_per_l3": [0.5, 1.5, 2.0],
         "published_share": [0.33, 0.33, None]}
    )  # fmt: skip
    printed = pd.DataFrame({"source": ["Paper"], "workload": ["x"], "walk_cycles_per_miss": [38.0]})
    said = " ".join(regime_sentences(ours, printed))
    # Median, least, most; printed; workloads of published size, all, limit in percent; declared; (L)3, pairs.
    assert re.findall(r"\d+", said) == ["20", "10", "60", "38", "1", "2", "90", "33", "3", "2", "3"]


def test_the_page_and_its_table_are_written(small_tree):
    site.render_report(small_tree, only=["regime"], with_pdf=False)
    page = (small_tree / "report" / "regime.html").read_text()
    assert "xalancbmk_s" in page and 'id="errors"' in page
    written = pd.read_csv(small_tree / "report" / "data" / "regime.csv")
    assert set(written["source"]) == {workload_regimes.THIS_RUN, "MICRO'20 Table 7"}


def test_both_ends_of_a_walk_s_cost_are_on_the_pages(small_tree, five_claims, monkeypatch):
    import tessera.report.claims
    from tessera.lab import walk_cost

    name = "mosmodel-max"
    ends = walk_cost.Ends(name, "HOLDS-IN-SIMULATION", "FAILS-IN-SIMULATION", "1.12", "3.45")
    monkeypatch.setattr(walk_cost, "committed", lambda: (ends,))
    table = five_claims.assign(
        depends_on=(five_claims["id"] == name).map({True: "the walk's cost", False: ""})
    )
    monkeypatch.setattr(tessera.report.claims, "judged_claims", lambda *_: table.copy())
    site.render_report(small_tree, only=["regime"], with_pdf=False)
    page = (small_tree / "report" / "regime.html").read_text()
    section = page[page.index('id="walk-cost"') :]
    for source in walk_cost.sources():
        assert html.escape(source.source, quote=False).split("'")[0] in section
    assert f'href="claims.html#{name}"' in section and "3.45" in section
    claims = (small_tree / "report" / "claims.html").read_text()
    assert claims.count('href="regime.html#walk-cost"') == 1
