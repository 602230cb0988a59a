"""What failed is tried again at the next start; what was measured is never thrown away."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from tessera.cli.pipeline import failures as pipeline_failures
from tessera.cli.pipeline.failures import Failure, drop, failures
from tessera.core.errors import TesseraError
from tessera.core.files import sha256_of
from tessera.core.results.table_io import write_cells
from tessera.core.results.tree import ResultsTree
from tessera.record.traces import trace_info

pytestmark = pytest.mark.slow


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


def names(results, *, host, reserve):
    write_cells([{"layout": "growing-0", "status": host}], results / "host" / "cells.csv")
    found = failures(results, reserve=reserve)
    drop(results, found)
    return {str(one.path.relative_to(results)) for one in found}


FAILED = {"traces/bad/info.json", "cells/bad/p.csv"}
HOST = {"host/cells.csv"}


@pytest.mark.parametrize(
    ("host", "reserve", "forgotten"),
    [
        ("ok", False, FAILED),  # measured cells stay, whatever this start may do
        ("ok", True, FAILED),
        ("skipped", False, FAILED),  # nothing has changed: still no huge pages
        ("skipped", True, FAILED | HOST),
        ("failed", False, FAILED | HOST),
    ],
)
def test_forgets_failures_only(results, host, reserve, forgotten):
    assert names(results, host=host, reserve=reserve) == forgotten
    assert (results / "traces/good/info.json").exists() and (results / "cells/good/p.csv").exists()
    assert not (results / "cells/bad/p.csv").exists()


@pytest.mark.parametrize("status", ["failed", "skipped"])
def test_both_tables_of_the_chase_go_together(tmp_path, status):
    """Snakemake makes a job again when all of its outputs that others need are gone."""
    folder = tmp_path / "validation"
    folder.mkdir()
    (folder / "chase.csv").write_text("series\n")
    (folder / "chase_series.csv").write_text(f"series,status,message\na,ok,\nb,{status},hugepages\n")
    (found,) = failures(tmp_path, reserve=True)
    assert found.path == folder / "chase_series.csv" and "hugepages" in found.reason
    drop(tmp_path, [found])
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("text", ["{", b"\xff\xfe\0"])
def test_what_cannot_be_read_has_failed(tmp_path, text):
    for name in ("traces/a/info.json", "cells/a/p.csv"):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_bytes(text if isinstance(text, bytes) else b"\xff\xfe\0")
    (tmp_path / "traces/a/info.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert len(failures(tmp_path, reserve=False)) == 2


def test_what_records_a_failure_goes_last_and_the_report_first(tmp_path, monkeypatch):
    """However many files are gone when the drop is killed, the next one finds the failure, and no report."""
    report = tmp_path / "report" / "index.html"
    paths = [report, tmp_path / "beside", tmp_path / "failed"]
    report.parent.mkdir()
    for path in paths:
        path.write_text("")
    unlink, gone = type(report).unlink, []
    monkeypatch.setattr(
        type(report), "unlink", lambda path, **more: [gone.append(path), unlink(path, **more)]
    )
    drop(tmp_path, [Failure(paths[2], "why", (paths[1],))])
    assert gone == paths


# Traces.


@pytest.fixture
def recorded(tmp_path, root):
    """A recording that succeeded."""
    folder = tmp_path / "traces" / "gups"
    folder.mkdir(parents=True)
    trace = shutil.copy(root / "tests" / "traces" / "examples" / "phases.tst", folder / "trace.tst")
    info = trace_info(trace) | {"workload": "gups", "status": "ok", "message": "", "sha256": sha256_of(trace)}
    (folder / "info.json").write_text(json.dumps(info))
    return trace


def truncated(trace):
    os.truncate(trace, trace.stat().st_size // 2)
    with pytest.raises(TesseraError, match="truncated"):
        trace_info(trace)


def overwritten(trace):
    """As a disk leaves blocks that it has lost: the header is whole."""
    with trace.open("r+b") as stream:
        stream.seek(trace.stat().st_size // 3)
        stream.write(bytes(16))
    assert trace_info(trace)


def failed_cells(results):
    write_cells([{"workload": "gups", "layout": "1gb", "status": "failed"}], results / "cells/gups/p.csv")


def failed_jobs(results):
    """Of a step that left no table."""
    rows = ("1,trace,gups,failed", "2,trace,gups,ok", '2,layouts,"gups, p",failed', "2,layouts,bfs,ok")
    path = ResultsTree(results).timeline
    path.parent.mkdir()
    path.write_text("\n".join(("run,job,subject,outcome", *rows, "")))


@pytest.mark.parametrize("damage", [truncated, overwritten])
@pytest.mark.parametrize("evidence", [failed_cells, failed_jobs])
def test_a_damaged_trace_is_recorded_again(tmp_path, recorded, damage, evidence):
    evidence(tmp_path)
    assert not [one for one in failures(tmp_path, reserve=False) if one.path == recorded]
    damage(recorded)
    (found,) = (one for one in failures(tmp_path, reserve=False) if one.path == recorded)
    assert found.told and ("bytes instead of" in found.reason or "SHA-256" in found.reason)
    drop(tmp_path, failures(tmp_path, reserve=False))
    assert not [path for path in tmp_path.rglob("*") if path.name in ("trace.tst", "info.json", "p.csv")]


def test_a_short_trace_needs_no_other_evidence_and_a_whole_one_is_not_read(tmp_path, recorded, monkeypatch):
    monkeypatch.setattr(pipeline_failures, "sha256_of", lambda path: pytest.fail("read"))
    assert failures(tmp_path, reserve=False) == []
    truncated(recorded)
    assert [one.path for one in failures(tmp_path, reserve=False)] == [recorded]


def test_a_job_that_failed_in_an_earlier_run_is_no_evidence(tmp_path, recorded):
    failed_jobs(tmp_path)
    overwritten(recorded)
    assert len(failures(tmp_path, reserve=False)) == 1
    with ResultsTree(tmp_path).timeline.open("a") as stream:
        stream.write("3,cells,bfs,ok\n")
    assert failures(tmp_path, reserve=False) == []


def test_a_trace_that_was_removed_counts_when_a_job_needs_it(tmp_path, recorded):
    """Packages have results without traces."""
    recorded.unlink()
    assert failures(tmp_path, reserve=False) == []
    failed_cells(tmp_path)
    assert failures(tmp_path, reserve=False)[0].path == recorded


def test_a_window_that_was_cut_is_compared_with_itself(tmp_path, recorded):
    window = ResultsTree(tmp_path).window("gups", 1000)
    window.parent.mkdir(parents=True)
    shutil.copy(recorded, window.with_name("trace.tst"))
    shutil.copy(recorded.with_name("info.json"), window)
    truncated(window.with_name("trace.tst"))
    assert [one.path for one in failures(tmp_path, reserve=False)] == [window.with_name("trace.tst")]


def test_a_run_records_a_damaged_trace_again_and_what_follows_from_it(tmp_path, recorded):
    (tmp_path / "Snakefile").write_text(
        f"""
from pathlib import Path
from tessera.cli.pipeline.failures import begin_run
onstart: begin_run(Path("."))
rule check:
    input: "cells/gups/p.csv",
    shell: "echo check >> steps"
rule record:
    output: "traces/gups/info.json",
    shell: "echo record >> steps; cp {tmp_path}/whole/* traces/gups; touch {{output}}"
rule cells:
    input: "traces/gups/info.json",
    output: "cells/gups/p.csv",
    shell: "echo cells >> steps; echo status > {{output}}"
"""
    )
    shutil.copytree(recorded.parent, tmp_path / "whole")
    truncated(recorded)
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--nolock"]
    env = os.environ | {"TESSERA_RETRY": "1", "TESSERA_RESERVE": "0"}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "steps").read_text().split() == ["record", "cells", "check"]
    assert "traces/gups/trace.tst is damaged" in done.stderr and trace_info(recorded)


def test_what_failed_is_made_again_although_a_report_was_made_of_it(tmp_path):
    """And what follows from it, once; the rest stays. A run that was not told to keeps failures."""
    (tmp_path / "Snakefile").write_text(
        """
from pathlib import Path
from tessera.cli.pipeline.failures import begin_run

onstart: begin_run(Path("results/x"))
rule check:
    input: "results/x/report/index.html",
    shell: "echo check >> steps"
rule report:
    input: "results/x/cells.csv", "results/x/other", "results/x/cells/w/p.csv",
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

    def run(retry: str = "1") -> list[str]:
        steps.write_text("")
        command = [sys.executable, "-m", "snakemake", "--cores", "1", "--nolock"]
        env = os.environ | {"TESSERA_RETRY": retry, "TESSERA_RESERVE": "0"}
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return sorted(steps.read_text().split())

    status.write_text("failed")
    assert run() == ["all", "cells", "check", "other", "report"]
    status.write_text("ok")
    assert run(retry="0") == ["check"]
    assert run() == ["all", "cells", "check", "report"]
    assert run() == ["check"]
    assert not (tmp_path / "results/x/.lock").exists()
