"""Coverage of the papers: claims, printed numbers, pages, figures and commands of each row exist."""

from __future__ import annotations

import re

import click
import pandas as pd
import pytest
import yaml

from tessera.cli.main import cli
from tessera.core import reference
from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.lab.catalogue import STUDIES
from tessera.report import coverage
from tessera.report.claims import load_claims
from tessera.report.facts import ReportData
from tessera.report.figures import registry
from tessera.report.pages import PAGES
from tessera.report.pages import coverage as page
from tessera.report.results import Results

FILE = repo_root() / "config" / "coverage.yaml"


@pytest.fixture(scope="module")
def covered():
    return coverage.load_coverage()


def rows(covered):
    return [(paper, row) for paper in covered.papers for row in paper.rows]


def test_the_page_of_docs_is_the_generated_one(covered):
    """Remake it with python -m tessera.report.coverage."""
    assert (repo_root() / coverage.COVERAGE_PAGE).read_text() == coverage.coverage_page(covered)


def test_counts_are_those_of_the_papers(covered):
    """Figures and tables by the captions of the five texts; sections by the rule that `counted` states."""
    counts = {
        paper.name: tuple(paper.count(kind) for kind in ("Figure", "Table", "Section"))
        for paper in covered.papers
    }
    assert counts == {
        "micro20": (11, 8, 18), "opera-d5.10": (12, 7, 17), "mitosis-asplos20": (11, 6, 15),
        "park-kaist19": (31, 10, 13), "virtuoso-asplos25": (21, 5, 7),
    }  # fmt: skip


def test_every_claim_about_a_paper_has_a_row(covered):
    shown = {name for _, row in rows(covered) for name in row.claims}
    assert {claim.id for claim in load_claims() if claim.paper != "tessera"} <= shown


def test_a_claim_is_in_the_row_of_each_figure_and_table_that_it_names(covered):
    at = {(paper.name, row.item): row.claims for paper, row in rows(covered)}
    named = re.compile(r"(Figure|Table)s? (\d+(?:\.\d+)?)\w?(?: and (\d+(?:\.\d+)?))?")
    for claim in load_claims():
        for kind, first, second in named.findall(claim.section):
            for n in filter(None, (first, second)):
                if claim.paper != "tessera":
                    assert claim.id in at[claim.paper, f"{kind} {n}"]
    assert "micro20-max-error-yaniv" in at["micro20", "Figure 2"]
    assert "park-synonym-filter-savings" in at["park-kaist19", "Table 2.1"]
    assert "virtuoso-walk-latency" in at["virtuoso-asplos25", "Figure 3"]


def test_every_printed_number_has_a_row(covered):
    shown = {(paper.name, row.item): row.printed for paper, row in rows(covered)}
    assert {name for names in shown.values() for name in names} == set(reference.published_names())
    for paper, item, table in (
        ("micro20", "Table 8", "table8_rsquared"), ("micro20", "Section VI-B", "printed_values"),
        ("park-kaist19", "Figure 3.11", "park_values"), ("virtuoso-asplos25", "Figure 21", "virtuoso_values"),
    ):  # fmt: skip
        assert table in shown[paper, item]


def test_figures_and_pages_exist(covered):
    hrefs = {page.href for page in PAGES}
    for _, row in rows(covered):
        assert set(row.figures) <= set(registry.all_figures()), row.item
        assert set(row.pages) <= hrefs, row.item


def test_commands_exist(covered):
    for _, row in rows(covered):
        for line in row.commands:
            command, words = cli, line.split()
            while isinstance(command, click.Group) and words:
                command, words = command.get_command(click.Context(command), words[0]), words[1:]
                assert command is not None, line
            assert words == [] or (line.startswith("lab run ") and words[0] in STUDIES), line


def test_every_reason_is_used(covered):
    assert {row.reason for _, row in rows(covered)} - {""} == set(covered.reasons)


def test_rows_that_nothing_here_can_judge_count_for_themselves(covered):
    assert {"micro20-badgertrap", "virtuoso-accuracy-ipc"} <= covered.unavailable
    assert not {"micro20-max-error-yaniv", "virtuoso-walk-latency"} & covered.unavailable
    for paper in covered.papers:
        assert sum(covered.kinds_of_rows(paper)) == len(paper.rows)


@pytest.mark.parametrize(
    ("section", "items"),
    [
        ("VI-D, Figure 2a; abstract", ["Figure 2"]),
        ("3.4.1, Tables 3.4 and 3.6", ["Table 3.4", "Table 3.6"]),
        ("3.2, Figure 3.2; 3.5.2", ["Figure 3.2"]),
        ("3.5.2, Figure 3.8, Table 3.5", ["Figure 3.8", "Table 3.5"]),
        ("4.2, 8.1", ["Section 4.2", "Section 8.1"]),
        ("3.1, observation 2", ["Section 3.1"]),
        ("abstract", ["Section abstract"]),
        ("VI-C", ["Section VI-C"]),
        ("Figures 3.10-3.11 text", ["Figure 3.10", "Figure 3.11"]),
    ],
)
def test_items_of_a_claims_section(section, items):
    assert coverage.items_of(section) == items


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda paper: paper["items"].pop(2), "Figure 1"),
        (lambda paper: paper["items"].append(dict(paper["items"][2])), "twice"),
        (lambda paper: paper.update(sections=3), "sections"),
        (lambda paper: paper["items"][2].update(claims=["micro20-none"]), "micro20-none"),
        (lambda paper: paper["items"][2].update(reason="tired"), "tired"),
        (lambda paper: paper["items"][0].update(see="Figure 99"), "Figure 99"),
        (lambda paper: paper["items"][2].pop("reason"), "no claim and no reason"),
        (lambda paper: paper["items"][2].update(verdict="REPRODUCED"), "verdict"),
    ],
)
def test_refused(tmp_path, change, message):
    document = yaml.safe_load(FILE.read_text())
    change(document["papers"][0])
    (tmp_path / "coverage.yaml").write_text(yaml.safe_dump(document))
    with pytest.raises(TesseraError, match=message):
        coverage.load_coverage(tmp_path / "coverage.yaml")


def test_a_claim_about_an_item_without_a_row_is_refused(tmp_path):
    document = yaml.safe_load(FILE.read_text())
    paper = document["papers"][0]
    paper["items"] = [one for one in paper["items"] if one["item"] != "Section VII-D"]
    (tmp_path / "coverage.yaml").write_text(yaml.safe_dump(document | {"papers": [paper | {"sections": 17}]}))
    with pytest.raises(TesseraError, match="Section VII-D"):
        coverage.load_coverage(tmp_path / "coverage.yaml")


def test_printed_numbers_without_a_row_are_refused(tmp_path):
    document = yaml.safe_load(FILE.read_text())
    paper = document["papers"][0]
    paper["items"] = [one for one in paper["items"] if one["item"] != "Section II-A"]
    (tmp_path / "coverage.yaml").write_text(yaml.safe_dump(document | {"papers": [paper | {"sections": 17}]}))
    with pytest.raises(TesseraError, match="printed_values is about Section II-A"):
        coverage.load_coverage(tmp_path / "coverage.yaml")


def test_the_page_shows_verdicts_reasons_and_places(rendered):
    text = (rendered / "coverage.html").read_text()
    assert text.count('<tr id="') == 192 and "No table of coverage" not in text
    assert 'id="park-kaist19-figure-3.9" data-paper="park-kaist19" data-reason="program"' in text
    assert "not-modelled: Midgard" in text and "<code>tessera lab run probes</code>" in text
    assert '<a href="placements.html#numa-placements">numa-placements</a>' in text


def test_verdicts_are_those_of_the_claims_table(full_tree):
    claims = pd.DataFrame(
        [
            ("micro20-max-error-yaniv", "FAILS-IN-SIMULATION"),
            ("micro20-max-error-alam", "HOLDS-IN-SIMULATION"),
        ],
        columns=["id", "verdict"],
    )
    facts = ReportData(Results(full_tree), claims, "", [], {})
    shown = {row["anchor"]: row for row in page.coverage_page(facts)["rows"]}["micro20-figure-2"]
    assert shown["groups"] == [
        ("HOLDS-IN-SIMULATION", [("micro20-max-error-alam", "claims.html#micro20-max-error-alam")]),
        ("FAILS-IN-SIMULATION", [("micro20-max-error-yaniv", "claims.html#micro20-max-error-yaniv")]),
    ]
    assert "micro20-max-error-basu" in shown["open"] and shown["figures"][0] == ("fig2", "index.html#fig2")


def test_a_broken_file_leaves_the_rest_of_the_report(monkeypatch):
    def broken():
        raise TesseraError("coverage", "a claim is about Figure 99", "add this row")

    monkeypatch.setattr(coverage, "load_coverage", broken)
    assert "Figure 99" in page.coverage_page(None)["problem"]
