"""``tessera mosalloc reserve``: reserves the huge pages of a layout, for one run or until --release."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tessera.core.errors import TesseraError


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--layout", type=click.Path(path_type=Path), help="Layout CSV whose huge pages to reserve.")
@click.option("--node", default="all", show_default=True, help="NUMA node of the pages, or `all`.")
@click.option("--yes", is_flag=True, help="Don't ask for permission (as TESSERA_RESERVE=1).")
@click.option(
    "--dry-run", is_flag=True, help="Only print the pages needed and the commands that reserve them."
)
@click.option(
    "--release", is_flag=True, help="Release the pages that earlier calls without PROGRAM reserved."
)
@click.argument("program", nargs=-1, type=click.UNPROCESSED)
def reserve(program, layout: Path | None, node: str, yes: bool, dry_run: bool, release: bool) -> None:
    """Reserve the huge pages that a layout needs, and check that they are free. Needs root.

    With PROGRAM (after `--`): runs it under the layout, releases the pages when it ends for any reason, and
    returns its exit status. Without PROGRAM: the pages stay reserved until --release or a reboot.

    \b
    Example:
      ./run tessera mosalloc reserve --layout hot.csv -- redis-server --save ''
    """
    if release:
        _release(program, layout)
        return
    if layout is None:
        raise TesseraError("--layout", "not given", "tessera mosalloc reserve --layout L.csv")
    from tessera.core.units import PAGE_1GB, PAGE_2MB
    from tessera.layouts.model import read_layout
    from tessera.machine.reserve import require_room
    from tessera.mosalloc.consent import allowed
    from tessera.mosalloc.reserve import needs

    chosen = _node(node)
    found = read_layout(layout)
    wanted = needs(found, chosen)
    missing = _say(layout, wanted)
    if dry_run:
        return
    for need in wanted:
        require_room(need.page_bytes, need.pages)
    permitted = bool(missing) and allowed(yes, f"add {missing} huge pages now?")
    counts = (found.pages(PAGE_2MB), found.pages(PAGE_1GB))
    if program:
        sys.exit(_hold(program, layout, counts, chosen, permitted))
    _keep(counts, chosen, permitted)


def _node(text: str) -> int | None:
    if text == "all":
        return None
    if not text.isdigit():
        raise TesseraError(
            f"--node {text}", "neither a number nor `all`", "tessera mosalloc reserve --node 0"
        )
    return int(text)


def _say(layout: Path, found: list) -> int:
    """Print needs and commands; returns the number of missing pages."""
    if not found:
        click.echo(f"{layout}: needs no huge pages")
    for need in found:
        click.echo(need.sentence())
        if need.missing:
            click.echo(f"  by hand: {need.command}")
        if need.forbidden:
            click.echo(f"  {need.forbidden}: {need.room.remedy(need.pages, need.page_bytes)}")
    return sum(need.missing for need in found)


def _hold(program, layout: Path, counts, node: int | None, permitted: bool) -> int:
    from tessera.machine.reserve import reserve_huge_pages
    from tessera.mosalloc.runner import run_under_layout

    with reserve_huge_pages(*counts, node=node, allowed=permitted):
        status = run_under_layout(program, layout, then_raise=False).returncode
    return status if status >= 0 else 128 - status


def _keep(counts, node: int | None, permitted: bool) -> None:
    from tessera.core.units import PAGE_1GB, PAGE_2MB, format_bytes
    from tessera.machine.reserve import huge_pages_free, keep_huge_pages

    added = keep_huge_pages(*counts, node=node, allowed=permitted)
    chosen = () if node is None else (node,)
    for page_bytes, needed in zip((PAGE_2MB, PAGE_1GB), counts, strict=True):
        if needed:
            free = huge_pages_free(page_bytes, *chosen)
            click.echo(
                f"verified: {free} {format_bytes(page_bytes)} pages are free, {needed} needed, "
                f"{added.get(page_bytes, 0)} added"
            )
    if added:
        click.echo("they stay until: tessera mosalloc reserve --release")


def _release(program, layout: Path | None) -> None:
    from tessera.core.units import format_bytes
    from tessera.machine.reserve import huge_pages_total, release_kept

    if program or layout:
        raise TesseraError(
            "--release", "it takes neither a layout nor a program", "tessera mosalloc reserve --release"
        )
    returned = release_kept()
    if not returned:
        click.echo("nothing to release: no reservation of this boot was kept")
    for page_bytes, count in sorted(returned.items()):
        total = huge_pages_total(page_bytes)
        click.echo(f"gave {count} {format_bytes(page_bytes)} pages back; {total} are left in the pool")
