"""Notebooks in git: readable without running, small, and what the archived data really give."""

from __future__ import annotations

import json
import re

import nbformat
import pytest

from tessera.report.notebook_archive import on_archive
from tessera.report.notebooks import all_notebooks

ENTRIES = all_notebooks()
NUMBERS = ["00", "01", "02", "03", "04", "05", "06", "07", "08", "09"]
MAX_BYTES = 300 * 1024
ids = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)


def cells(entry):
    return nbformat.read(entry.path, as_version=4).cells


def output_texts(notebook) -> list[str]:
    """All text outputs, in order: streams, plain text, HTML (tables)."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            found += [output["text"]] if "text" in output else []
            found += [data[kind] for kind in ("text/plain", "text/html", "text/markdown") if kind in data]
    return ["".join(text) for text in found]


def test_the_tasks_are_in_order():
    assert [entry.name[:2] for entry in ENTRIES] == NUMBERS


@ids
def test_outputs_are_there_and_small(entry):
    code = [cell for cell in cells(entry) if cell.cell_type == "code"]
    # the cell that prints the data must have said which
    said = "".join(output_texts(nbformat.read(entry.path, as_version=4)))
    assert "Data: notebooks/data" in said and "simulated" in said
    assert sum(bool(cell.outputs) for cell in code) >= 4
    assert entry.path.stat().st_size < MAX_BYTES


@ids
def test_no_error_no_warning_and_no_path_of_a_machine(entry):
    text = entry.path.read_text()
    outputs = [output for cell in cells(entry) for output in cell.get("outputs", [])]
    assert [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"] == []
    assert re.findall(r"/(?:home|root|tmp|work|usr)/[\w./-]*", text) == []
    assert "widget-view" not in text and " at 0x" not in text


@ids
def test_committed_copy_is_as_refresh_writes_it(entry):
    document = json.loads(entry.path.read_text())
    assert set(document["metadata"]) == {"kernelspec", "language_info"}
    for number, cell in enumerate(document["cells"], start=1):
        assert cell["id"] == f"cell-{number:02}"
        assert cell.get("execution_count") is None and set(cell["metadata"]) <= {"tags"}
    marked = [c for c in document["cells"] if "parameters" in c["metadata"].get("tags", [])]
    assert len(marked) == (entry.name[:2] != "00")  # 00 is about the archived data
    assert all(re.match(r'results_dir = ""', "".join(cell["source"])) for cell in marked)


@pytest.mark.slow
@ids
def test_committed_texts_are_those_of_a_run_on_the_archive(entry):
    assert output_texts(on_archive(entry)) == output_texts(nbformat.read(entry.path, as_version=4))
