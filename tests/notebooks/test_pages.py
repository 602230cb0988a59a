"""Pages made from notebooks: one file, no network, honest when there is nothing to show."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from tessera.cli.dev.notebooks import notebooks
from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.report.explore import open_results
from tessera.report.explore.display import IN_PAGES
from tessera.report.notebooks import HOME, HOME_IN_SITE, Notebook, entry, write_page


def run(tree, out, *options):
    return CliRunner().invoke(notebooks, ["run", "--results", str(tree), "--out", str(out), *options])


@pytest.mark.slow
def test_page_is_one_file_without_network_or_machine_path(small_tree, tmp_path):
    done = run(small_tree, tmp_path, "--only", "01", "--workload", "gups", "--platform", "sandybridge-sim")
    assert done.exit_code == 0, done.output
    text = (tmp_path / "01-fit-the-models.html").read_text()
    assert not re.search(r'(?:src|href)="(?:https?:)?//', text) and "url(http" not in text
    assert str(small_tree) not in text and str(repo_root()) not in text
    assert "mosmodel" in text and "<svg" in text
    assert IN_PAGES.split("{")[0] in text
    assert HOME in text and HOME_IN_SITE != HOME
    assert 'href="05-layouts-and-hot-regions.html"' in text


def test_a_pair_without_samples_gives_a_page_that_says_so(small_tree, tmp_path):
    done = run(small_tree, tmp_path, "--only", "01", "--workload", "absent")
    assert done.exit_code == 0
    text = (tmp_path / "01-fit-the-models.html").read_text()
    assert "Not executed" in text and "gups" in text and "./run reproduce" in done.output


@pytest.mark.slow
def test_a_failing_cell_names_notebook_and_error(small_tree, tmp_path):
    import nbformat

    cells = [nbformat.v4.new_markdown_cell("# Broken"), nbformat.v4.new_code_cell("int('x')")]
    path = tmp_path / "09-broken.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    with pytest.raises(TesseraError, match="notebook 09-broken.*ValueError"):
        write_page(Notebook("09-broken", "Broken", path), small_tree, tmp_path / "x.html")


def test_unknown_notebook_lists_the_names():
    with pytest.raises(TesseraError, match="04-add-a-model"):
        entry("99")


def test_a_named_folder_is_never_replaced_by_another(tmp_path):
    with pytest.raises(TesseraError, match="./run smoke"):
        open_results(tmp_path)


def test_without_a_folder_default_comes_first_then_smoke_then_the_archive(small_tree, tmp_path, monkeypatch):
    import shutil

    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path / "checkout"))
    found = []
    for name in ("notebooks/data", "results/smoke", "results/default"):
        shutil.copytree(small_tree, tmp_path / "checkout" / name)
        found.append(open_results().where)
    assert found == ["notebooks/data", "results/smoke", "results/default"]
