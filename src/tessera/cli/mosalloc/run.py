"""``tessera mosalloc run``: runs a program under a layout."""

from __future__ import annotations

from pathlib import Path

import click

_PATH = click.Path(path_type=Path)


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--layout", required=True, type=_PATH, help="Layout CSV.")
@click.option("--report", type=_PATH, help="JSON file to write: requested and found page sizes.")
@click.option("--target", help="Executable that gets the layout, if PROGRAM is a script that starts it.")
@click.option("--allow-fallback", is_flag=True, help="Use 4KB pages if huge pages are missing.")
@click.option("--prefault/--no-prefault", default=True, show_default=True,
              help="Allocate the pages of windows before the program starts, or on demand.")  # fmt: skip
@click.option("--hints", type=click.Choice(("kernel", "pool")),
              help="Who places memory that is requested at an address.  [default: kernel]")  # fmt: skip
@click.option("--stacks", type=click.Choice(("kernel", "pool")),
              help="Where to place stacks of threads.  [default: kernel]")  # fmt: skip
@click.option("--protections", type=click.Choice(("guards", "soft", "exact")),
              help="Protections for which a huge page is split.  [default: guards]")  # fmt: skip
@click.option("--verbose", is_flag=True, help="Print the addresses of the pools.")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def run(program: tuple[str, ...], layout: Path, **options) -> None:
    """Run PROGRAM on this machine under a layout.

    When PROGRAM ends, checks the page sizes that the kernel used. Returns the exit status of PROGRAM; 2 if
    the request is wrong or huge pages are missing; 1 if the page sizes differ from the layout.

    \b
    Example:
      ./run tessera mosalloc run --layout examples/all-4kb.csv -- ls
    """
    from tessera.mosalloc.runner import become_launcher

    become_launcher(program, layout, **options)
