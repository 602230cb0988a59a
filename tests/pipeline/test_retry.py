"""What failed is tried again at the next start; what was measured is never thrown away."""

import json

import pytest

from tessera.cells import write_cells
from tessera.pipeline.retry import forget_failures


@pytest.fixture
def results(tmp_path):
    """A tree with a good and a failed recording, good and failed cells, and host cells to be filled in."""
    for name, status in (("good", "ok"), ("bad", "failed")):
        info = tmp_path / "traces" / name / "info.json"
        info.parent.mkdir(parents=True)
        info.write_text(json.dumps({"status": status}))
        rows = [{"layout": "growing-0", "status": "ok"}, {"layout": "1gb", "status": status}]
        write_cells(rows, tmp_path / "cells" / name / "p.csv")
    return tmp_path


def names(results, monkeypatch, *, host, reserve, argv=("snakemake",)):
    monkeypatch.setenv("TESSERA_RESERVE", reserve)
    monkeypatch.setattr("sys.argv", list(argv))
    write_cells([{"layout": "growing-0", "status": host}], results / "host" / "cells.csv")
    return {str(path.relative_to(results)) for path in forget_failures(results)}


FAILED = {"traces/bad/info.json", "cells/bad/p.csv"}
HOST = {"host/cells.csv"}


@pytest.mark.parametrize(
    ("host", "reserve", "forgotten"),
    [
        ("ok", "0", FAILED),  # measured cells stay, whatever this start may do
        ("ok", "1", FAILED),
        ("skipped", "0", FAILED),  # nothing has changed: still no huge pages
        ("skipped", "1", FAILED | HOST),
        ("failed", "0", FAILED | HOST),
    ],
)
def test_forgets_failures_only(results, monkeypatch, host, reserve, forgotten):
    assert names(results, monkeypatch, host=host, reserve=reserve) == forgotten
    assert (results / "traces/good/info.json").exists() and (results / "cells/good/p.csv").exists()
    assert not (results / "cells/bad/p.csv").exists()


@pytest.mark.parametrize("argument", ["-n", "--dry-run", "--mode"])
def test_dry_runs_and_jobs_change_nothing(results, monkeypatch, argument):
    argv = ("snakemake", argument)
    assert names(results, monkeypatch, host="failed", reserve="1", argv=argv) == set()
    assert (results / "cells/bad/p.csv").exists()
