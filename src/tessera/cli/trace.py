"""``tessera trace``: record, inspect, check and convert memory traces."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tessera.cli.output import say_trace_notes
from tessera.core.units import format_bytes
from tessera.record import traces
from tessera.record.traces.companion import Switch
from tessera.record.traces.options import ROI_FORMS
from tessera.record.traces.trace_tool import describe

PATH = click.Path(path_type=Path)


@click.group()
def trace() -> None:
    """Record, inspect, check and convert memory traces.

    \b
    Example (after: tessera build):
      ./run tessera trace record --out /tmp/gups.tst -- build/workloads/gups --size 64MB --reads 1000000
    """


@trace.command(context_settings={"ignore_unknown_options": True})
@click.option("--out", required=True, type=PATH, help="Trace file to write (.tst).")
@click.option("--pool-size", default="1GB", show_default=True, help="Size of each pool, with unit.")
@click.option("--heap-pool", help="Size of the heap pool.  [default: --pool-size]")
@click.option("--anon-pool", help="Size of the anonymous pool.  [default: --pool-size]")
@click.option(
    "--max-accesses", type=int, help="Stop recording after so many accesses; the program continues."
)
@click.option(
    "--stop-when-recorded",
    is_flag=True,
    help="Stop the program at --max-accesses; its result is not verified.",
)
@click.option(
    "--windows",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Record so many equal parts of --max-accesses, spread over the region; needs --region-accesses.",
)
@click.option(
    "--region-accesses", type=int, help="Data accesses of the region, as `tessera trace count` prints them."
)
@click.option(
    "--window-span",
    type=click.IntRange(min=1),
    help="Accesses at the beginning of the region that the windows lie in.  [default: --region-accesses]",
)
@click.option("--roi", default="auto", show_default=True, help=f"Region to record: {', '.join(ROI_FORMS)}.")
@click.option("--threads", is_flag=True, help="Allow a program with threads; record one of them.")
@click.option(
    "--thread", default="first", show_default=True, help="Thread to record: first, busiest, or a number."
)
@click.option(
    "--kernel-accesses",
    type=click.Choice(["on", "off"]),
    default="off",
    show_default=True,
    help="Record the accesses of system calls to the program's memory.",
)
@click.option("--events", is_flag=True, help="Record the program's calls to memory management, too.")
@click.option("--folder", type=PATH, help="Working folder of the program.")
@click.option("--target", help="Executable to record, if PROGRAM is a script that starts it.")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def record(out, pool_size, heap_pool, anon_pool, max_accesses, kernel_accesses, program, **options) -> None:
    """Record the memory accesses of PROGRAM in its region of interest (ROI).

    PROGRAM and its arguments follow `--`. It runs under QEMU with 4KB pages. See docs/trace.md.

    \b
    Example (after: tessera build):
      ./run tessera trace record --out /tmp/gups.tst -- build/workloads/gups --size 64MB --reads 1000000
    """
    done = traces.record(
        program,
        out,
        heap_pool=heap_pool or pool_size,
        anon_pool=anon_pool or pool_size,
        max_accesses=max_accesses,
        kernel_accesses=kernel_accesses == "on",
        show_stdout=True,
        **options,
    )
    found = traces.info(done.trace)
    click.echo(
        f"{found['accesses']} accesses, {found['instructions']} instructions, "
        f"{format_bytes(found['file_bytes'])} -> {done.trace}",
        err=True,
    )


@trace.command(context_settings={"ignore_unknown_options": True})
@click.option("--pool-size", default="1GB", show_default=True, help="Size of each pool, with unit.")
@click.option("--heap-pool", help="Size of the heap pool.  [default: --pool-size]")
@click.option("--anon-pool", help="Size of the anonymous pool.  [default: --pool-size]")
@click.option(
    "--roi", default="auto", show_default=True, help="Region to count: auto, markers, whole, skip:N."
)
@click.option(
    "--kernel-accesses",
    type=click.Choice(["on", "off"]),
    default="off",
    show_default=True,
    help="Count the accesses of system calls to the program's memory.",
)
@click.option("--folder", type=PATH, help="Working folder of the program.")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def count(pool_size, heap_pool, anon_pool, kernel_accesses, program, **options) -> None:
    """Count the data accesses and the instructions of PROGRAM in its region of interest, as JSON.

    `tessera trace record --region-accesses` takes the first number.

    \b
    Example (after: tessera build):
      ./run tessera trace count -- build/workloads/gups --size 64MB --reads 1000000
    """
    found = traces.count(
        program,
        heap_pool=heap_pool or pool_size,
        anon_pool=anon_pool or pool_size,
        kernel_accesses=kernel_accesses == "on",
        **options,
    )
    click.echo(json.dumps({"accesses": found.accesses, "instructions": found.instructions}))


@trace.command()
@click.argument("path", type=PATH)
@click.option(
    "--json", "as_json", is_flag=True, help="Print only the header, as JSON; don't read the frames."
)
def info(path: Path, as_json: bool) -> None:
    """Describe a trace; without --json, also check every frame.

    Example (after: tessera trace record): ./run tessera trace info /tmp/gups.tst
    """
    if as_json:
        click.echo(json.dumps(traces.info(path), indent=1))
    else:
        traces.info(path)
        click.echo(describe(path), nl=False)


@trace.command()
@click.argument("path", type=PATH)
def verify(path: Path) -> None:
    """Check every frame of a trace; exit status 1 if it is damaged.

    Example (after: tessera trace record): ./run tessera trace verify /tmp/gups.tst
    """
    click.echo(traces.verify(path), nl=False)


@trace.command("import")
@click.argument("source", type=PATH)
@click.option("--from", "kind", type=click.Choice(["champsim"]), required=True, help="Format of SOURCE.")
@click.option("--out", required=True, type=PATH, help="Trace file to write (.tst).")
@click.option("--mmap-pool", metavar="START:END", help="Addresses of the anonymous pool (0x... or decimal).")
@click.option("--brk-pool", metavar="START:END", help="Addresses of the heap pool.")
@click.option("--max-accesses", type=int, help="Stop after this many accesses.  [default: read all]")
def import_(source: Path, kind: str, out: Path, mmap_pool, brk_pool, max_accesses) -> None:
    """Convert SOURCE, a trace of another simulator, to a trace of Tessera.

    SOURCE is plain or compressed with xz, gzip, bzip2 or lzma; unpack archives before. The command prints
    which share of accesses and pages lies outside the pools, where every layout has 4KB pages.

    \b
    Example (the file: tessera trace export --help):
      ./run tessera trace import --from champsim /tmp/gups.champsim --out /tmp/gups2.tst
    """
    said = traces.import_champsim(
        source, out, mmap_pool=mmap_pool, brk_pool=brk_pool, max_accesses=max_accesses
    )
    click.echo(said, nl=False)


@trace.command("export")
@click.argument("path", type=PATH)
@click.option("--to", "kind", type=click.Choice(["champsim"]), required=True, help="Format to write.")
@click.option("--out", required=True, type=PATH, help="File to write.")
def export(path: Path, kind: str, out: Path) -> None:
    """Convert a trace to the format of another simulator.

    Example: ./run tessera trace export --to champsim /tmp/gups.tst --out /tmp/gups.champsim
    """
    traces.export_champsim(path, out)
    say_trace_notes(path)


@trace.command()
@click.argument("path", metavar="TRACE", type=PATH)
@click.option("--out", required=True, type=PATH, help="CSV file to write: pool,page,access.")
def touches(path: Path, out: Path) -> None:
    """Write the first access to each 4KB page of the pools, in the order of the accesses.

    `tessera mapping generate --kind demand` gives frames to pages in this order.

    Example (after: tessera trace record): ./run tessera trace touches /tmp/gups.tst --out /tmp/touches.csv
    """
    traces.touches(path, out)
    say_trace_notes(path)


@trace.command()
@click.argument("path", metavar="TRACE", type=PATH)
@click.option("--csv", is_flag=True, help="Print a CSV table.")
def events(path: Path, csv: bool) -> None:
    """List the program's calls to memory management, of a trace that was recorded with --events.

    \b
    Example:
      ./run tessera trace record --events --roi whole --kernel-accesses on --out /tmp/e.tst -- /bin/echo hello
      ./run tessera trace events /tmp/e.tst
    """
    click.echo(traces.events(path, csv=csv), nl=False)


@trace.command()
@click.argument("path", metavar="FILE", type=PATH)
@click.argument("state", type=click.Choice(["on", "off"]))
def switch(path: Path, state: str) -> None:
    """Switch a recording with `--roi switch:FILE` on or off; create FILE if it is missing.

    Example: ./run tessera trace switch /tmp/roi.switch off
    """
    control = Switch.existing(path) if path.exists() else Switch(path)
    (control.on if state == "on" else control.off)()
