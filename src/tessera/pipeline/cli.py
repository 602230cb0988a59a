"""``tessera pipeline``: the workflow's steps. Each exits 0 with failures written as rows."""

from __future__ import annotations

from pathlib import Path

import click

PATH = click.Path(path_type=Path)


@click.group()
def pipeline() -> None:
    """The workflow's own steps; use ./run reproduce, or the other commands by hand."""


@pipeline.command()
@click.option("--workload", required=True)
@click.option("--size", required=True)
@click.option("--max-accesses", type=int)
@click.option("--out", type=PATH, required=True, help="info.json; trace.tst lies beside it")
def record(workload: str, size: str, max_accesses: int | None, out: Path) -> None:
    """Record a workload's trace."""
    from tessera.pipeline.record import record_workload

    info = record_workload(workload, size, max_accesses, out)
    if info["status"] != "ok":
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
    from tessera.pipeline.links import make_layouts

    make_layouts(info, platform, seed, random_count, out)


@pipeline.command()
@click.option("--manifest", type=PATH, required=True)
@click.option("--names", required=True, help="comma-separated")
@click.option("--out", type=PATH, required=True)
def select(manifest: Path, names: str, out: Path) -> None:
    """Copy some layouts of a folder."""
    from tessera.pipeline.links import select_layouts

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
    from tessera.pipeline.links import simulate_cells
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
    for row in table[table.status == "failed"].drop_duplicates("message").itertuples():
        click.echo(f"failed: {row.workload}, {row.platform}, {row.layout}: {row.message}", err=True)


@pipeline.command()
@click.argument("parts", nargs=-1, type=PATH, required=True)
@click.option("--out", type=PATH, required=True)
def concat(parts: tuple[Path, ...], out: Path) -> None:
    """Collect cells files in one table."""
    from tessera.pipeline.links import concat_cells

    concat_cells(list(parts), out)


@pipeline.command()
@click.option("--cells", "cells_path", type=PATH, required=True)
@click.option("--seed", type=int, required=True)
@click.option("--out", type=PATH, required=True, help="errors.csv; the other tables lie beside it")
def fit(cells_path: Path, seed: int, out: Path) -> None:
    """Fit and cross-validate every model."""
    from tessera.pipeline.fit import fit_cells

    if reason := fit_cells(cells_path, seed, out):
        click.echo(f"not fitted: {out.parent}: {reason}", err=True)


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
    from tessera.host.rounds import Rule
    from tessera.pipeline.host import host_cells

    rule = Rule(half_width, max_repeats=max_repeats, max_minutes=max_minutes)
    table = host_cells(
        workload, size, manifest, simulated, rule, seed, out, lambda line: click.echo(line, err=True)
    )
    for row in table[table.status != "ok"].drop_duplicates("message").itertuples():
        click.echo(f"{row.status}: {row.workload} on the host, {row.layout}: {row.message}", err=True)
