"""What a run of Snakemake says: when each job started and ended, its last lines, the jobs of a dry run."""

from __future__ import annotations

import atexit
import csv
import io
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from tessera.core.errors import TesseraError
from tessera.core.files import append_lines, write_text
from tessera.core.processes import module_command
from tessera.core.results.machine_tables import TIMELINE
from tessera.core.results.outcomes import FAILED, OK
from tessera.core.results.tree import ResultsTree

# When each job of a run started and ended: a row of `provenance/timeline.csv` per job, written as it ends.
#
# Snakemake's log events (job_info, job_finished, job_error) are the source. A killed run keeps the rows of
# the jobs that had ended; the next start adds its own rows below them.


class Timeline(logging.Handler):
    """Turns Snakemake's log events into rows of ``path``.

    Args:
        path: the CSV file; created with its header if it is missing.
        clock: seconds since the epoch.
    """

    def __init__(self, path: Path, clock=time.time):
        super().__init__(logging.INFO)
        self.path, self.clock = path, clock
        self.begun = clock()
        self.run = datetime.fromtimestamp(self.begun, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.started: dict[int, tuple[float, str, str, int]] = {}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            write_text(path, _line(TIMELINE.names))

    def emit(self, record: logging.LogRecord) -> None:
        """Note a job's start; write its row when it ends. Other events are ignored."""
        event = str(getattr(record, "event", ""))
        if event == "job_info":
            subject = ", ".join(str(value) for value in dict(record.wildcards or {}).values())
            self.started[record.jobid] = (self.clock(), record.rule_name, subject, record.threads)
        elif event == "job_finished":
            self._end(record.job_id, OK)
        elif event == "job_error":
            self._end(record.jobid, FAILED)

    def _end(self, job: int, status: str) -> None:
        if job not in self.started:  # a job that failed is reported more than once
            return
        start, rule, subject, threads = self.started.pop(job)
        seconds = (f"{moment - self.begun:.1f}" for moment in (start, self.clock()))
        self._append((self.run, rule, subject, *seconds, threads, status))

    def _append(self, row: Iterable[object]) -> None:
        """Add a row. A run does not end because its timeline has no room."""
        try:
            append_lines(self.path, _line(row))
        except TesseraError as error:
            print(f"tessera: a row is missing: {error}", file=sys.stderr)


def _line(row: Iterable[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(row)
    return text.getvalue()


def watch_jobs(path: Path, workflow, logger: logging.Logger) -> Timeline:
    """Record this run's jobs in ``path``, and stop Snakemake's busy wait on one machine.

    Snakemake limits job starts to 100 a second unless told otherwise. With any limit, each job that ends adds
    a timer that wakes the scheduler once per time span until the run ends (upstream pull request 3744): a
    third of a core in a run of 200 jobs. A longer span in the profile would delay the end of the run by that
    span, because Python waits for pending timers. On a cluster the limit stays.
    """
    timeline = Timeline(path)
    logger.addHandler(timeline)
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None
    return timeline


# What this run plans, so that its last lines can say how many steps ran of how many
# (tessera.report.last_lines). `./run` asks for these lines: they come when Snakemake ends, below all of its
# own, also after a failure. They are printed by a process of their own: this one is ending.

LAST_LINES = "TESSERA_LAST_LINES"  #: `1` in a run that ends with them
CHECKED = ("smoke", "reproduce")  #: targets that write and check a report


def plan_steps(tree: ResultsTree, workflow, run: str, logs: Sequence[str] = ()) -> None:
    """Write the steps of a run before its first job; print its last lines when it ends, if asked for.

    Args:
        run: when it started, as the timeline's rows name it.
        logs: Snakemake's logs of the run.
    """

    planned = list(workflow.dag.needrun_jobs(exclude_finished=False))
    target = next((job.rule.name for job in workflow.dag.targetjobs if job.rule.name in CHECKED), "")
    plan = {
        "run": run,
        "target": target,
        "steps": sorted(_step_name(job) for job in planned),
        "done_before": len(list(workflow.dag.jobs)) - len(planned),
        "logs": [os.path.relpath(path) for path in logs],
    }
    path = tree.steps
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(plan, indent=1) + "\n")
    if target and os.environ.get(LAST_LINES) == "1":
        command = module_command("tessera", "report", "last-lines", "--results", tree.root)
        atexit.register(subprocess.run, command, stdout=sys.stderr)


def _step_name(job) -> str:
    """As :func:`tessera.report.last_lines.step_name` names a row of the timeline."""
    return f"{job.rule.name} {', '.join(map(str, (job.wildcards_dict or {}).values()))}".strip()


# The table of jobs of a dry run that lists no job: `./run reproduce -n --quiet`.
#
# For a large study Snakemake recommends `--dry-run --quiet`, which ends before the jobs are formatted. But
# its log filter also drops the table of jobs (Snakemake 9.27.1, event ``run_info``), so the run prints
# nothing.


class JobCounts(logging.Handler):
    """Prints the table of jobs when a dry run knows it; other events, and real runs, print nothing.

    Args:
        workflow: Snakemake's workflow; its property ``dryrun`` is known only after the Snakefile was read.
        stream: where the table goes; standard error by default, as all that Snakemake prints.
    """

    def __init__(self, workflow, stream: TextIO | None = None):
        super().__init__(logging.INFO)
        self.workflow, self.stream = workflow, stream or sys.stderr

    def emit(self, record: logging.LogRecord) -> None:
        """Print the record's text if it is the table of a dry run."""
        if str(getattr(record, "event", "")) == "run_info" and self.workflow.dryrun:
            print(record.getMessage(), file=self.stream, flush=True)


def show_counts(workflow, logger: logging.Logger) -> None:
    """Add :class:`JobCounts` to the log of a run whose filter would drop the table."""
    quiet = {one.item_to_choice() for one in workflow.output_settings.quiet or ()}
    if quiet == {"progress", "rules"}:
        logger.addHandler(JobCounts(workflow))
