"""``tessera pipeline``: the steps of the workflow. Each writes failures as rows and exits with status 0."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.results.outcomes import FAILED, is_ok, other_rows

PATH = click.Path(path_type=Path)
RESULTS = click.option("--results", type=PATH, required=True, help="Results folder, e.g. results/default.")

CHANGES = click.option(
    "--change",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help="Value of the platform to use instead of the file's; may be repeated.",
)


@click.group()
def pipeline() -> None:
    """Run a step of the workflow; drop failures (retry); remove a lock (unlock).

    Snakemake calls the steps; users of snakemake may need retry and unlock. See docs/pipeline.md.

    Example: ./run tessera pipeline retry --results results/default --dry-run
    """


@pipeline.command()
@click.option("--workload", required=True, help="Workload, as in: tessera workload list.")
@click.option("--size", required=True, help="Size of the workload: tiny, default or paper.")
@click.option("--max-accesses", type=int, help="Accesses after which to stop recording.  [default: no limit]")
@click.option("--out", type=PATH, required=True, help="info.json to write; trace.tst goes to its folder.")
def record(workload: str, size: str, max_accesses: int | None, out: Path) -> None:
    """Record the trace of a workload.

    Example: ./run tessera pipeline record --workload gups --size tiny --out /tmp/gups/info.json
    """
    from tessera.cli.pipeline.record import record_workload

    info = record_workload(workload, size, max_accesses, out)
    if not is_ok(info):
        click.echo(f"{info['status']}: trace of {workload}: {info['message']}", err=True)
    else:
        click.echo(f"{workload}: {info['accesses'] / 1e6:.1f} M accesses recorded", err=True)


@pipeline.command()
@click.option("--workload", required=True, help="A workload whose size loads the file.")
@click.option("--size", required=True, help="That size.")
@click.option("--file", "path", type=PATH, required=True, help="File to build.")
@click.option("--out", type=PATH, required=True, help="JSON file with the outcome to write.")
def prepare(workload: str, size: str, path: Path, out: Path) -> None:
    """Build a prepared file natively, for the programs that load it under emulation.

    \b
    Example: ./run tessera pipeline prepare --workload graph500-2gb --size tiny-prepared \\
      --file /tmp/prepared/graph --out /tmp/prepared/outcome.json
    """
    from tessera.cli.pipeline.needs import prepare_file

    found = prepare_file(workload, size, path, out)
    click.echo(
        found["message"] or f"{path.name}: {found['bytes'] / 1e9:.2f} GB in {found['seconds']} s", err=True
    )


@pipeline.command()
@click.option("--file", "path", type=PATH, required=True, help="Prepared file to remove.")
@click.option("--out", type=PATH, required=True, help="JSON file to write.")
def drop(path: Path, out: Path) -> None:
    """Remove a prepared file whose rows are recorded; $TESSERA_KEEP_DATA=1 keeps it.

    Example: ./run tessera pipeline drop --file /tmp/prepared/graph --out /tmp/prepared/dropped.json
    """
    from tessera.cli.pipeline.needs import drop_file

    click.echo(drop_file(path, out), err=True)


@pipeline.command()
@click.option("--info", type=PATH, required=True, help="info.json of a trace.")
@click.option("--platform", type=PATH, required=True, help="Platform file (YAML).")
@click.option("--seed", type=int, required=True, help="Seed of the random layouts.")
@click.option("--random-count", type=int, required=True, help="Number of random layouts.")
@click.option(
    "--windows",
    type=click.Choice(["touched", "allocated"]),
    default="touched",
    show_default=True,
    help="2MB pages that windows start and end on.",
)
@CHANGES
@click.option("--out", type=PATH, required=True, help="manifest.csv to write; the layouts go to its folder.")
def layouts(info, platform, seed, random_count, windows, changes, out) -> None:
    """Generate the layouts of a workload for a platform.

    \b
    Example, after ./run smoke:
      ./run tessera pipeline layouts --info results/smoke/traces/gups/info.json --seed 1 --random-count 9 \\
        --platform config/platforms/haswell-sim.yaml --out /tmp/gups/layouts/manifest.csv
    """
    from tessera.cli.pipeline.simulation import make_layouts
    from tessera.core.platforms import parse_changes

    make_layouts(info, platform, seed, random_count, out, windows, parse_changes(changes))


@pipeline.command()
@click.option("--manifest", type=PATH, required=True, help="manifest.csv of a folder of layouts.")
@click.option("--names", required=True, help="Layouts to copy, comma-separated.")
@click.option("--out", type=PATH, required=True, help="manifest.csv to write; the layouts go to its folder.")
def select(manifest: Path, names: str, out: Path) -> None:
    """Copy some layouts of a folder to another folder.

    \b
    Example, after ./run smoke:
      ./run tessera pipeline select --names growing-0,growing-8 --out /tmp/two/manifest.csv \\
        --manifest results/smoke/layouts/gups/sandybridge-sim/manifest.csv
    """
    from tessera.cli.pipeline.simulation import select_layouts

    select_layouts(manifest, names.split(","), out)


@pipeline.command()
@click.option("--info", type=PATH, required=True, help="info.json of a trace.")
@click.option("--manifest", type=PATH, required=True, help="manifest.csv of the layouts.")
@click.option("--platform", type=PATH, required=True, help="Platform file (YAML).")
@click.option("--engine", required=True, help="partial, timing or reference; see tessera simulate --help.")
@click.option("--sampling", required=True, help="Sampling plan; see tessera simulate --help.")
@click.option("--cache", type=PATH, required=True, help="Folder of finished cells.")
@click.option("--threads", type=int, default=1, show_default=True, help="Threads of the simulator.")
@CHANGES
@click.option("--out", type=PATH, required=True, help="Cells file to write (CSV).")
def cells(info, manifest, platform, engine, sampling, cache, threads, changes, out) -> None:
    """Simulate all layouts of a manifest on one platform.

    \b
    Example, after ./run smoke:
      ./run tessera pipeline cells --info results/smoke/traces/gups/info.json --engine timing \\
        --manifest results/smoke/layouts/gups/sandybridge-sim/manifest.csv \\
        --platform config/platforms/sandybridge-sim.yaml --cache /tmp/.cache --out /tmp/cells.csv \\
        --sampling units=4,warmup_accesses=100000,timed_instructions=200000
    """
    from tessera.cli.pipeline.simulation import simulate_cells
    from tessera.core.platforms import parse_changes
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
        changes=parse_changes(changes),
        out=out,
        progress=ticker,
    )
    ticker.close()
    for row in table[table.status == FAILED].drop_duplicates("message").itertuples():
        click.echo(f"failed: {row.workload}, {row.platform}, {row.layout}: {row.message}", err=True)


@pipeline.command()
@click.argument("parts", nargs=-1, type=PATH, required=True)
@click.option("--out", type=PATH, required=True, help="Cells file to write (CSV).")
def concat(parts: tuple[Path, ...], out: Path) -> None:
    """Join cells files in one table.

    Example: ./run tessera pipeline concat --out /tmp/cells.csv results/smoke/cells/gups/sandybridge-sim.csv
    """
    from tessera.cli.pipeline.simulation import concat_cells

    concat_cells(list(parts), out)


@pipeline.command()
@click.argument("cells", nargs=-1, type=PATH, required=True)
@click.option("--seed", type=int, required=True, help="Seed of the folds.")
@click.option("--layouts", type=PATH, help="Folder that has <workload>/<platform>/manifest.csv.")
@click.option(
    "--model", "models", multiple=True, help="Model; may be repeated.  [default: tessera models list]"
)
@click.option("--out", type=PATH, required=True, help="Folder; tables go to <out>/<workload>/<platform>/.")
def fit(cells: tuple[Path, ...], seed: int, layouts: Path | None, models: tuple[str, ...], out: Path) -> None:
    """Fit, cross-validate and judge models on cells files <workload>/<platform>.csv.

    Example: ./run tessera pipeline fit --seed 1 --out /tmp/fits results/smoke/cells/gups/sandybridge-sim.csv
    """
    from tessera.cli.pipeline.fit import fit_pairs

    _say("not fitted", fit_pairs(cells, seed, out, layouts, models))


@pipeline.command()
@click.argument("cells", nargs=-1, type=PATH, required=True)
@click.option("--seeds", type=click.IntRange(min=1), required=True, help="Number of random orders.")
@click.option("--out", type=PATH, required=True, help="Folder; tables go to <out>/<workload>/<platform>/.")
def adaptive(cells: tuple[Path, ...], seeds: int, out: Path) -> None:
    """Count the layouts that an adaptive order and random orders need to reach the same error.

    Example, after ./run smoke:
    ./run tessera pipeline adaptive --seeds 2 --out /tmp/fits results/smoke/cells/gups/sandybridge-sim.csv
    """
    from tessera.cli.pipeline.fit import adaptive_pairs

    _say("not replayed", adaptive_pairs(cells, seeds, out))


@pipeline.command("one-gb")
@click.argument("cells", nargs=-1, type=PATH, required=True)
@click.option(
    "--mosaics", type=PATH, help="validation/mosaics.csv of a run: the simulator's part of the budget."
)
@click.option("--out", type=PATH, required=True, help="Folder; tables go to <out>/<workload>/<platform>/.")
def one_gb(cells: tuple[Path, ...], mosaics: Path | None, out: Path) -> None:
    """Predict the runtime under 1GB pages from the other layouts, with an error budget.

    Example: ./run tessera pipeline one-gb --out /tmp/fits results/smoke/cells/gups/sandybridge-sim.csv
    """
    from tessera.cli.pipeline.fit import one_gb_pairs

    _say("not predicted", one_gb_pairs(cells, out, mosaics))


def _say(what: str, reasons: dict[Path, str]) -> None:
    for folder, reason in reasons.items():
        click.echo(f"{what}: {folder}: {reason}", err=True)


@pipeline.command()
@click.option("--workload", required=True, help="Workload, as in: tessera workload list.")
@click.option("--size", required=True, help="Size of the workload: tiny, default or paper.")
@click.option("--manifest", type=PATH, required=True, help="manifest.csv of the layouts.")
@click.option("--simulated", type=PATH, required=True, help="Simulated cells of host-sim.")
@click.option("--half-width", type=float, required=True, help="Largest 95% half-width, as a fraction.")
@click.option("--max-repeats", type=int, required=True, help="Most rounds.")
@click.option("--max-minutes", type=float, required=True, help="Start no round after this many minutes.")
@click.option("--seed", type=int, required=True, help="Seed of the order in each round.")
@click.option("--out", type=PATH, required=True, help="Cells file to write (CSV).")
def host(workload, size, manifest, simulated, half_width, max_repeats, max_minutes, seed, out) -> None:
    """Time a workload on this machine under the layouts of a manifest; see tessera host run --help.

    \b
    Example, after ./run smoke:
      ./run --reserve tessera pipeline host --workload gups --size tiny --half-width 0.05 --max-repeats 3 \\
        --max-minutes 1 --seed 1 --manifest results/smoke/host/layouts/manifest.csv \\
        --simulated results/smoke/host/simulated.csv --out /tmp/host/cells.csv
    """
    from tessera.cli.pipeline.real_runs import host_cells
    from tessera.measure.rounds import Rule

    rule = Rule(half_width, max_repeats=max_repeats, max_minutes=max_minutes)
    table = host_cells(
        workload, size, manifest, simulated, rule, seed, out, lambda line: click.echo(line, err=True)
    )
    for row in other_rows(table).drop_duplicates("message").itertuples():
        click.echo(f"{row.status}: {row.workload} on the host, {row.layout}: {row.message}", err=True)


@pipeline.command(context_settings={"ignore_unknown_options": True})
@click.option(
    "--outcome", type=PATH, required=True, help="JSON file to write; files of the command go to its folder."
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def attempt(outcome: Path, command: tuple[str, ...]) -> None:
    """Run a command of tessera; write its outcome to a file, also if it fails, and exit with status 0.

    Example: ./run tessera pipeline attempt --outcome /tmp/table4/outcome.json -- kernel table4
    """
    from tessera.cli.pipeline.failures import attempt as try_it

    found = try_it(list(command), outcome)
    click.echo(f"{found['status']}: {found['command']}", err=True)


@pipeline.command()
@RESULTS
@click.option(
    "--reserve", is_flag=True, help="Also drop runs that lacked huge pages (for the next ./run --reserve)."
)
@click.option("--dry-run", is_flag=True, help="Only print the failures that would be dropped.")
def retry(results: Path, reserve: bool, dry_run: bool) -> None:
    """Drop failures, so that the next `snakemake` runs their jobs again; `./run` does this itself.

    Prints each failed file and the reason. Removes all outputs of failed jobs, and the report. Finished cells
    stay in the cache.

    Example: ./run tessera pipeline retry --results results/default --dry-run
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


@pipeline.command()
@RESULTS
def unlock(results: Path) -> None:
    """Remove the lock of a run that was killed on another machine (docs/pipeline.md).

    The lock of a run that was killed on this machine is removed by the next run.

    Example: ./run tessera pipeline unlock --results results/default
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


# ``tessera pipeline machines``: bundles of real machines take part in a run.


@pipeline.command()
@click.argument("bundles", metavar="[BUNDLE]...", nargs=-1)
@click.option("--out", type=PATH, help="JSON file to write; the measured cells go to its folder.")
@click.option("--check", is_flag=True, help="Only download and verify the bundles, and print their paths.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the folds.")
@click.option("--orders", type=click.IntRange(min=1), default=10, show_default=True,
              help="Random orders of layouts, for claims about adaptive orders.")  # fmt: skip
def machines(bundles: tuple[str, ...], out: Path | None, check: bool, seed: int, orders: int) -> None:
    """Verify bundles, write their cells as a results tree of their own, and fit models to them.

    A bundle that fails a check, or is a rehearsal, ends the command with its name. A bundle that is barred
    is kept for the report, and its cells decide no claim. BUNDLE is a folder or a zip file; with --check also
    a DOI of bundles/index.csv.

    Example: ./run tessera pipeline machines --out /tmp/machines/bundles.json
    """
    from tessera.cli.pipeline.bundles import accepted, doi_of, located, take_part
    from tessera.core.progress import download_progress
    from tessera.measure.bundles.store import default_folder

    if check == (out is not None):
        raise TesseraError(
            "pipeline machines", "it needs --out or --check, one of them", "add --out FILE, or --check"
        )
    if out is not None and (dois := [doi for word in bundles if (doi := doi_of(word))]):
        raise TesseraError(
            f"bundle {dois[0]}", "a step of a run downloads nothing",
            f"tessera bundle fetch {dois[0]} downloads it and prints its path: name this path",
            code="bundle-doi",
        )  # fmt: skip

    def say(text: str) -> None:
        click.echo(text, err=True)

    with download_progress() as progress:
        paths = located(bundles, default_folder(), progress=progress)
    entries = accepted(paths) if check else take_part(paths, out, seed=seed, orders=orders, say=say)
    for entry in entries:
        decides = "its cells decide claims" if not entry.bars else f"barred: {'; '.join(entry.bars)}"
        say(f"bundle {entry.identity}: all checks pass; {decides}")
    for path in paths if check else ():
        click.echo(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
