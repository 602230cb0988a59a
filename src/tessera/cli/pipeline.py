"""``tessera pipeline``: the workflow's steps. Each exits 0 with failures written as rows."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.results.status import FAILED, is_ok, other_rows

PATH = click.Path(path_type=Path)
RESULTS = click.option("--results", type=PATH, required=True, help="Results folder, e.g. results/default.")


@click.group()
def pipeline() -> None:
    """The workflow's own steps, and two for those who call snakemake themselves: retry and unlock."""


@pipeline.command()
@click.option("--workload", required=True)
@click.option("--size", required=True)
@click.option("--max-accesses", type=int)
@click.option("--out", type=PATH, required=True, help="info.json; trace.tst lies beside it")
def record(workload: str, size: str, max_accesses: int | None, out: Path) -> None:
    """Record a workload's trace."""
    from tessera.pipeline.record import record_workload

    info = record_workload(workload, size, max_accesses, out)
    if not is_ok(info):
        click.echo(f"{info['status']}: trace of {workload}: {info['message']}", err=True)
    else:
        click.echo(f"{workload}: {info['accesses'] / 1e6:.1f} M accesses recorded", err=True)


@pipeline.command()
@click.option("--info", type=PATH, required=True)
@click.option("--platform", type=PATH, required=True)
@click.option("--seed", type=int, required=True)
@click.option("--random-count", type=int, required=True)
@click.option("--out", type=PATH, required=True, help="manifest.csv; layouts lie beside it")
def layouts(info: Path, platform: Path, seed: int, random_count: int, out: Path) -> None:
    """Generate a workload's layouts for a platform."""
    from tessera.pipeline.layouts import make_layouts

    make_layouts(info, platform, seed, random_count, out)


@pipeline.command()
@click.option("--manifest", type=PATH, required=True)
@click.option("--names", required=True, help="comma-separated")
@click.option("--out", type=PATH, required=True)
def select(manifest: Path, names: str, out: Path) -> None:
    """Copy some layouts of a folder."""
    from tessera.pipeline.layouts import select_layouts

    select_layouts(manifest, names.split(","), out)


@pipeline.command()
@click.option("--info", type=PATH, required=True)
@click.option("--manifest", type=PATH, required=True)
@click.option("--platform", type=PATH, required=True)
@click.option("--engine", required=True)
@click.option("--sampling", required=True)
@click.option("--cache", type=PATH, required=True)
@click.option("--threads", type=int, default=1)
@click.option("--out", type=PATH, required=True)
def cells(info, manifest, platform, engine, sampling, cache, threads, out) -> None:
    """Simulate all layouts of a manifest on one platform."""
    from tessera.pipeline.cells import simulate_cells
    from tessera.simulate.progress import Ticker

    ticker = Ticker(f"{info.parent.name} on {platform.stem}")
    table = simulate_cells(
        info,
        manifest,
        platform,
        engine=engine,
        sampling=sampling,
        cache=cache,
        threads=threads,
        out=out,
        progress=ticker,
    )
    ticker.close()
    for row in table[table.status == FAILED].drop_duplicates("message").itertuples():
        click.echo(f"failed: {row.workload}, {row.platform}, {row.layout}: {row.message}", err=True)


@pipeline.command()
@click.argument("parts", nargs=-1, type=PATH, required=True)
@click.option("--out", type=PATH, required=True)
def concat(parts: tuple[Path, ...], out: Path) -> None:
    """Collect cells files in one table."""
    from tessera.pipeline.cells import concat_cells

    concat_cells(list(parts), out)


@pipeline.command()
@click.argument("cells", nargs=-1, type=PATH, required=True)
@click.option("--seed", type=int, required=True)
@click.option("--layouts", type=PATH, help="folder of <workload>/<platform>/manifest.csv")
@click.option("--model", "models", multiple=True, help="a model by name; repeat; default: see the registry")
@click.option("--out", type=PATH, required=True, help="tables go to <out>/<workload>/<platform>/")
def fit(cells: tuple[Path, ...], seed: int, layouts: Path | None, models: tuple[str, ...], out: Path) -> None:
    """Fit, cross-validate and judge models on cells files <workload>/<platform>.csv."""
    from tessera.pipeline.fit import fit_pairs

    _say("not fitted", fit_pairs(cells, seed, out, layouts, models))


@pipeline.command()
@click.argument("cells", nargs=-1, type=PATH, required=True)
@click.option("--seeds", type=click.IntRange(min=1), required=True, help="random orders to compare with")
@click.option("--out", type=PATH, required=True, help="tables go to <out>/<workload>/<platform>/")
def adaptive(cells: tuple[Path, ...], seeds: int, out: Path) -> None:
    """Count how many layouts adaptive and random orders need."""
    from tessera.pipeline.fit import adaptive_pairs

    _say("not replayed", adaptive_pairs(cells, seeds, out))


@pipeline.command("one-gb")
@click.argument("cells", nargs=-1, type=PATH, required=True)
@click.option("--mosaics", type=PATH, help="validation/mosaics.csv, for the simulator's part of the budget")
@click.option("--out", type=PATH, required=True, help="tables go to <out>/<workload>/<platform>/")
def one_gb(cells: tuple[Path, ...], mosaics: Path | None, out: Path) -> None:
    """Predict 1GB pages from the other layouts, with an error budget."""
    from tessera.pipeline.fit import one_gb_pairs

    _say("not predicted", one_gb_pairs(cells, out, mosaics))


def _say(what: str, reasons: dict[Path, str]) -> None:
    for folder, reason in reasons.items():
        click.echo(f"{what}: {folder}: {reason}", err=True)


@pipeline.command()
@click.option("--workload", required=True)
@click.option("--size", required=True)
@click.option("--manifest", type=PATH, required=True)
@click.option("--simulated", type=PATH, required=True)
@click.option("--half-width", type=float, required=True)
@click.option("--max-repeats", type=int, required=True)
@click.option("--max-minutes", type=float, required=True)
@click.option("--seed", type=int, required=True)
@click.option("--out", type=PATH, required=True)
def host(workload, size, manifest, simulated, half_width, max_repeats, max_minutes, seed, out) -> None:
    """Run a workload for real under the layouts of a manifest."""
    from tessera.measure.rounds import Rule
    from tessera.pipeline.real_runs import host_cells

    rule = Rule(half_width, max_repeats=max_repeats, max_minutes=max_minutes)
    table = host_cells(
        workload, size, manifest, simulated, rule, seed, out, lambda line: click.echo(line, err=True)
    )
    for row in other_rows(table).drop_duplicates("message").itertuples():
        click.echo(f"{row.status}: {row.workload} on the host, {row.layout}: {row.message}", err=True)


@pipeline.command(context_settings={"ignore_unknown_options": True})
@click.option("--outcome", type=PATH, required=True, help="JSON; the command's files lie beside it")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def attempt(outcome: Path, command: tuple[str, ...]) -> None:
    """Run a command of tessera whose failure must not stop the rest."""
    from tessera.pipeline.attempt import attempt as try_it

    found = try_it(list(command), outcome)
    click.echo(f"{found['status']}: {found['command']}", err=True)


@pipeline.command()
@RESULTS
@click.option(
    "--reserve", is_flag=True, help="The next run reserves huge pages: what lacked them counts, too."
)
@click.option("--dry-run", is_flag=True, help="Only print what would be dropped.")
def retry(results: Path, reserve: bool, dry_run: bool) -> None:
    """Drop what failed, so that the next `snakemake` tries it again; `./run` does so by itself.

    Prints each dropped file and why. A failure goes with all outputs of its job, and with the report.
    Finished cells stay in the cache. Example: tessera pipeline retry --results results/default --dry-run
    """
    from tessera.pipeline.failures import drop, failures
    from tessera.pipeline.lock import RunLock

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


@pipeline.command()
@RESULTS
def unlock(results: Path) -> None:
    """Remove the lock of a run that has died on another machine (docs/pipeline.md).

    A run that has died on this machine needs nothing of the kind. Example: tessera pipeline unlock --results
    results/default
    """
    from tessera.pipeline.lock import RunLock

    lock = RunLock(_existing(results))
    if other := lock.alive():
        found = f"its run is at work on this machine: process {other.pid}"
        raise TesseraError(
            f"the lock of {results}", found, f"stop it: kill {other.pid}", exit_code=EXIT_FAILED
        )
    click.echo("unlocked" if lock.path.exists() else "no lock is there", err=True)
    lock.path.unlink(missing_ok=True)


def _existing(results: Path) -> Path:
    if not results.is_dir():
        raise TesseraError(f"results {results}", "no such folder", "name a folder like results/default")
    return results
