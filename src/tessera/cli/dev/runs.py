"""``tessera dev attempt``, ``retry``, ``unlock``: commands that may fail, failures, the lock of a run."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.cli.lazy import ProgramCommand
from tessera.core.errors import EXIT_FAILED, TesseraError

PATH = click.Path(path_type=Path)
RESULTS = click.option("--results", type=PATH, required=True, help="Results folder, e.g. results/default.")


@click.command(cls=ProgramCommand)
@click.option(
    "--outcome", type=PATH, required=True, help="JSON file to write; files of the command go to its folder."
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def attempt(outcome: Path, command: tuple[str, ...]) -> None:
    """Run a command of tessera; write its outcome to a file, also if it fails, and exit with status 0.

    Example: ./run tessera dev attempt --outcome /tmp/table4/outcome.json -- lab run kernel-table4
    """
    from tessera.cli.pipeline.failures import run_and_record as try_it

    found = try_it(list(command), outcome)
    click.echo(f"{found['status']}: {found['command']}", err=True)


@click.command()
@RESULTS
@click.option(
    "--reserve", is_flag=True, help="Also drop runs that lacked huge pages (for the next ./run --reserve)."
)
@click.option("--dry-run", is_flag=True, help="Only print the failures that would be dropped.")
def retry(results: Path, reserve: bool, dry_run: bool) -> None:
    """Drop failures, so that the next `snakemake` runs their jobs again; `./run` does this itself.

    Prints each failed file and the reason. Removes all outputs of failed jobs, and the report. Finished cells
    stay in the cache.

    Example: ./run tessera dev retry --results results/default --dry-run
    """
    from tessera.cli.pipeline.failures import drop, failures
    from tessera.cli.pipeline.lock import RunLock

    lock = RunLock(_existing(results))
    if not dry_run:
        lock.take()
    try:
        failed = failures(results, reserve=reserve)
        for one in failed:
            click.echo(f"{one.path}: {one.reason}")
        if not dry_run:
            drop(results, failed)
    finally:
        lock.release()
    click.echo(f"{len(failed)} failures {'would be ' if dry_run else ''}dropped", err=True)


@click.command()
@RESULTS
def unlock(results: Path) -> None:
    """Remove the lock of a run that was killed on another machine (docs/howto/reproduce.md).

    The lock of a run that was killed on this machine is removed by the next run.

    Example: ./run tessera dev unlock --results results/default
    """
    from tessera.cli.pipeline.lock import RunLock

    lock = RunLock(_existing(results))
    if other := lock.alive():
        found = f"its run is still running on this machine: process {other.pid}"
        raise TesseraError(
            f"the lock of {results}", found, f"stop it: kill {other.pid}", exit_code=EXIT_FAILED
        )
    click.echo("unlocked" if lock.path.exists() else f"there is no lock: {lock.path}", err=True)
    lock.path.unlink(missing_ok=True)


def _existing(results: Path) -> Path:
    if not results.is_dir():
        raise TesseraError(f"results {results}", "no such folder", "name a folder like results/default")
    return results
