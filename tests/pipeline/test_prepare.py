"""Steps around prepared files: failures are outcomes, files are removed unless kept, few exist at once."""

import json
from types import SimpleNamespace

import pytest

from tessera.cli.pipeline import needs
from tessera.cli.pipeline import prepare as steps
from tessera.core.errors import TesseraError
from tessera.core.units import GB
from tessera.lab.study import Run


@pytest.fixture
def row(monkeypatch):
    """A workload whose one size loads a file, as the workload files state it."""
    size = SimpleNamespace(prepared="asked")
    monkeypatch.setattr(
        steps.workloads, "load_workload", lambda name: SimpleNamespace(size=lambda label: size)
    )
    return size


def test_an_outcome_has_the_note(row, monkeypatch, tmp_path):
    monkeypatch.setattr(steps.prepared, "ensure", lambda asked, path: {"bytes": 7, "seconds": 1.5})
    found = steps.prepare.function(Run(tmp_path / "outcome.json"), "w", "published", str(tmp_path / "graph"))
    assert found == {"file": "graph", "status": "ok", "message": "", "bytes": 7, "seconds": 1.5}
    assert json.loads((tmp_path / "outcome.json").read_text()) == found


def test_a_file_that_cannot_be_built_is_an_outcome(row, monkeypatch, tmp_path):
    def refuse(asked, path):
        raise TesseraError("disk for graph", "1GB are free", "free some")

    monkeypatch.setattr(steps.prepared, "ensure", refuse)
    found = steps.prepare.function(Run(tmp_path / "outcome.json"), "w", "published", str(tmp_path / "graph"))
    assert found["status"] == "failed" and found["message"] == "disk for graph: 1GB are free; free some"


def test_files_are_removed_or_kept(monkeypatch, tmp_path):
    path, out, said = tmp_path / "graph", tmp_path / "dropped.json", []
    path.write_bytes(b"x" * 2048)
    monkeypatch.setenv(steps.KEEP, "1")
    steps.drop.function(Run(out, said.append), str(path))
    assert "kept" in said.pop() and path.exists()
    monkeypatch.delenv(steps.KEEP)
    steps.drop.function(Run(out, said.append), str(path))
    assert "2KB free again" in said.pop() and not path.exists()
    assert json.loads(out.read_text()) == {"file": "graph", "kept": False, "freed_bytes": 2048}


def test_a_file_waits_for_those_that_would_not_fit_beside_it():
    files = {"a": 2 * GB, "b": 4 * GB, "c": 9 * GB, "d": 12 * GB, "e": 20 * GB, "f": 1 * GB}
    waits = needs.wait_for(files, 16 * GB)
    assert waits == {"a": [], "b": [], "c": [], "d": ["a", "b", "c"], "e": ["a", "b", "c", "d"],
                     "f": ["a", "b", "c", "d", "e"]}  # fmt: skip
    for name in files:  # what may lie there with it fits, unless it alone does not
        held = [f for f in list(files)[: list(files).index(name) + 1] if f not in waits[name]]
        assert sum(files[f] for f in held) <= 16 * GB or held == [name]
