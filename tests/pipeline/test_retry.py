"""What failed is tried again at the next start; what was measured is never thrown away."""

import json
import subprocess
import sys

import pytest

from tessera.pipeline.retry import forget_failures
from tessera.results.cells import write_cells


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


def test_what_failed_is_made_again_although_a_report_was_made_of_it(tmp_path):
    """And what follows from it, once; the rest stays."""
    (tmp_path / "Snakefile").write_text(
        """
from pathlib import Path
from tessera.pipeline.retry import forget_failures
forget_failures(Path("results/x"))
rule report:
    input: "results/x/cells.csv", "results/x/other",
    output: "results/x/report/index.html",
    shell: "echo report >> steps; touch {output}"
rule all_cells:
    input: "results/x/cells/w/p.csv",
    output: "results/x/cells.csv",
    shell: "echo all >> steps; cp {input} {output}"
rule other:
    output: "results/x/other",
    shell: "echo other >> steps; touch {output}"
rule cells:
    output: "results/x/cells/w/p.csv",
    shell: "echo cells >> steps; echo status > {output}; cat status >> {output}"
"""
    )
    status, steps = tmp_path / "status", tmp_path / "steps"

    def run() -> list[str]:
        steps.write_text("")
        command = [sys.executable, "-m", "snakemake", "--cores", "1", "--nolock"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return sorted(steps.read_text().split())

    status.write_text("failed")
    assert run() == ["all", "cells", "other", "report"]
    status.write_text("ok")
    assert run() == ["all", "cells", "report"]
    assert run() == []
