"""The studies' pages and figures: what they say is what the tables hold; without data they say so."""

from __future__ import annotations

import re

import pytest

from tessera.core.files import repo_root
from tessera.core.results import study_tables
from tessera.core.results.outcomes import ok_rows
from tessera.core.results.table_io import frame_of, read_tree_table, write_table
from tessera.core.results.tree import ResultsTree
from tessera.lab.studies import ablations, sentences, sweep
from tessera.report import site
from tessera.report.figures.designs import draw_nested_misses
from tessera.report.figures.render import write_figures

FIGURES = ["sampling", "sampling-phases", "ablations", "sweep", "designs", "designs-nested"]
PAGES = ("sampling.html", "ablations.html", "assumptions.html", "designs.html")

#: sentences of a page: on the page of designs one for each synthetic mapping
FINDINGS = 3


def text(path) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", path.read_text()))


def test_each_page_has_sentences_a_figure_a_table_and_its_provenance(rendered):
    for name in PAGES:
        html = (rendered / name).read_text()
        found = html[html.index('class="findings"') :]
        assert found.count("<li>", 0, found.index("</ol>")) == FINDINGS, name
        assert "figures/" in html and "<table" in html and 'class="prov simulated"' in html, name


def test_sampling_says_what_blind_samples_miss(full_tree, rendered):
    # Phase 2 is two thirds of 60 intervals and slower with 4KB pages only; the first six are phase 1.
    errors = ok_rows(read_tree_table(study_tables.SAMPLING, ResultsTree(full_tree)))
    blind = errors[(errors["method"] == "blind-first") & (errors["quantity"] == "R")].set_index("layout")
    assert blind.loc["growing-8", "difference_error"].tolist() == pytest.approx([1.0, 1.0])
    shown = text(rendered / "sampling.html")
    assert "blind, first 100%" in shown and "systematic 0.00%" in shown
    assert "95%" in sentences.sampling_sentences(errors)[2]


def test_ablations_judge_the_papers_explanations(full_tree, rendered):
    found = ablations.judged_hypotheses(ok_rows(read_tree_table(study_tables.SHAPES, ResultsTree(full_tree))))
    assert [(h["supported"], h["cases"]) for h in found] == [(2, 2), (0, 2), (2, 2), (0, 2), (2, 2)]
    shown = text(rendered / "ablations.html")
    assert "2 of 2 cases" in shown
    # 1.5 + 5e-10 x 1e9 with them, 0.7 without
    assert "exceeds 1 in 2 of 2 pairs; without them, in 0" in shown and "2.000 0.700 +1.300" in shown


def test_the_sweep_names_what_overturns(full_tree, rendered):
    table = read_tree_table(study_tables.SWEEP, ResultsTree(full_tree))
    found = sweep.survival(table).set_index("conclusion")
    assert found.loc["slope-above-1", ["survives", "points", "overturned_by"]].tolist() == [
        1, 2, "memory.load_cycles x2",
    ]  # fmt: skip
    shown = text(rendered / "assumptions.html")
    assert "1 of 2 conclusions" in shown and "configurations: 1." in shown and "too low" in shown


def test_designs_have_their_changes_their_distances_and_the_reason_of_a_rejected_cell(rendered):
    shown = text(rendered / "designs.html")
    assert "Mapping low: anchor leaves the fewest misses, 80.0% of the baseline's" in shown.replace(
        "&#39;", "'"
    )
    # anchor under max: M 1 of 1000 and of 100, R 9050 of 59000 and of 14000
    assert "9,050 -99.9% -84.7% -99.0% -35.4%" in shown
    assert "the mapping has 9999 chunks" in shown and "hvc-many-segment under low: refused" in shown
    # Table 3.6 of Park prints 4 for all 14 programs under low; 65536 for gups under max
    assert "gups low 600 10.0 0% 4 8 gups 4 4 (14)" in shown.replace("0.00%", "0%")
    assert "gups max 1 6,000.0" in shown and "65536 131072 gups 65536" in shown
    assert "2.5 accesses per touched page" in shown


def test_guests_over_hosts_have_a_figure_and_probes_a_table(rendered, full_tree):
    shown = text(rendered / "designs.html")
    assert "Mapping max-over-low: anchor leaves the fewest misses, 81.0%" in shown
    assert "designs-nested" in (rendered / "designs.html").read_text()
    # Park prints 75.5% for 2,048 segments
    assert "index-cache 2048 segments, full node_hits 9,000 99.990% 75.5%" in shown
    assert "postgres tlb_access_reduction 9,000 84.200% 83.7%" in shown and "PROBE-7" in shown
    rows = draw_nested_misses(full_tree, repo_root() / "reference-results")[1]
    found = rows[rows["workload"] == "gups"].set_index(["panel", "design"])["relative"].to_dict()
    assert found == pytest.approx(
        {
            ("max, for max-over-low", "thp"): 0.1, ("max, for max-over-low", "anchor"): 0.001,
            ("max-over-low", "thp"): 1, ("max-over-low", "anchor"): 0.81,
        }
    )  # fmt: skip


def test_a_tree_without_studies_says_so(small_tree, five_claims, tmp_path):
    site.render_report(small_tree, tmp_path / "report", only=["fig2"], with_pdf=False)
    for name in PAGES:
        shown = text(tmp_path / "report" / name)
        assert "./run reproduce" in shown and "class=findings" not in shown
    drawn = write_figures(small_tree, repo_root() / "reference-results", tmp_path / "figures", FIGURES)
    assert [one.ok for one in drawn] == [False] * len(FIGURES) and all(one.reason for one in drawn)


def test_a_failed_study_is_shown_with_its_reason(small_tree, five_claims, tmp_path):
    from tessera.lab.studies.variations import BASELINE

    tree, pair = ResultsTree(small_tree), {"workload": "pr", "platform": "haswell-sim"}
    for table, head, reason in (
        (study_tables.SAMPLING, {}, "recording failed"),
        (study_tables.SHAPES, {"variant": BASELINE}, "no layouts"),
        (study_tables.SWEEP, {"key": BASELINE}, "the baseline was refused"),
        (study_tables.DESIGN_CELLS, {"provenance": "simulated"}, "the window is damaged"),
    ):
        place = table.place(tree, *list(pair.values())[: table.pattern.count("*")])
        row = pair | head | {"status": "failed", "message": reason}
        write_table(table, frame_of(table, [row]), place)
    site.render_report(small_tree, tmp_path / "report", only=["fig2"], with_pdf=False)
    reasons = ("recording failed", "no layouts", "the baseline was refused", "the window is damaged")
    for name, reason in zip(PAGES, reasons, strict=True):
        assert reason in text(tmp_path / "report" / name)
