"""``tessera mosalloc check``: is a layout well formed, and are its huge pages free here?"""

from __future__ import annotations

from pathlib import Path

import click

from tessera.core.errors import EXIT_FAILED, TesseraError


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
def check(file: Path) -> None:
    """Validate layout FILE and say whether this machine has the huge pages it needs."""
    from tessera.core.units import PAGE_1GB, PAGE_2MB, format_bytes
    from tessera.layouts.model import read_layout
    from tessera.machine.reserve import huge_pages_free, supported_sizes

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
                f"the pool has {format_bytes(size)}, which is the default without a size row"
                " [allocator/default-pool]",
                f"add a row: {window.pool},-1,0,{window.end}",
            )
