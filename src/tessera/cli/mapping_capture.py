"""``tessera mapping capture``: the mapping of a live program."""

from __future__ import annotations

import sys
from pathlib import Path

import click

_PATH = click.Path(path_type=Path)


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--out", required=True, type=_PATH, help="Mapping file to write (CSV); facts go to FILE.json.")
@click.option(
    "--at",
    type=click.Choice(("begin", "end")),
    help="Begin or end of the region of interest. Without markers: end is the program's end.  [default: end]",
)
@click.option(
    "--after-seconds",
    type=click.FloatRange(min=0, min_open=True),
    help="In place of --at: so many seconds after the start.",
)
@click.option(
    "--thp",
    type=click.Choice(("never", "always", "as-is")),
    default="never",
    show_default=True,
    help="Transparent huge pages of PROGRAM; as-is: as the machine's setting says.",
)
@click.option("--pool-size", default="64GB", show_default=True, help="Size of each pool, with unit.")
@click.option("--heap-pool", help="Size of the heap pool.  [default: --pool-size]")
@click.option("--anon-pool", help="Size of the anonymous pool.  [default: --pool-size]")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def capture(out, at, after_seconds, thp, pool_size, heap_pool, anon_pool, program) -> None:
    """Capture the mapping that PROGRAM has on this machine. Needs root.

    PROGRAM runs under libmosalloc, stops at the moment, and then continues to its end. The exit status is
    that of PROGRAM. The settings of this machine are not changed.

    \b
    Example (as root, after: tessera build mosalloc):
      ./run tessera mapping capture --out /tmp/live.csv --after-seconds 1 -- sleep 2
    """
    from tessera.core.units import parse_bytes
    from tessera.mapping.summary import Summary
    from tessera.mosalloc.capture import capture_program, facts_file
    from tessera.mosalloc.stopping import Moment

    if at and after_seconds:
        raise click.UsageError("give either --at or --after-seconds")
    pools = {
        "brk": parse_bytes(heap_pool or pool_size, owner="size of the heap pool"),
        "mmap": parse_bytes(anon_pool or pool_size, owner="size of the anonymous pool"),
    }

    def tell(done) -> None:
        found = Summary.of(done.rows)
        click.echo(
            f"{found.mapped_pages} pages of 4KB in {found.histogram.chunks} chunks, "
            f"{100 * found.share('2MB'):.1f}% of them in 2MB pages -> {out}, {facts_file(out)}",
            err=True,
        )
        if done.facts["zero_pages"]:
            click.echo(f"{done.facts['zero_pages']} pages were only read and have no row", err=True)

    moment = Moment("after", after_seconds) if after_seconds else Moment(at or "end")
    sys.exit(capture_program(program, out, moment, thp=thp, pools=pools, tell=tell).exit_status)
