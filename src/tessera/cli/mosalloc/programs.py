"""``tessera mosalloc programs``: well-known programs under several layouts."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from tessera.core.errors import EXIT_FAILED

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--layout", "layouts", multiple=True, help="Layout: 4kb, 2mb or mixed; may be repeated.  [default: all]"
)
@click.option("--out", type=_PATH, help="CSV file to write the table to.")
@click.option("--launcher", type=_PATH, help="mosalloc-run to test.  [default: build/mosalloc/mosalloc-run]")
@click.option("--list", "only_list", is_flag=True, help="List the programs; run none.")
def programs(
    names: tuple[str, ...], layouts: tuple[str, ...], out: Path | None, launcher: Path | None, only_list: bool
) -> None:
    """Run well-known programs under layouts: the NAMEs given, or all.

    A run passes if the program's own check passes, its answer equals that of a run without the library, and
    its pages have the requested sizes. The programs come from an image that is built at first use (1 to 3
    min); with TESSERA_ENGINE=none from this machine. Exit status 1 if a run fails.

    \b
    Example:
      ./run --reserve tessera mosalloc programs redis sqlite3 --layout mixed
    """
    from tessera.allocator_proof.programs import table
    from tessera.allocator_proof.programs.model import FAIL
    from tessera.allocator_proof.programs.mosaics import LAYOUTS
    from tessera.allocator_proof.programs.registry import PROGRAMS, program
    from tessera.allocator_proof.programs.session import Session
    from tessera.core.errors import unknown_name
    from tessera.core.files import check_target
    from tessera.core.tables import print_table
    from tessera.machine.container.engine import NONE, engine_name
    from tessera.machine.container.images import ensure_programs_image

    if only_list:
        print_table((), [(row.name, row.what) for row in PROGRAMS.values()])
        return
    chosen = [program(name) for name in dict.fromkeys(names)] or list(PROGRAMS.values())
    for layout in layouts:
        if layout not in LAYOUTS:
            raise unknown_name("layout", layout, LAYOUTS)
    if out is not None:
        check_target(out)
    if engine_name() != NONE:
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
