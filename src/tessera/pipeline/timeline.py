"""When each job of a run started and ended: a row of `provenance/timeline.csv` per job, written as it ends.

Snakemake's log events (job_info, job_finished, job_error) are the source. A killed run keeps the rows of the
jobs that had ended; the next start adds its own rows below them.
"""

from __future__ import annotations

import csv
import logging
import time
from datetime import UTC, datetime
from pathlib import Path

from tessera.results.schema.machine import TIMELINE
from tessera.results.status import FAILED, OK


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
            self._append(TIMELINE.names)

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

    def _append(self, row) -> None:
        with self.path.open("a", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerow(row)


def watch(path: Path, workflow, logger: logging.Logger) -> None:
    """Record this run's jobs in ``path``, and stop Snakemake's busy wait on one machine.

    Snakemake limits job starts to 100 a second unless told otherwise. With any limit, each job that ends adds
    a timer that wakes the scheduler once per time span until the run ends (upstream pull request 3744): a
    third of a core in a run of 200 jobs. A longer span in the profile would delay the end of the run by that
    span, because Python waits for pending timers. On a cluster the limit stays.
    """
    logger.addHandler(Timeline(path))
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None
