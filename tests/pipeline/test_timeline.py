"""provenance/timeline.csv from log events and from a real run; slots of the figure; no busy scheduler."""

import logging
import subprocess
import sys
import time
from types import SimpleNamespace

import pandas as pd
import pytest

from tessera.cli.pipeline.job_log import Timeline
from tessera.core.results.machine_tables import TIMELINE
from tessera.core.results.table_io import read_tree_table
from tessera.core.results.tree import ResultsTree
from tessera.report.figures.job_timeline import table

SNAKEFILE = """
import sys
from tessera.cli.pipeline.job_log import watch_jobs
from tessera.core.results.tree import ResultsTree
onstart:
    watch_jobs(ResultsTree("results/x").timeline, workflow, logger)
onsuccess: print("limiter", workflow.scheduler.job_rate_limiter, file=sys.stderr)
rule all:
    input: expand("out/{name}", name=["a", "b"])
rule make:
    output: "out/{name}"
    shell: "sleep 0.3; touch {output}"
rule broken:
    output: "broken"
    shell: "exit 1"
"""


@pytest.fixture
def clock():
    return SimpleNamespace(now=1000.0)


@pytest.fixture
def timeline(tmp_path, clock):
    return Timeline(tmp_path / "provenance" / "timeline.csv", clock=lambda: clock.now)


def event(timeline, kind, **fields):
    timeline.handle(logging.makeLogRecord({"levelno": logging.INFO, "event": kind, **fields}))


def test_a_job_is_a_row_when_it_ends(tmp_path, timeline, clock):
    clock.now = 1002.0
    event(
        timeline, "job_info", jobid=7, rule_name="cells", wildcards={"w": "gups", "p": "zen-sim"}, threads=2
    )
    assert len(read_tree_table(TIMELINE, ResultsTree(tmp_path))) == 0
    clock.now = 1005.25
    event(timeline, "job_finished", job_id=7)
    row = read_tree_table(TIMELINE, ResultsTree(tmp_path)).iloc[0].to_dict()
    assert row == {
        "run": "1970-01-01T00:16:40Z", "job": "cells", "subject": "gups, zen-sim", "started_s": 2.0,
        "ended_s": 5.2, "threads": 2, "outcome": "ok",
    }  # fmt: skip


def test_a_failure_that_is_reported_twice_is_one_row(tmp_path, timeline):
    event(timeline, "job_info", jobid=1, rule_name="report", wildcards=None, threads=1)
    event(timeline, "job_error", jobid=1)
    event(timeline, "job_error", jobid=1)
    event(timeline, "progress", done=1, total=2)
    assert list(read_tree_table(TIMELINE, ResultsTree(tmp_path))["outcome"]) == ["failed"]


def test_a_second_start_adds_to_the_first(tmp_path, timeline, clock):
    for begun in (1000, 2000):
        clock.now = begun
        again = Timeline(timeline.path, clock=lambda: clock.now)
        event(again, "job_info", jobid=1, rule_name="report", wildcards={}, threads=1)
        event(again, "job_finished", job_id=1)
    assert read_tree_table(TIMELINE, ResultsTree(tmp_path))["run"].nunique() == 2


def test_slots_of_the_start_with_most_work(tmp_path):
    rows = [
        ("early", "report", "", 0, 5, 1, "ok"),
        ("late", "cells", "a", 0, 10, 1, "ok"),
        ("late", "cells", "b", 1, 4, 1, "ok"),
        ("late", "trace", "c", 4, 6, 1, "failed"),
        ("late", "wide", "d", 10, 12, 2, "ok"),
    ]
    path = ResultsTree(tmp_path).timeline
    path.parent.mkdir()
    pd.DataFrame(rows, columns=TIMELINE.names).to_csv(path, index=False)
    found = table(tmp_path)
    assert list(zip(found["subject"], found["slot"], strict=True)) == [
        ("a", 0), ("b", 1), ("c", 1), ("d", 0), ("d", 1),
    ]  # fmt: skip
    assert set(found["provenance"]) == {"measured"} and set(found["run"]) == {"late"}


def snakemake(folder, *options):
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--nolock", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_a_run_records_its_jobs_and_its_scheduler_has_no_limit(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    begun = time.monotonic()
    done = snakemake(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "limiter None" in done.stderr
    rows = read_tree_table(TIMELINE, ResultsTree(tmp_path / "results" / "x"))
    made = rows[rows["job"] == "make"]
    assert sorted(made["subject"]) == ["a", "b"] and set(rows["outcome"]) == {"ok"}
    assert ((made["ended_s"] - made["started_s"]).between(0.2, time.monotonic() - begun)).all()
    assert snakemake(tmp_path, "broken").returncode == 1
    rows = read_tree_table(TIMELINE, ResultsTree(tmp_path / "results" / "x"))
    assert list(rows[rows["job"] == "broken"]["outcome"]) == ["failed"]


CHECKED = """
from tessera.cli.pipeline.job_log import plan_steps, watch_jobs
from tessera.core.results.tree import ResultsTree
TREE = ResultsTree("results/x")
onstart:
    plan_steps(TREE, workflow, watch_jobs(TREE.timeline, workflow, logger).run, log)
rule smoke:
    input: "out/a, 1", "out/b"
rule pair:
    output: "out/{w}, {p}"
    shell: "touch '{output}'"
rule make:
    output: "out/{name}"
    wildcard_constraints: name="[a-z]+"
    shell: "test ! -e broken; touch {output}"
"""


@pytest.mark.slow
def test_a_run_that_is_asked_for_them_ends_with_its_last_lines(tmp_path, monkeypatch):
    """Below all that Snakemake says: steps that ran, also after a failure and in a second start."""

    def said(*options):
        done = snakemake(tmp_path, *options)
        _, _, end = done.stderr.partition("Elapsed time")
        lines = (line.split(None, 1) for line in end.splitlines() if not line.startswith(("At", ":")))
        return done.returncode, {words[0]: words[1] for words in lines if len(words) == 2}

    (tmp_path / "Snakefile").write_text(CHECKED)
    (tmp_path / "broken").touch()
    monkeypatch.setenv("TESSERA_LAST_LINES", "1")
    status, lines = said("--keep-going")
    assert status == 1 and lines["smoke"].startswith("FAILED")
    assert lines["steps"] == "1 of 3 ran; FAILED: make b; NOT RUN: smoke"
    (tmp_path / "broken").unlink()
    status, lines = said()
    assert status == 0 and lines["steps"] == "2 of 2 ran (1 done before)"
    assert lines["report"] == "NOT WRITTEN" and ".snakemake/log/" in lines["logs"]
    assert said("-n") == said("--forcerun", "make", "-n") == (0, {})
    monkeypatch.delenv("TESSERA_LAST_LINES")
    assert said() == (0, {})
