"""The archive's rehearsal follows the archived cells when the archive is made again."""

from __future__ import annotations

import json
import shutil

import pytest
from click.testing import CliRunner

from tessera.cli.dev.notebooks import notebooks
from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.results.table_io import read_cells, write_cells
from tessera.core.results.tree import ResultsTree
from tessera.measure.bundles import store
from tessera.measure.bundles.reader import read_bundle
from tessera.measure.bundles.verify import verify_bundle
from tessera.report import notebook_archive
from tests.bundles.processor import Plan, made, put

ARCHIVE = repo_root() / "notebooks" / "data"
PAIR = ("graph500-4gb", "broadwell-sim")


@pytest.fixture
def run(tmp_path):
    """The archive as a run, without studies; graph500 needs half as many cycles again on Broadwell."""
    tree = ResultsTree(tmp_path / "results")
    shutil.copytree(ARCHIVE, tree.root, ignore=shutil.ignore_patterns("machines", "studies"))
    cells = read_cells(tree.cells)
    mine = (cells["workload"] == PAIR[0]) & (cells["platform"] == PAIR[1])
    cells.loc[mine, ["runtime_cycles", "walk_cycles"]] += cells[["runtime_cycles", "walk_cycles"]] // 2
    write_cells(cells, tree.cells)
    for part, content in (("config", {"seed": 1, "sampling": "full"}), ("git", {"commit": "f" * 40})):
        tree.provenance(part).parent.mkdir(exist_ok=True)
        tree.provenance(part).write_text(json.dumps(content))
    return tree


def archived(run, out, monkeypatch):
    """The command; profiles and designs would need the run's traces."""
    monkeypatch.setattr(notebook_archive, "_simulate_archived", lambda *words: None)
    done = CliRunner().invoke(notebooks, ["archive", "--results", str(run.root), "--out", str(out)])
    assert done.exit_code == 0, done.exception
    return ResultsTree(out).machines.bundles()


def test_the_rehearsal_counts_the_new_cells(run, tmp_path, monkeypatch):
    out = tmp_path / "data"
    shutil.copytree(ARCHIVE / "machines", out / "machines")
    (before,) = ResultsTree(out).machines.bundles()
    (folder,) = archived(run, out, monkeypatch)
    done = verify_bundle(folder)
    assert done.passed and [bar.split(":")[0] for bar in done.bars] == ["rehearsal"]
    assert folder.name == store.bundle_id(done.bundle) != before.name
    old = read_bundle(ARCHIVE / "machines" / "bundles" / before.name)
    assert (done.bundle.machine, done.bundle.layouts, done.bundle.about) == (
        old.machine, old.layouts, old.about,
    )  # fmt: skip
    counted = read_cells(folder / "cells.csv").set_index("layout")
    engine = read_cells(ResultsTree(out).cells).set_index(["workload", "platform"]).sort_index().loc[PAIR]
    engine = engine.set_index("layout")
    assert len(counted) == len(engine) == 55
    for column in ("stlb_hits", "stlb_misses", "instructions"):
        assert (counted[column] == engine[column][counted.index]).all(), column
    for column in ("runtime_cycles", "walk_cycles"):  # five runs with noise of 0.1%
        error = abs(counted[column] / engine[column][counted.index] - 1)
        assert 0 < error[engine[column] > 1e6].max() < 0.005, column
    assert (
        counted["runtime_cycles"]["growing-0"] > 1.4 * read_cells(before_cells(old))["runtime_cycles"].max()
    )
    (again,) = archived(run, out, monkeypatch)
    assert again.name == folder.name


def before_cells(bundle):
    """The cells file of the committed archive's bundle."""
    return ResultsTree(ARCHIVE).machines.bundle(store.bundle_id(bundle)) / "cells.csv"


def test_a_new_folder_gets_the_rehearsal_of_the_checkout(run, tmp_path, monkeypatch):
    (folder,) = archived(run, tmp_path / "new", monkeypatch)
    assert verify_bundle(folder).passed and len(ResultsTree(ARCHIVE).machines.bundles()) == 1


def test_a_bundle_of_a_real_machine_stays(run, tmp_path, monkeypatch):
    files = made(Plan(layouts=("growing-0", "growing-8"))).files
    real = ResultsTree(tmp_path / "data").machines.bundle("broadwell-01234567-00000000")
    put(files, real)
    assert archived(run, tmp_path / "data", monkeypatch) == [real]
    assert {p.name: p.read_bytes() for p in real.iterdir() if p.is_file()} == {
        name: data for name, data in files.items() if "/" not in name
    }


def test_a_layout_without_a_cell_is_named(run):
    (folder,) = ResultsTree(ARCHIVE).machines.bundles()
    cells = read_cells(run.cells)
    with pytest.raises(TesseraError) as error:
        notebook_archive.recounted_rehearsal(read_bundle(folder), cells[cells["layout"] != "random-3"])
    assert error.value.code == "rehearsal" and "random-3" in error.value.found
    with pytest.raises(TesseraError, match="broadwell-sim"):
        notebook_archive.recounted_rehearsal(read_bundle(folder), cells[cells["platform"] != "broadwell-sim"])
