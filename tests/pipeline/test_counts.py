"""`-n --quiet` prints the table of jobs and nothing of single jobs."""

from __future__ import annotations

import io
import logging
from types import SimpleNamespace

from snakemake.settings.enums import Quietness

from tessera.cli.pipeline.job_log import JobCounts, show_counts
from tessera.cli.plan import estimate

from .stub_checkout import Checkout

TABLE = "Job stats:\njob      count\n-----  -------\ncells        2\ntotal        2\n"


def test_the_workflow_prints_its_table(tmp_path):
    """57 = 19 workloads x 3 platforms."""
    said = Checkout(tmp_path).snakemake("-n", "--quiet", "--", "reproduce")
    found = estimate.counts_in_text(said)
    assert (found["cells"], found["layouts"], found["trace"], found["report"]) == (57, 58, 20, 1)
    assert "Simulating" not in said and "jobid" not in said.lower()


def logged(dryrun: bool, event: str | None = "run_info") -> str:
    """What the handler prints of one record."""
    handler = JobCounts(SimpleNamespace(dryrun=dryrun), io.StringIO())
    record = logging.LogRecord("snakemake", logging.INFO, "", 0, TABLE, None, None)
    if event:
        record.event = event
    handler.handle(record)
    return handler.stream.getvalue()


def test_only_the_table_of_a_dry_run_is_printed():
    assert logged(True) == TABLE + "\n"
    assert logged(False) == "" and logged(True, "job_info") == "" and logged(True, None) == ""


def test_other_degrees_of_quiet_stay_as_they_are():
    """Snakemake prints the table itself unless it is quiet about progress; it ends early only for both."""
    rules, progress = Quietness.RULES, Quietness.PROGRESS
    for quiet, handlers in (
        ({rules, progress}, 1), ({progress}, 0), ({rules, Quietness.REASON}, 0), (set(), 0), (None, 0),
    ):  # fmt: skip
        logger = logging.Logger("a run")
        show_counts(SimpleNamespace(output_settings=SimpleNamespace(quiet=quiet)), logger)
        assert len(logger.handlers) == handlers, quiet
