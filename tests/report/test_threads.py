"""A workload whose trace has one of several threads is marked wherever its name stands, with the reason."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pandas as pd
import pytest

from tessera.core.files import repo_root
from tessera.core.results.outcomes import NOTE_MARK, joined_notes
from tessera.core.results.table_io import read_cells, write_cells
from tessera.report import site, workload_table
from tessera.report.explore.source import open_results
from tessera.report.figures.render import write_figures
from tessera.report.results import Results
from tessera.report.trace_marks import footnote, mark_page, marked, noted
from tests.synthetic import make_tree
from tests.synthetic.claims import claims as synthetic_claims
from tests.synthetic.tables import put_info

NOTE = "one of 4 threads (thread 1, 31.25% of their blocks)"
NOTES = {"graph500": NOTE}
REFERENCE = repo_root() / "reference-results"
PLATFORMS = ("sandybridge-sim", "haswell-sim")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Cells of two workloads; those of graph500 are of one of four threads, some with a change."""
    root = tmp_path_factory.mktemp("threads") / "default"
    make_tree(root, ("gups", "graph500"), PLATFORMS, broken=False)
    cells = read_cells(root / "cells.csv")
    mine = cells["workload"] == "graph500"
    cells.loc[mine, "message"] = [joined_notes(NOTE, "set: a=1" if i % 2 else "") for i in range(mine.sum())]
    write_cells(cells, root / "cells.csv")
    thread = {"number": 1, "blocks": 5, "all_blocks": 16}
    about = {"message": "", "size": "tiny", "accesses": 10, "distinct_4kb_pages": 2}
    put_info(root, "graph500", threads=4, thread=thread, **about)
    return root


def test_the_notes_come_from_the_cells_and_from_the_recording(tree):
    results = Results(tree)
    assert results.trace_notes == NOTES
    table = workload_table.workloads_table(results, ["gups", "graph500"], list(PLATFORMS)).set_index(
        "workload"
    )
    assert set(table.loc["graph500", "trace_note"]) == {NOTE}
    assert not any(table.loc["gups", "trace_note"].fillna(""))


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("graph500", "graph500\u2020"),
        ("graph500 on haswell-sim, gups", "graph500\u2020 on haswell-sim, gups"),
        ("It is graph500.", "It is graph500\u2020."),
        ("graph500-4gb", "graph500-4gb"),
        ("mitosis-graph500", "mitosis-graph500"),
        ("graph500\u2020", "graph500\u2020"),
        ("graph5000 agraph500 graph500/tiny graph500.csv", "graph5000 agraph500 graph500/tiny graph500.csv"),
        ("", ""),
    ],
)
def test_a_name_is_marked_and_longer_names_are_not(text, after):
    assert marked(text, NOTES) == after
    assert marked(text, ()) == text


def test_a_page_is_marked_in_its_text_but_not_in_links_and_commands():
    page = (
        '<head><title>graph500</title></head><main><a href="graph500" id="graph500">graph500</a>'
        "<code>run graph500</code><pre>graph500</pre></main>"
    )
    found = mark_page(page, NOTES)
    assert found.count(f"graph500{NOTE_MARK}") == 1 and f'id="graph500">graph500{NOTE_MARK}</a>' in found
    assert footnote(NOTES) in found and found.index(NOTE) < found.index("</main>")
    assert mark_page("<main>gups</main>", NOTES) == "<main>gups</main>"


@pytest.mark.parametrize(
    ("rows", "workload", "there"),
    [
        ({"workload": ["graph500"], "provenance": ["simulated"]}, "", True),
        ({"workload": ["graph500"], "provenance": ["measured"]}, "", False),
        ({"workload": ["gups"], "provenance": ["simulated"]}, "", False),
        ({"workload": ["graph500", "graph500"], "provenance": ["measured", "simulated"]}, "", True),
        ({"x": [1]}, "graph500", True),
        ({"x": [1]}, "", False),
    ],
)
def test_a_figure_has_the_notes_of_what_it_draws_from_simulations(rows, workload, there):
    assert noted(pd.DataFrame(rows), workload, NOTES) == (NOTES if there else {})


def test_figures_have_the_mark_at_the_name_and_the_note_in_the_caption(tree, tmp_path):
    drawn = {one.stem: one for one in write_figures(tree, REFERENCE, tmp_path, ["sensitivity", "curves"])}
    for stem in ("sensitivity", "curves-graph500-haswell-sim"):
        assert drawn[stem].ok and footnote(NOTES) in drawn[stem].caption
        text = " ".join(ET.parse(tmp_path / f"{stem}.svg").getroot().itertext())
        assert f"graph500{NOTE_MARK}" in text and not re.search(rf"graph500(?!{NOTE_MARK}| has one)", text)
    other = drawn["curves-gups-haswell-sim"]
    assert NOTE_MARK not in other.caption and NOTE_MARK not in (tmp_path / f"{other.stem}.svg").read_text()


def test_pages_of_the_report_have_mark_and_note(tree, tmp_path, monkeypatch):
    claims = synthetic_claims()
    monkeypatch.setattr("tessera.report.claims.evaluate", lambda *_: claims)
    site.render_report(tree, tmp_path / "report", only=["sensitivity"], with_pdf=False)
    for name in ("workloads.html", "workload-graph500.html", "models.html"):
        text = (tmp_path / "report" / name).read_text()
        assert f"graph500{NOTE_MARK}" in text and footnote(NOTES) in text
    row = re.search(
        r"<tr><td><a[^>]*>graph500.*?</tr>", (tmp_path / "report" / "workloads.html").read_text(), re.S
    )
    assert f"the trace has {NOTE}" in row[0]
    assert f"the trace has {NOTE}" in (tmp_path / "report" / "workload-graph500.html").read_text()
    assert NOTE_MARK not in (tmp_path / "report" / "workload-gups.html").read_text()


def test_notebooks_say_it_when_they_open_results_and_pairs(tree):
    source = open_results(tree)
    assert footnote(NOTES) in str(source)
    pair = source.pair("graph500", "haswell-sim")
    assert NOTE in str(pair) and pair.title == f"graph500{NOTE_MARK} on haswell-sim"
    assert NOTE_MARK not in str(source.pair("gups", "haswell-sim"))
