"""``tessera mosalloc analyze``: how a program uses its memory over time."""

from __future__ import annotations

import shlex
import sys
import tempfile
from pathlib import Path

import click

_PATH = click.Path(path_type=Path)


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--layout", type=_PATH, help="Layout CSV.  [default: only 4KB pages]")
@click.option("--interval-ms", type=click.IntRange(1), default=10, show_default=True,
              help="Time between samples in milliseconds.")  # fmt: skip
@click.option("--out", type=_PATH, required=True, help="JSON file to write.")
@click.option("--plot", type=_PATH, help="Picture of the footprint over time to write (.svg or .png).")
@click.option("--hints", type=click.Choice(("kernel", "pool")), help="As for: tessera mosalloc run.")
@click.option("--stacks", type=click.Choice(("kernel", "pool")), help="As for: tessera mosalloc run.")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def analyze(program, layout: Path | None, interval_ms: int, out: Path, plot: Path | None, **options) -> None:
    """Run PROGRAM; report how its pools fill, its memory calls, and its memory outside the pools.

    Prints the summary to standard error, because PROGRAM uses standard output. Returns the exit status of
    PROGRAM.

    \b
    Example:
      ./run tessera mosalloc analyze --out memory.json --plot memory.svg -- git log --stat
    """
    from tessera.core.files import check_target
    from tessera.layouts.model import Layout, write_layout
    from tessera.mosalloc.analyze import read_analysis
    from tessera.mosalloc.analyze.summary import summary
    from tessera.mosalloc.runner import run_under_layout

    if plot is not None:
        from tessera.mosalloc.analyze.plot import check_format

        check_format(plot)
        check_target(plot)
    check_target(out)
    out.absolute().parent.mkdir(parents=True, exist_ok=True)
    out.unlink(missing_ok=True)  # so that no result of an earlier run stays
    with tempfile.TemporaryDirectory(prefix="tessera-analyze-") as name:
        if layout is None:
            layout = Path(name) / "growing-0.csv"
            write_layout(Layout(layout.stem, {}), layout)
        done = run_under_layout(
            program, layout, analyze=out, interval_ms=interval_ms, then_raise=False, **options
        )
    if done.returncode == 2 and not out.exists():
        sys.exit(2)  # the launcher rejected the request and printed why
    found = read_analysis(out)
    for line in summary(found):
        click.echo(line, err=True)
    click.echo(f"analysis -> {out}", err=True)
    if plot is not None:
        from tessera.mosalloc.analyze.plot import plot as draw

        draw(found, plot, f"Memory of {shlex.join(program)[:80]}")
        click.echo(f"plot -> {plot}", err=True)
    sys.exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)
