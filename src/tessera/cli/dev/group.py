"""``tessera dev``: for those who change Tessera, and for the workflow."""

from __future__ import annotations

import click

from tessera.cli.lazy import LazyGroup

DEV = {
    "Build and publish": {
        "build": (
            "tessera.cli.dev.build:build",
            "Build the images and components (mosalloc, tracer, simulator, workloads, imitation).",
        ),
        "notebooks": ("tessera.cli.dev.notebooks:notebooks", "List, execute and refresh the task notebooks."),
        "package": (
            "tessera.cli.dev.package:package",
            "Pack code and results in one zip with checksums, for a deposit.",
        ),
        "reference": (
            "tessera.cli.dev.reference:reference",
            "Download the papers' archived data; compare it with the printed numbers.",
        ),
    },
    "The workflow": {
        "recordings": (
            "tessera.cli.dev.recordings:recordings",
            "Write the recordings of a run to the table of known recordings.",
        ),
        "step": ("tessera.cli.dev.steps:step", "Run a step of the workflow: NAME KEY=VALUE..."),
        "attempt": ("tessera.cli.dev.runs:attempt", "Run a command; write its outcome to a file."),
        "retry": ("tessera.cli.dev.runs:retry", "Drop failures, so that the next run tries them again."),
        "unlock": ("tessera.cli.dev.runs:unlock", "Remove the lock of a run that was killed."),
    },
}


@click.group(cls=LazyGroup, table=DEV)
def dev() -> None:
    """Run steps of the workflow; build, pack, download reference data, execute notebooks.

    Snakemake calls the steps; users of snakemake may need retry and unlock (docs/howto/reproduce.md).

    Example: ./run tessera dev retry --results results/default --dry-run
    """
