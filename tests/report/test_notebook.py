"""The notebook: stripped in git, executed by the command, and honest when there is nothing to show."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from tessera.paths import repo_root
from tessera.report.cli import report

NOTEBOOKS = sorted((repo_root() / "notebooks").glob("*.ipynb"))


def _run(tree, workload, out):
    options = ["--workload", workload, "--platform", "sandybridge-sim", "--out", str(out)]
    return CliRunner().invoke(report, ["notebook", "--results", str(tree), *options])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_in_git_hold_no_output(path):
    for cell in json.loads(path.read_text())["cells"]:
        assert cell.get("outputs", []) == [] and cell.get("execution_count") is None


def test_notebook_declares_its_parameters():
    cells = json.loads(NOTEBOOKS[0].read_text())["cells"]
    marked = ["".join(c["source"]) for c in cells if "parameters" in c["metadata"].get("tags", [])]
    assert len(marked) == 1
    assert set(re.findall(r"^(\w+) =", marked[0], re.M)) == {"results_dir", "workload", "platform"}


@pytest.mark.slow
def test_executed_notebook_is_one_file_without_network_or_machine_path(small_tree, tmp_path):
    out = tmp_path / "notebook.html"
    done = _run(small_tree, "gups", out)
    assert done.exit_code == 0, done.output
    text = out.read_text()
    assert not re.search(r'(?:src|href)="(?:https?:)?//', text) and "url(http" not in text
    assert str(small_tree) not in text and str(repo_root()) not in text
    assert "Mosmodel" in text and "<svg" in text


def test_a_pair_without_samples_gives_a_page_that_says_so(small_tree, tmp_path):
    done = _run(small_tree, "absent", tmp_path / "n.html")
    assert done.exit_code == 0
    assert "Not executed" in (tmp_path / "n.html").read_text() and "./run reproduce" in done.output
