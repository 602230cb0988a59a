"""``tessera simulate``: H, M, C (and R) of a trace under every layout, on one or more platforms."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name
from tessera.core.files import check_target, write_csv
from tessera.results.status import is_ok
from tessera.simulate.progress import Ticker

__all__ = ["Ticker", "simulate"]
FILE = click.Path(path_type=Path)


@click.command()
@click.option("--trace", type=FILE, help="Trace file (.tst).")
@click.option(
    "--platform",
    "platform_names",
    multiple=True,
    metavar="NAME",
    help="Platform name or YAML file (see --list); may be repeated, or comma-separated.",
)
@click.option(
    "--layouts",
    "layout_words",
    multiple=True,
    metavar="PATH",
    help="Folder of layout CSVs, a file, or a quoted pattern; may be repeated.",
)
@click.option("--out", type=FILE, help="Cells file to write: .csv or .parquet.")
@click.option(
    "--engine",
    default="timing",
    show_default=True,
    help="partial: H, M, C; timing: also R; reference: as timing, by slow and simple code.",
)
@click.option(
    "--intervals",
    type=click.IntRange(1),
    metavar="N",
    help="Compute C and R from N evenly spaced units of the trace.  [default: 20]",
)
@click.option(
    "--warmup",
    type=click.IntRange(0),
    metavar="N",
    help="Accesses before each unit that warm the caches.  [default: 2500000]",
)
@click.option(
    "--timed",
    type=click.IntRange(1),
    metavar="N",
    help="Instructions counted in each unit.  [default: 1000000]",
)
@click.option(
    "--sampling",
    metavar="PLAN",
    help="All three: units=20,warmup_accesses=2500000,timed_instructions=1000000; or full: no sampling.",
)
@click.option(
    "--interval-file",
    type=FILE,
    help="CSV of units: start_access,warmup_accesses,timed_instructions,weight.",
)
@click.option("--interval-out", type=FILE, help="CSV file for the counts of each unit, not scaled.")
@click.option(
    "--threads",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Threads of the simulator; they don't change results.",
)
@click.option("--workload", help="Name in the cells file.  [default: file or folder name of the trace]")
@click.option(
    "--cache", type=FILE, help="Folder of finished cells.  [default: .cache in the folder of --out]"
)
@click.option(
    "--list",
    "listing",
    is_flag=True,
    help="List engines, platforms and the components that a platform file can name.",
)
def simulate(trace, platform_names, layout_words, out, engine, intervals, warmup, timed, sampling,
             interval_file, interval_out, threads, workload, cache, listing) -> None:  # fmt: skip
    """Simulate a trace under many layouts.

    Writes H (STLB hits), M (STLB misses), C (walk cycles) and R (runtime in cycles) of each cell. H and M are
    exact. C and R are estimates from samples, with a 95% half-width; --sampling full makes them exact.

    The cache keeps finished cells: the same command continues after an interruption. If the simulator rejects
    a layout, its row is `failed` with the reason, the others continue, and the exit status is 1.

    \b
    Examples (trace and layouts: tessera trace record --help, tessera layouts generate --help):
      ./run tessera simulate --trace /tmp/gups.tst --platform haswell-sim --layouts /tmp/layouts \\
          --out /tmp/cells.csv --sampling full
      ./run tessera simulate --trace /tmp/gups.tst --platform haswell-sim,broadwell-sim \\
          --layouts '/tmp/layouts/growing-*.csv' --engine partial --threads 2 --out /tmp/two.parquet
    """
    from tessera.record.traces import info as trace_info
    from tessera.results import cells
    from tessera.simulate.inputs import find_layouts
    from tessera.simulate.plan import ENGINES, plan_of

    if listing:
        from tessera.simulate.listing import listing_text

        click.echo(listing_text(), nl=False)
        return
    needed = {"--trace": trace, "--platform": platform_names, "--layouts": layout_words, "--out": out}
    if missing := [name for name, value in needed.items() if not value]:
        raise click.UsageError(f"missing {', '.join(missing)}")
    if engine not in ENGINES:
        raise unknown_name("engine", engine, tuple(ENGINES))
    cells.check_format(out)
    plan = plan_of(sampling, intervals, warmup, timed, interval_file)
    trace_info(trace)
    layouts = find_layouts(layout_words)
    kept = cache or out.parent / ".cache"
    named = [Path(name) for word in platform_names for name in word.split(",")]
    inputs = [trace, *layouts, *named, *([interval_file] if interval_file else [])]
    _check_outputs({"--out": out, "--interval-out": interval_out}, inputs, kept)
    label = workload or _label(trace)
    rows, units = _simulate_all(
        trace, _platforms(platform_names), layouts, label, engine, plan, kept, threads
    )
    cells.write_cells(rows, out)
    if interval_out:
        _write_units(units, interval_out)
    failed = [row for row in rows if not is_ok(row)]
    click.echo(f"{len(rows) - len(failed)} cells ok, {len(failed)} failed -> {out}")
    for row in failed:
        click.echo(f"failed: {row['platform']}, {row['layout']}: {row['message']}", err=True)
    if failed:
        sys.exit(EXIT_FAILED)


def _label(trace: Path) -> str:
    path = trace.absolute()
    return path.parent.name if path.stem == "trace" else path.stem


def _check_outputs(outputs: dict[str, Path | None], inputs: list[Path], cache: Path) -> None:
    """Reject, before the simulation, outputs that can't be written or that another option also names."""
    named = {path.resolve(): f"an input, {path}" for path in inputs if path.is_file()}
    for option, path in outputs.items():
        if path is None:
            continue
        target = check_target(path)
        if target in named:
            raise TesseraError(f"{option} {path}", f"it is {named[target]}", "name another file")
        named[target] = f"the file of {option}"
    check_target(cache / "cell.json")


def _platforms(names: tuple[str, ...]):
    """The platforms, in the given order; naming one twice is an error."""
    from tessera import platforms

    found = [platforms.load(name) for word in names for name in word.split(",")]
    once = {platform.name for platform in found}
    if len(once) < len(found):
        raise TesseraError(f"--platform {','.join(names)}", "a platform is named twice", "name it once")
    return found


def _simulate_all(trace, chosen, layouts, label, engine, plan, cache, threads):
    from tessera.simulate.cache import CellCache
    from tessera.simulate.runner import simulate as run

    rows: list[dict] = []
    units: list[dict] = []
    for platform in chosen:
        ticker = Ticker(f"{label} on {platform.name}")
        try:
            rows += run(
                trace,
                platform,
                layouts,
                workload=label,
                engine=engine,
                sampling=plan,
                cache=CellCache(cache),
                progress=ticker,
                threads=threads,
                units=units,
            )
        finally:
            ticker.close()
    return rows, units


def _write_units(units: list[dict], path: Path) -> None:
    import pandas as pd

    from tessera.simulate.rows import UNIT_COLUMNS

    table = pd.DataFrame(units, columns=["platform", *UNIT_COLUMNS])
    for name in set(UNIT_COLUMNS) - {"layout"}:
        table[name] = table[name].astype("Int64")
    write_csv(table, path)
