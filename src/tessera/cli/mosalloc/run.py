"""``tessera mosalloc run``: a program under a layout."""

from __future__ import annotations

import sys
from pathlib import Path

import click

_PATH = click.Path(path_type=Path)


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--layout", required=True, type=_PATH, help="Layout CSV: which pages go where.")
@click.option("--report", type=_PATH, help="Write what was asked and found, as JSON.")
@click.option("--target", help="Executable that gets the layout, when PROGRAM is a script that starts it.")
@click.option("--allow-fallback", is_flag=True, help="Go on with 4KB pages where huge ones are missing.")
@click.option("--prefault/--no-prefault", default=True, show_default=True,
              help="Fault windows in first, or let them grow on demand.")  # fmt: skip
@click.option("--hints", type=click.Choice(("kernel", "pool")),
              help="Who gets memory that the program asks for at an address.  [default: kernel]")  # fmt: skip
@click.option("--stacks", type=click.Choice(("kernel", "pool")),
              help="Where stacks of threads are.  [default: kernel]")  # fmt: skip
@click.option("--protections", type=click.Choice(("guards", "soft", "exact")),
              help="When a huge page is split to keep protections.  [default: guards]")  # fmt: skip
@click.option("--verbose", is_flag=True, help="Print where the pools are.")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def run(program: tuple[str, ...], layout: Path, **options) -> None:
    """Run PROGRAM on this machine with its memory laid out as LAYOUT says.

    The page sizes that the kernel really used are checked when the program ends. The exit status is the
    program's; 2 if the request is wrong or huge pages are missing, 1 if other pages than asked were found.
    """
    from tessera.mosalloc.runner import run_under_layout as run_under

    sys.exit(run_under(program, layout, **options).returncode)
