"""``tessera mosalloc check``: checks a layout file, and whether its huge pages are free."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.core.errors import EXIT_FAILED, TesseraError


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
def check(file: Path) -> None:
    """Check layout FILE, and whether this machine has enough free huge pages for it.

    Exit status 1 if it does not.

    Example: ./run tessera mosalloc check examples/hot-64mb.csv
    """
    from tessera.core.units import PAGE_1GB, PAGE_2MB, format_bytes
    from tessera.layouts.model import read_layout
    from tessera.machine.reserve import require_room, supported_sizes
    from tessera.machine.reserve.pools import free_in_pool

    layout = read_layout(file)
    _inside_default_pools(file, layout)
    click.echo(f"{file}: ok, {len(layout.windows)} windows")
    missing = []
    for page_bytes in (PAGE_2MB, PAGE_1GB):
        needed = layout.pages(page_bytes)
        if not needed:
            continue
        free = free_in_pool(page_bytes) if page_bytes in supported_sizes() else 0
        click.echo(f"  {needed} pages of {format_bytes(page_bytes)} needed, {free} free on this machine")
        require_room(page_bytes, needed)
        if free < needed:
            missing.append(f"{needed} pages of {format_bytes(page_bytes)}, {free} free")
    if missing:
        raise TesseraError(
            f"huge pages for {file}",
            "; ".join(missing),
            f"reserve them: ./run tessera mosalloc reserve --layout {file}",
            exit_code=EXIT_FAILED,
        )


def _inside_default_pools(file: Path, layout) -> None:
    from tessera.core.units import PAGE_4KB, format_bytes
    from tessera.mosalloc.defaults import DEFAULT_POOL_BYTES

    for window in layout.windows:
        size = layout.pool_bytes.get(window.pool, DEFAULT_POOL_BYTES.get(window.pool, 0))
        if window.page_bytes != PAGE_4KB and window.end > size:
            raise TesseraError(
                f"layout {file}, window {window.pool} {window.start}-{window.end}",
                f"the pool has {format_bytes(size)}, the default for layouts without a size row"
                " [allocator/default-pool]",
                f"add a row: {window.pool},-1,0,{window.end}",
            )
