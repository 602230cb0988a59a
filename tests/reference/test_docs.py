"""archived-data.md and artifact-appendix.md: their commands run, their facts are the code's."""

from __future__ import annotations

import re
import subprocess

import pytest

from tessera.core.reference import records
from tessera.core.reference.quarantine import RULES
from tessera.report.figures import registry
from tests.docs import pages

APPENDIX = "artifact-appendix.md"


@pytest.mark.parametrize("page", ["archived-data.md", APPENDIX])
def test_its_commands_run_without_a_network(page, tmp_path, zenodo):
    (tmp_path / "default").mkdir()
    lines = [line for line in pages.typed(page) if line.startswith("./run tessera dev reference ")]
    assert lines
    with zenodo(None):
        for line in lines:
            pages.invoke(line.replace("results/default", str(tmp_path / "default")))


def test_the_page_names_every_record_and_rule():
    text = pages.text("archived-data.md")
    for record in (records.load_record(name) for name in records.record_names()):
        assert f"| `{record.name}` | {record.doi} |" in text
    for rule in RULES:
        assert f"| `{rule.__name__}` |" in text


def test_the_appendix_has_the_sections_of_the_checklists():
    text = pages.text(APPENDIX)
    for section in (
        *("Abstract", "Checklist", "Description", "Installation", "Experiment workflow"),
        *("Evaluation and expected result", "Customization", "Notes", "Methodology"),
    ):
        assert re.search(rf"^## A\.\d {section}$", text, re.MULTILINE), section
    for word in ("How to access", "Hardware dependencies", "Software dependencies", "Data sets"):
        assert f"**{word}.**" in text
    for row in ("Disk space", "Time to prepare", "Time to complete", "Licences", "Archived"):
        assert f"| {row} |" in text


def test_the_appendix_names_the_packages_that_run_installs():
    script = pages.ROOT / "bootstrap" / "packages.sh"
    line = ["bash", "-c", f"verb=test; . '{script}'; packages_of docker"]
    names = subprocess.run(line, capture_output=True, text=True, check=True).stdout.split()
    assert {"python3-venv", "docker.io", "chromium"} <= set(names)
    assert [name for name in names if name not in pages.text(APPENDIX)] == []


def test_the_appendix_names_figures_with_their_pages():
    head = "| figure or table of the paper | NAME, or another command | page of the report |"
    known, seen = registry.all_figures(), 0
    for row, names, page in pages.table(APPENDIX, head):
        for name in set(re.findall(r"[\w-]+", names)) & set(known):
            assert known[name].page == page.strip("`"), f"{row}: {name}"
            seen += 1
    assert seen >= 20


WORDS = {
    "findings": "REPRODUCED DEVIATES HOLDS-IN-SIMULATION FAILS-IN-SIMULATION UNDECIDED NOT-MEASURABLE-HERE",
    "proof-reading of papers": "CONSISTENT CONTRADICTED NOT-MEASURABLE-HERE",
    "self-checks of Tessera": "PASS FAIL NOT-MEASURABLE-HERE",
}


def test_the_appendix_has_three_scores_whose_verdicts_are_all_their_claims():
    rows = re.findall(r"^\| ([a-zT -]+) \((\d+)\) \| ([A-Z-]+) \| (\d+)", pages.text(APPENDIX), re.MULTILINE)
    assert {name for name, *_ in rows} == set(WORDS)
    for score, words in WORDS.items():
        mine = [(int(total), word, int(count)) for name, total, word, count in rows if name == score]
        assert {word for _, word, _ in mine} <= set(words.split())
        assert {total for total, *_ in mine} == {sum(count for *_, count in mine)}


def test_the_pages_of_claims_and_contracts_name_the_same_words():
    for page in ("claims.md", "contracts.md"):
        text = pages.text(page)
        assert all(word in text for words in WORDS.values() for word in words.split()), page
