"""The table of jobs of a dry run that lists no job: `./run reproduce -n --quiet`.

For a large study Snakemake recommends `--dry-run --quiet`, which ends before the jobs are formatted. But its
log filter also drops the table of jobs (Snakemake 9.27.1, event ``run_info``), so the run prints nothing.
"""

from __future__ import annotations

import logging
import sys
from typing import TextIO


class Counts(logging.Handler):
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
    """Add :class:`Counts` to the log of a run whose filter would drop the table."""
    quiet = {one.item_to_choice() for one in workflow.output_settings.quiet or ()}
    if quiet == {"progress", "rules"}:
        logger.addHandler(Counts(workflow))
