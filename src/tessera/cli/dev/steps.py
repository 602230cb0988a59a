"""``tessera dev step``: the steps of the workflow. Each writes failures as rows and exits with status 0."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.cli.lab.study import print_list, run_named, show_named
from tessera.lab.catalogue import Entry

_AT = "tessera.cli.pipeline"
STEPS = {
    "prepare": Entry(f"{_AT}.prepare:prepare", "Build a prepared file natively."),
    "drop": Entry(f"{_AT}.prepare:drop", "Remove a prepared file whose rows are recorded."),
    "record": Entry(f"{_AT}.record:record", "Record the trace of a workload."),
    "layouts": Entry(f"{_AT}.simulation:layouts", "Generate the layouts of a workload for a platform."),
    "select": Entry(f"{_AT}.simulation:select", "Copy some layouts of a folder to another folder."),
    "cells": Entry(f"{_AT}.simulation:cells", "Simulate all layouts of a manifest on one platform."),
    "concat": Entry(f"{_AT}.simulation:concat", "Join cells files in one table."),
    "host": Entry(f"{_AT}.real_runs:host", "Time a workload on this machine under layouts."),
    "fit": Entry(f"{_AT}.fit:fit", "Fit, cross-validate and judge models on cells files."),
    "adaptive": Entry(f"{_AT}.fit:adaptive", "Count the layouts that adaptive and random orders need."),
    "one-gb": Entry(f"{_AT}.fit:one_gb", "Predict the runtime under 1GB pages from the other layouts."),
    "accept": Entry(f"{_AT}.bundles:accept", "Verify bundles before a run, and list their paths."),
    "machines": Entry(f"{_AT}.bundles:machines", "Write the cells of bundles, and fit models to them."),
}


@click.command()
@click.argument("name", required=False)
@click.argument("words", metavar="[KEY=VALUE]...", nargs=-1)
@click.option("--out", type=click.Path(path_type=Path), help="File or folder to write.")
def step(name: str | None, words: tuple[str, ...], out: Path | None) -> None:
    """Run the step NAME; only with NAME: explain it; without: list the steps.

    \b
    Example, after ./run smoke:
      ./run tessera dev step fit seed=1 cells=results/smoke/cells/gups/sandybridge-sim.csv --out /tmp/fits
    """
    if name is None:
        print_list({"Steps": STEPS})
    elif out is not None:
        run_named(STEPS, "step", name, words, out)
    elif words:
        raise click.UsageError("missing --out: the file or folder to write")
    else:
        show_named(STEPS, "step", name)
