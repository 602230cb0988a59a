"""Page and figures of the study of transfer, on tables of a world whose truth is known."""

from __future__ import annotations

import html
import re

import pytest

from tessera.core.files import repo_root
from tessera.core.results import transfer_tables
from tessera.core.results.table_io import read_file, write_table
from tessera.core.results.tree import ResultsTree
from tessera.lab.transfer import verdicts
from tessera.report import site
from tessera.report.figures.render import write_figures
from tests.studies.transfer import world
from tests.synthetic import transfer


@pytest.fixture(scope="module")
def tables():
    return transfer.tables()


@pytest.fixture
def tree(small_tree, tables):
    transfer.write(small_tree, tables)
    return small_tree


def text(path) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", path.read_text())).split())


def test_advice_by_class(tables):
    found = {
        group: verdicts.advice(tables[transfer_tables.VERDICTS.name], group)
        for group in ("control", "reach", "invisible", "behind-l3")
    }
    assert [found[g].kind for g in found] == [
        verdicts.SUFFICE, verdicts.SUFFICE, verdicts.ENGINE_ONLY, verdicts.ENGINE_ONLY,
    ]  # fmt: skip
    assert found["reach"].models == ("poly1", "mosmodel") and found["reach"].inputs == "counted"


def test_a_remedy_is_named_if_only_it_helps(tables):
    changed = tables[transfer_tables.VERDICTS.name].copy()
    counted = (changed["group"] == "reach") & (changed["inputs"] == "counted")
    changed.loc[counted, "verdict"] = "fails"
    found = verdicts.advice(changed, "reach")
    assert (found.kind, found.inputs) == (verdicts.RESCUED, "latency")
    assert "`latency`" in " ".join(verdicts.which_number(changed))


def test_the_page_has_verdicts_twins_ladders_and_refusals(tree, five_claims, tmp_path):
    path = transfer_tables.VERDICTS.place(ResultsTree(tree))
    judged = read_file(transfer_tables.VERDICTS, path)
    site.render_report(tree, tmp_path / "report", only=["transfer"], with_pdf=False)
    shown = text(tmp_path / "report" / "transfer.html")
    assert "Too few points: 18 judged points of 1 workload; a sentence needs 30 of 2." in shown
    assert "These models survive" not in shown
    many = judged["judged"] > 0
    write_table(
        transfer_tables.VERDICTS,
        judged.assign(judged=judged["judged"].mask(many, 30), workloads=judged["workloads"].mask(many, 2)),
        path,
    )
    site.render_report(tree, tmp_path / "report", only=["transfer"], with_pdf=False)
    shown = text(tmp_path / "report" / "transfer.html")
    # g = 10%, so the bound is 0.1 / 2.1 = 4.8% and the transfer error 1 / 1.1 - 1 = -9.1%
    assert re.search(r"invisible walkers-x2 18 10% 10% \S+ -9.1% 4.8% simulated", shown)
    assert "These models survive: poly1, mosmodel." in shown and "Too few" not in shown
    assert "9999" in shown and "many-segment under high: refused" in shown
    H, M, C = world.counts("medium")
    gap = 0.5 * world.runtime(H, M, C)
    assert f"{gap:,.0f}" in shown


def test_the_page_begins_with_the_table_for_a_new_design(tree, five_claims, tmp_path):
    """`reach` is stlb-x2 under 18 layouts; `invisible` and `behind-l3` are refused, with the reason."""
    site.render_report(tree, tmp_path / "report", only=["transfer"], with_pdf=False)
    page = (tmp_path / "report" / "transfer.html").read_text()
    shown = text(tmp_path / "report" / "transfer.html")
    row = read_file(transfer_tables.NEW_DESIGNS, transfer_tables.NEW_DESIGNS.place(ResultsTree(tree)))
    row = row[(row["scope"] == "all") & (row["group"] == "reach")].iloc[0]
    counts = " ".join(str(row[name]) for name in ("workloads", "judged", "answered", "covered", "passing"))
    assert row["answered"] > 0 and f"reach: what TLBs hold {counts}" in shown
    assert "invisible class" in shown and "class invisible changes what H, M and C do not tell" in shown
    assert page.index("For a new design") < page.index("The models of P") < page.index("Verdicts")


def test_the_figures_show_their_tables(tree, tmp_path):
    drawn = write_figures(tree, repo_root() / "reference-results", tmp_path, ["transfer", "transfer-ladder"])
    assert all(one.ok for one in drawn), [one.reason for one in drawn]
    cells = (tmp_path / "transfer.csv").read_text()
    assert "haswell-sim,counted,invisible,mosmodel,fails,trivial" in cells
    ladder = (tmp_path / "transfer-ladder.csv").read_text().splitlines()
    ends = [line.split(",") for line in ladder if ",delayed-tlb,medium," in line]
    assert float(ends[-1][7]) == pytest.approx(0.5)  # R of the delayed TLB is 1.5 R of P


def test_without_the_study_the_page_says_so(small_tree, five_claims, tmp_path):
    site.render_report(small_tree, tmp_path / "report", only=["fig2"], with_pdf=False)
    shown = text(tmp_path / "report" / "transfer.html")
    assert "./run reproduce" in shown and "studies.transfer" in shown
