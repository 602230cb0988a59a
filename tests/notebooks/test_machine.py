"""Notebook 07: the archived bundle is a rehearsal that says so, and a bundle by name is read instead."""

from __future__ import annotations

import pytest

from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.results.table_io import read_cells
from tessera.core.results.tree import ResultsTree
from tessera.fit.models.samples import read_samples
from tessera.measure.bundles.verify import verify_bundle
from tessera.report.explore import my_machine, sizes, touched
from tessera.report.explore.machine import REHEARSAL, decided
from tessera.report.notebooks import entry
from tests.bundles.processor import Plan, made, put

ARCHIVE = repo_root() / "notebooks" / "data"


def test_the_archived_bundle_passes_every_check_and_decides_nothing():
    (folder,) = ResultsTree(ARCHIVE).machines.bundles()
    done = verify_bundle(folder)
    assert done.passed and done.bundle.about.rehearsal
    assert [bar.split(":")[0] for bar in done.bars] == ["rehearsal"]
    machine = my_machine(results_dir=ARCHIVE)
    assert str(machine).startswith(f"{REHEARSAL}\nData: notebooks/data/") and "simulated" in str(machine)
    assert "decides no claim: rehearsal" in decided(machine)
    title = entry("07").title
    assert "rehearsal" in title and "simulated" in title


def test_its_cells_are_those_of_the_engine_with_noise():
    """The fake launcher's noise is 0.1% in a run: five runs differ from the engine by less than 0.5%."""
    (folder,) = ResultsTree(ARCHIVE).machines.bundles()
    counted = read_cells(folder / "cells.csv").set_index("layout")
    engine = read_cells(ARCHIVE / "cells.csv")
    engine = engine[(engine["workload"] == "graph500-4gb") & (engine["platform"] == "broadwell-sim")]
    engine = engine.set_index("layout")
    assert sorted(counted.index) == sorted(engine.index) and len(engine) == 55
    for column in ("runtime_cycles", "walk_cycles"):
        error = abs(counted[column] / engine[column].round() - 1)
        assert 0 < error[engine[column] > 1e6].max() < 0.005, column
    assert set(counted["runtime_provenance"]) == {"simulated"}


def test_a_named_bundle_is_read_and_a_part_of_a_finding_is_counted(tmp_path):
    """One of three gups on Broadwell; C / R with 4KB pages is 26.0 / 25.3 (tests/bundles/test_judge.py)."""
    put(made(Plan(workloads=("gups-8gb",))).files, tmp_path / "b")
    machine = my_machine(tmp_path / "b")
    assert REHEARSAL not in str(machine) and "measured" in str(machine)
    assert sizes(machine).loc["gups-8gb", "C / R"] == "103%"
    assert touched(machine).loc["micro20-broadwell-walks-exceed-runtime", "pairs"] == "1 of 3"
    assert "bundle judge" in decided(machine)
    with pytest.raises(TesseraError, match="gups-8gb"):
        machine.pair("gups-16gb")


def test_models_can_be_fitted_to_the_archived_bundle():
    machine = my_machine(results_dir=ARCHIVE)
    (folder,) = ResultsTree(ARCHIVE).machines.bundles()
    assert len(machine.pair().table.fitted) == len(read_samples(folder / "cells.csv").fitted) == 54
