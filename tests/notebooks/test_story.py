"""Notebooks 00 to 03: what a reader should see is said before it is shown, with the same numbers."""

from __future__ import annotations

import re

import nbformat
import pytest

from tessera.report.notebooks import all_notebooks
from tests.notebooks.test_committed import output_texts

STORY = [entry for entry in all_notebooks() if entry.name[:2] in ("00", "01", "02", "03")]
ids = pytest.mark.parametrize("entry", STORY, ids=lambda entry: entry.name)
EXPECT = re.compile(r"^\*\*Expect\*\*", re.MULTILINE)
EXERCISE, ANSWER = "## Exercise", "## Answer"
#: Numbers on their own: not 4KB, 2MB, gups-8gb, 0x1000 or C^2; code in backticks is taken out before.
NUMBER = re.compile(r"(?<![\w.^-])[+-]?\d+(?:,\d{3})*(?:\.\d+)?%?(?![\w%]|\.\d)")


def cells(entry):
    return nbformat.read(entry.path, as_version=4).cells


def numbers(text: str) -> list[str]:
    return NUMBER.findall(re.sub(r"`[^`]*`|page of \w+|notebooks? \d+", "", text, flags=re.IGNORECASE))


def shown(some) -> str:
    """Outputs of cells, without the markup and with the separators that text has."""
    text = "\n".join(output_texts(nbformat.v4.new_notebook(cells=some)))
    return re.sub(r"<[^>]*>", " ", text)


def expectations(entry):
    """(paragraphs that begin with Expect, the code cells after them up to the next text)."""
    known = cells(entry)
    for place, cell in enumerate(known):
        if cell.cell_type == "markdown" and (begin := EXPECT.search(cell.source)):
            after = known[place + 1 :]
            stop = next((i for i, one in enumerate(after) if one.cell_type == "markdown"), len(after))
            yield cell.source[begin.start() :], after[:stop]


@ids
def test_expectations_come_before_what_they_are_about(entry):
    found = list(expectations(entry))
    assert len(found) >= 4
    for text, code in found:
        assert code and code[0].outputs, text
        missing = [
            n for n in numbers(text) if not re.search(rf"(?<![\w.]){re.escape(n)}(?![\w.]*\d)", shown(code))
        ]
        assert missing == [], text


@ids
def test_an_exercise_has_its_answer_at_the_end(entry):
    known = cells(entry)
    place = next(i for i, cell in enumerate(known) if EXERCISE in cell.source)
    text = known[place].source
    assert text.index(EXERCISE) < text.index(ANSWER) == len(text) - len(ANSWER)
    *code, last = known[place + 1 :]
    assert code and all(cell.cell_type == "code" and cell.outputs for cell in code)
    assert last.cell_type == "markdown"
    missing = [n for n in numbers(last.source) if n not in shown(known)]
    assert missing == []


@ids
def test_a_reader_can_change_constants(entry):
    """Names in capitals that a cell sets before it computes."""
    code = [cell.source for cell in cells(entry) if cell.cell_type == "code"]
    assert sum(bool(re.match(r"(?:[A-Z_]+(?:, )?)+ = ", text)) for text in code) >= 3


def test_numbers_are_found_and_names_are_not():
    text = "**Expect** -0.2%, 1,048,576 pages of 4KB, C^2, gups-8gb, 0x1000, `x = 7` and 3.2."
    assert numbers(text) == ["-0.2%", "1,048,576", "3.2"]
    assert numbers("Notebook 02 shows 23% for a page of 2MB.") == ["23%"]
