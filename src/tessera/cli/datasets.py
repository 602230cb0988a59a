"""``tessera datasets``: list, download and verify published inputs.

Only the size `paper` of some workloads needs them; `default` uses synthetic inputs of the same shape.
"""

from __future__ import annotations

import sys
from functools import partial

import click

from tessera.core.progress import amount, download_progress


@click.group()
def datasets() -> None:
    """List, download and verify published input data.

    Only the size `paper` of some workloads needs them; `tessera workload show NAME` says which.

    Example: ./run tessera datasets list
    """


@datasets.command("list")
def list_datasets() -> None:
    """List all datasets: URL, licence, size, SHA-256, and whether each is on this machine.

    Example: ./run tessera datasets list
    """
    from tessera.record import datasets as inputs

    for name in inputs.names():
        dataset = inputs.load(name)
        now = inputs.state(dataset)
        here = f"{now.state}, {amount(now.size_bytes)}" if now.size_bytes else now.state
        size = amount(dataset.size_bytes) if dataset.size_bytes is not None else "not published"
        click.echo(f"{name} ({dataset.version}): {here}\n  {dataset.url}\n  licence: {dataset.licence}")
        click.echo(f"  size: {size}; SHA-256: {dataset.sha256 or 'not published'}")


@datasets.command()
@click.argument("names", nargs=-1, required=True)
def fetch(names: tuple[str, ...]) -> None:
    """Download datasets by name; continue interrupted downloads.

    Example: ./run tessera datasets fetch gap-road
    """
    from tessera.record import datasets as inputs

    for dataset in [inputs.load(name) for name in names]:  # check all names before the first download
        with download_progress() as show:
            record = inputs.fetch(dataset, progress=partial(show, dataset.name))
        click.echo(
            f"{dataset.name}: {record['bytes']} bytes, SHA-256 {record['sha256']}, {record['verdict']}"
        )


@datasets.command()
@click.argument("names", nargs=-1)
def verify(names: tuple[str, ...]) -> None:
    """Compare the SHA-256 of downloaded files with the listed one (default: all downloaded datasets).

    Exit status 1 if a file differs.

    Example: ./run tessera datasets verify gap-road
    """
    from tessera.core.errors import EXIT_FAILED, TesseraError
    from tessera.record import datasets as inputs

    chosen = list(names) or [n for n in inputs.names() if inputs.state(inputs.load(n)).state == "present"]
    if not chosen:
        click.echo("no dataset was downloaded; to list them: ./run tessera datasets list")
    failed = False
    for dataset in [inputs.load(name) for name in chosen]:
        try:
            click.echo(f"{dataset.name}: {inputs.verify(dataset)}")
        except TesseraError as error:
            failed = True
            click.echo(f"tessera: {error}", err=True)
    if failed:
        sys.exit(EXIT_FAILED)
