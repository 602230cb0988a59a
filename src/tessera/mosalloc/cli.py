"""``tessera mosalloc``: run a program under a mosaic of page sizes; check a layout."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tessera.errors import EXIT_FAILED, TesseraError

_LAYOUT = click.Path(path_type=Path)


@click.group()
def mosalloc() -> None:
    """Run a program under a mosaic of page sizes."""


@mosalloc.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--layout", required=True, type=_LAYOUT, help="Layout CSV: which pages go where.")
@click.option("--report", type=_LAYOUT, help="Write what was asked and found, as JSON.")
@click.option("--target", help="Executable that gets the layout, when PROGRAM is a script that starts it.")
@click.option("--allow-fallback", is_flag=True, help="Go on with 4KB pages where huge ones are missing.")
@click.option("--prefault/--no-prefault", default=True, show_default=True, help="Fault windows in first.")
@click.option("--verbose", is_flag=True, help="Print where the pools are.")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def run(program: tuple[str, ...], layout: Path, **options) -> None:
    """Run PROGRAM on this machine with its memory laid out as LAYOUT says.

    The page sizes that the kernel really used are checked when the program ends. The exit status is the
    program's; 2 if the request is wrong or huge pages are missing, 1 if other pages than asked were found.
    """
    from tessera.mosalloc.runner import run as run_under

    sys.exit(run_under(program, layout, **options).returncode)


@mosalloc.command()
@click.argument("file", type=_LAYOUT)
def check(file: Path) -> None:
    """Validate layout FILE and say whether this machine has the huge pages it needs."""
    from tessera.layouts.model import read_layout
    from tessera.reserve import huge_pages_free, supported_sizes
    from tessera.units import PAGE_1GB, PAGE_2MB, format_bytes

    layout = read_layout(file)
    _inside_default_pools(file, layout)
    click.echo(f"{file}: ok, {len(layout.windows)} windows")
    missing = []
    for page_bytes in (PAGE_2MB, PAGE_1GB):
        needed = layout.pages(page_bytes)
        if not needed:
            continue
        free = huge_pages_free(page_bytes) if page_bytes in supported_sizes() else 0
        click.echo(f"  {needed} pages of {format_bytes(page_bytes)} needed, {free} free on this machine")
        if free < needed:
            missing.append(f"{needed} pages of {format_bytes(page_bytes)}, {free} free")
    if missing:
        raise TesseraError(
            f"huge pages for {file}",
            "; ".join(missing),
            "reserve them: ./run --reserve ..., or as root: sysctl vm.nr_hugepages=N",
            exit_code=EXIT_FAILED,
        )


def _inside_default_pools(file: Path, layout) -> None:
    from tessera.mosalloc.defaults import DEFAULT_POOL_BYTES
    from tessera.units import format_bytes

    for window in layout.windows:
        size = layout.pool_bytes.get(window.pool, DEFAULT_POOL_BYTES.get(window.pool, 0))
        if window.pool in DEFAULT_POOL_BYTES and window.end > size:
            raise TesseraError(
                f"layout {file}, window {window.pool} {window.start}-{window.end}",
                f"the pool has {format_bytes(size)}, which is the default without a size row",
                f"add a row: {window.pool},-1,0,{window.end}",
            )
