"""``tessera mosalloc programs``: well-known programs under every kind of mosaic."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from tessera.core.errors import EXIT_FAILED

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--layout", "layouts", multiple=True, help="4kb, 2mb or mixed; all without. May be repeated.")
@click.option("--out", type=_PATH, help="Write the table as CSV.")
@click.option("--launcher", type=_PATH, help="mosalloc-run to test; the checkout's own without.")
@click.option("--list", "only_list", is_flag=True, help="Show the programs and end.")
def programs(
    names: tuple[str, ...], layouts: tuple[str, ...], out: Path | None, launcher: Path | None, only_list: bool
) -> None:
    """Run well-known programs under mosaics: all of them, or those named.

    A run passes when the program's own check passes, its answer equals that of a plain run, and its pages are
    the pages asked for. The programs come from an image of their own, which is built at first use; with
    TESSERA_ENGINE=none they are this machine's. Exit status 1 if one fails. Example:

    \b
      ./run --reserve tessera mosalloc programs redis sqlite3 --layout mixed
    """
    from tessera.allocator_proof.programs import table
    from tessera.allocator_proof.programs.model import FAIL
    from tessera.allocator_proof.programs.mosaics import LAYOUTS
    from tessera.allocator_proof.programs.registry import PROGRAMS, program
    from tessera.allocator_proof.programs.session import Session
    from tessera.core.errors import unknown_name
    from tessera.core.tables import print_table
    from tessera.machine.container.engine import DOCKER, engine_name
    from tessera.machine.container.images import ensure_programs_image

    if only_list:
        print_table((), [(row.name, row.what) for row in PROGRAMS.values()])
        return
    chosen = [program(name) for name in dict.fromkeys(names)] or list(PROGRAMS.values())
    for layout in layouts:
        if layout not in LAYOUTS:
            raise unknown_name("layout", layout, LAYOUTS)
    if engine_name() == DOCKER:
        ensure_programs_image(lambda text: click.echo(f"tessera mosalloc programs: {text}", err=True))
    started = time.monotonic()
    session = Session(launcher=None if launcher is None else launcher.absolute())
    outcomes = []
    for outcome in session.run(chosen, layouts or LAYOUTS):
        outcomes.append(outcome)
        click.echo(table.details(outcome) if outcome.verdict == FAIL else table.line(outcome), err=True)
    click.echo(table.text(outcomes))
    for note in session.notes:
        click.echo(f"note: {note}")
    click.echo(f"{time.monotonic() - started:.0f} s in all")
    if out is not None:
        table.write_csv(outcomes, out)
    if any(outcome.verdict == FAIL for outcome in outcomes):
        sys.exit(EXIT_FAILED)
