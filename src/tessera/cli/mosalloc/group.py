"""``tessera mosalloc``: run a program under a layout; check and reserve layouts, analyze a program."""

from __future__ import annotations

import shlex
import sys
import tempfile
from pathlib import Path

import click

from tessera.cli import options
from tessera.cli.lazy import OldNamesGroup, ProgramCommand
from tessera.cli.mosalloc.suggest import suggest
from tessera.cli.options import PATH
from tessera.core.errors import EXIT_FAILED, TesseraError


@click.group(cls=OldNamesGroup)
def mosalloc() -> None:
    """Run programs under a layout (mosaic of page sizes); reserve and suggest huge pages.

    Example: ./run tessera mosalloc run --layout examples/all-4kb.csv -- ls
    """


mosalloc.add_command(suggest)


# ``tessera mosalloc run``: runs a program under a layout.


@mosalloc.command(cls=ProgramCommand)
@options.layout("Layout CSV.", required=True, type=PATH)
@click.option("--report", type=PATH, help="JSON file to write: requested and found page sizes.")
@options.target
@click.option("--allow-fallback", is_flag=True, help="Use 4KB pages if huge pages are missing.")
@click.option("--prefault/--no-prefault", default=True, show_default=True,
              help="Allocate the pages of windows before the program starts, or on demand.")  # fmt: skip
@options.hints
@options.stacks
@click.option("--protections", type=click.Choice(("guards", "soft", "exact")),
              help="Protections for which a huge page is split.  [default: guards]")  # fmt: skip
@click.option("--verbose", is_flag=True, help="Print the addresses of the pools.")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def run(program: tuple[str, ...], layout: Path, **asked) -> None:
    """Run PROGRAM on this machine under a layout.

    When PROGRAM ends, checks the page sizes that the kernel used. Returns the exit status of PROGRAM; 2 if
    the request is wrong or huge pages are missing; 1 if the page sizes differ from the layout.

    \b
    Example:
      ./run tessera mosalloc run --layout examples/all-4kb.csv -- ls
    """
    from tessera.measure.mosalloc.launcher import become_launcher

    become_launcher(program, layout, **asked)


# ``tessera mosalloc check``: checks a layout file, and whether its huge pages are free.


@mosalloc.command()
@click.argument("file", type=click.Path(path_type=Path))
def check(file: Path) -> None:
    """Check layout FILE, and whether this machine has enough free huge pages for it.

    Exit status 1 if it does not.

    Example: ./run tessera mosalloc check examples/hot-64mb.csv
    """
    from tessera.core.layouts.layout import read_layout
    from tessera.core.units import PAGE_1GB, PAGE_2MB, format_bytes
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
    from tessera.measure.mosalloc.memory_needs import DEFAULT_POOL_BYTES

    for window in layout.windows:
        size = layout.pool_bytes.get(window.pool, DEFAULT_POOL_BYTES.get(window.pool, 0))
        if window.page_bytes != PAGE_4KB and window.end > size:
            raise TesseraError(
                f"layout {file}, window {window.pool} {window.start}-{window.end}",
                f"the pool has {format_bytes(size)}, the default for layouts without a size row"
                " [allocator/default-pool]",
                f"add a row: {window.pool},-1,0,{window.end}",
            )


# ``tessera mosalloc analyze``: how a program uses its memory over time.


@mosalloc.command(cls=ProgramCommand)
@options.layout("Layout CSV.  [default: only 4KB pages]", type=PATH)
@click.option("--interval-ms", type=click.IntRange(1), default=10, show_default=True,
              help="Time between samples in milliseconds.")  # fmt: skip
@options.out("JSON file to write.")
@click.option("--plot", type=PATH, help="Picture of the footprint over time to write (.svg or .png).")
@options.hints
@options.stacks
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def analyze(program, layout: Path | None, interval_ms: int, out: Path, plot: Path | None, **asked) -> None:
    """Run PROGRAM; report how its pools fill, its memory calls, and its memory outside the pools.

    Prints the summary to standard error, because PROGRAM uses standard output. Returns the exit status of
    PROGRAM.

    \b
    Example:
      ./run tessera mosalloc analyze --out memory.json --plot memory.svg -- git log --stat
    """
    from tessera.core.files import check_target
    from tessera.core.layouts.layout import Layout, write_layout
    from tessera.measure.mosalloc.analysis import analysis_lines, read_analysis
    from tessera.measure.mosalloc.launcher import run_under_layout

    if plot is not None:
        from tessera.measure.mosalloc.analysis import check_plot_format

        check_plot_format(plot)
        check_target(plot)
    check_target(out)
    out.absolute().parent.mkdir(parents=True, exist_ok=True)
    out.unlink(missing_ok=True)  # so that no result of an earlier run stays
    with tempfile.TemporaryDirectory(prefix="tessera-analyze-") as name:
        if layout is None:
            layout = Path(name) / "growing-0.csv"
            write_layout(Layout(layout.stem, {}), layout)
        done = run_under_layout(
            program, layout, analyze=out, interval_ms=interval_ms, then_raise=False, **asked
        )
    if done.returncode == 2 and not out.exists():
        sys.exit(2)  # the launcher rejected the request and printed why
    found = read_analysis(out)
    for line in analysis_lines(found):
        click.echo(line, err=True)
    click.echo(f"analysis -> {out}", err=True)
    if plot is not None:
        from tessera.measure.mosalloc.analysis import plot as draw

        draw(found, plot, f"Memory of {shlex.join(program)[:80]}")
        click.echo(f"plot -> {plot}", err=True)
    sys.exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)


# ``tessera mosalloc reserve``: reserves the huge pages of a layout, for one run or until --release.


@mosalloc.command(cls=ProgramCommand)
@options.layout("Layout CSV whose huge pages to reserve.", type=PATH)
@click.option("--node", default="all", show_default=True, help="NUMA node of the pages, or `all`.")
@options.yes
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
    from tessera.core.layouts.layout import read_layout
    from tessera.core.units import PAGE_1GB, PAGE_2MB
    from tessera.machine.reserve import require_room
    from tessera.measure.mosalloc.memory_needs import may_add_pages, page_needs

    chosen = _node_number(node)
    found = read_layout(layout)
    wanted = page_needs(found, chosen)
    missing = _print_page_needs(layout, wanted)
    if dry_run:
        return
    for need in wanted:
        require_room(need.page_bytes, need.pages)
    permitted = bool(missing) and may_add_pages(yes, f"add {missing} huge pages now?")
    counts = (found.pages(PAGE_2MB), found.pages(PAGE_1GB))
    if program:
        sys.exit(_hold(program, layout, counts, chosen, permitted))
    _keep(counts, chosen, permitted)


def _node_number(text: str) -> int | None:
    if text == "all":
        return None
    if not text.isdigit():
        raise TesseraError(
            f"--node {text}", "neither a number nor `all`", "tessera mosalloc reserve --node 0"
        )
    return int(text)


def _print_page_needs(layout: Path, found: list) -> int:
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
    from tessera.measure.mosalloc.launcher import run_under_layout

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
