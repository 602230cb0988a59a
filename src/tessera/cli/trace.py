"""``tessera trace``: record, inspect, check and convert memory traces."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tessera.core.units import format_bytes
from tessera.record import traces
from tessera.record.traces.convert import describe
from tessera.record.traces.options import ROI_FORMS
from tessera.record.traces.switch import Switch

_PATH = click.Path(path_type=Path)


@click.group()
def trace() -> None:
    """Record, inspect and import memory traces."""


@trace.command(context_settings={"ignore_unknown_options": True})
@click.option("--out", required=True, type=_PATH, help="The trace to write.")
@click.option("--pool-size", default="1GB", show_default=True, help="Size of each pool.")
@click.option("--heap-pool", help="Size of the heap pool, if not --pool-size.")
@click.option("--anon-pool", help="Size of the anonymous pool, if not --pool-size.")
@click.option("--max-accesses", type=int, help="Stop recording there; the program runs on to its end.")
@click.option("--stop-when-recorded", is_flag=True, help="End the program at --max-accesses (unverified).")
@click.option("--roi", default="auto", show_default=True, help=f"What to record: {', '.join(ROI_FORMS)}.")
@click.option("--threads", is_flag=True, help="The program starts threads; one of them is recorded.")
@click.option("--thread", default="first", show_default=True, help="Which: first, busiest, or a number.")
@click.option(
    "--kernel-accesses",
    type=click.Choice(["on", "off"]),
    default="off",
    show_default=True,
    help="Record what system calls read and write of the program's memory.",
)
@click.option("--folder", type=_PATH, help="Working folder of the program.")
@click.option("--target", help="The executable to record, if PROGRAM is a script that starts it.")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def record(out, pool_size, heap_pool, anon_pool, max_accesses, kernel_accesses, program, **options) -> None:
    """Record the region of interest of PROGRAM with its arguments (after ``--``)."""
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


@trace.command()
@click.argument("path", type=_PATH)
@click.option("--json", "as_json", is_flag=True, help="The header as JSON, without reading the frames.")
def info(path: Path, as_json: bool) -> None:
    """Describe a trace; without --json every frame is checked."""
    if as_json:
        click.echo(json.dumps(traces.info(path), indent=1))
    else:
        traces.info(path)
        click.echo(describe(path), nl=False)


@trace.command()
@click.argument("path", type=_PATH)
def verify(path: Path) -> None:
    """Check every frame of a trace."""
    click.echo(traces.verify(path), nl=False)


@trace.command("import")
@click.argument("source", type=_PATH)
@click.option("--from", "kind", type=click.Choice(["champsim"]), required=True, help="Format of SOURCE.")
@click.option("--out", required=True, type=_PATH, help="The trace to write.")
@click.option("--mmap-pool", metavar="START:END", help="Addresses of the anonymous pool (0x... or decimal).")
@click.option("--brk-pool", metavar="START:END", help="Addresses of the heap pool.")
@click.option("--max-accesses", type=int, help="Read no further than this many accesses.")
def import_(source: Path, kind: str, out: Path, mmap_pool, brk_pool, max_accesses) -> None:
    """Convert SOURCE (.xz, .gz, .bz2 or plain) to a trace."""
    traces.import_champsim(source, out, mmap_pool=mmap_pool, brk_pool=brk_pool, max_accesses=max_accesses)


@trace.command("export")
@click.argument("path", type=_PATH)
@click.option("--to", "kind", type=click.Choice(["champsim"]), required=True, help="Format to write.")
@click.option("--out", required=True, type=_PATH, help="The file to write.")
def export(path: Path, kind: str, out: Path) -> None:
    """Convert a trace to another simulator's format."""
    traces.export_champsim(path, out)


@trace.command()
@click.argument("path", metavar="FILE", type=_PATH)
@click.argument("state", type=click.Choice(["on", "off"]))
def switch(path: Path, state: str) -> None:
    """Turn a recording with ``--roi switch:FILE`` on or off; makes FILE if it is missing."""
    control = Switch.existing(path) if path.exists() else Switch(path)
    (control.on if state == "on" else control.off)()
