"""``tessera mosalloc analyze``: what a program does with its memory, over time."""

from __future__ import annotations

import shlex
import sys
import tempfile
from pathlib import Path

import click

_PATH = click.Path(path_type=Path)


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--layout", type=_PATH, help="Layout CSV.  [default: 4KB pages only]")
@click.option("--interval-ms", type=click.IntRange(1), default=10, show_default=True,
              help="Time between samples.")  # fmt: skip
@click.option("--out", type=_PATH, required=True, help="JSON file to write.")
@click.option("--plot", type=_PATH, help="Draw the footprint over time (.svg or .png).")
@click.option("--hints", type=click.Choice(("kernel", "pool")), help="As for `run`.")
@click.option("--stacks", type=click.Choice(("kernel", "pool")), help="As for `run`.")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def analyze(program, layout: Path | None, interval_ms: int, out: Path, plot: Path | None, **options) -> None:
    """Run PROGRAM, and say how its pools fill, which calls went where, and what lies outside the pools.

    The summary goes to standard error, because standard output is the program's. The exit status is the
    program's.

    \b
    Example:
      tessera mosalloc analyze --out memory.json --plot memory.svg -- git log --stat
    """
    from tessera.layouts.model import Layout, write_layout
    from tessera.mosalloc.analyze import read_analysis
    from tessera.mosalloc.analyze.summary import summary
    from tessera.mosalloc.runner import run_under_layout

    if plot is not None:
        from tessera.mosalloc.analyze.plot import check_format

        check_format(plot)
    out.absolute().parent.mkdir(parents=True, exist_ok=True)
    out.unlink(missing_ok=True)  # an old one must not look like this run's
    with tempfile.TemporaryDirectory(prefix="tessera-analyze-") as name:
        if layout is None:
            layout = Path(name) / "growing-0.csv"
            write_layout(Layout(layout.stem, {}), layout)
        done = run_under_layout(program, layout, analyze=out, interval_ms=interval_ms, **options)
    if done.returncode == 2 and not out.exists():
        sys.exit(2)  # refused: the launcher has said why
    found = read_analysis(out)
    for line in summary(found):
        click.echo(line, err=True)
    click.echo(f"analysis -> {out}", err=True)
    if plot is not None:
        from tessera.mosalloc.analyze.plot import plot as draw

        draw(found, plot, f"Memory of {shlex.join(program)[:80]}")
        click.echo(f"plot -> {plot}", err=True)
    sys.exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)
