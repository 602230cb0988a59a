"""``tessera trace``: record, inspect, check and convert memory traces."""

from __future__ import annotations

import json
from pathlib import Path

import click
from click.core import ParameterSource

from tessera.cli import options
from tessera.cli.lazy import OldNamesGroup, ProgramCommand
from tessera.cli.options import PATH
from tessera.cli.output import say_trace_notes
from tessera.core.units import format_bytes
from tessera.record import traces
from tessera.record.traces.companion import RecordingSwitch
from tessera.record.traces.trace_tool import describe


@click.group(cls=OldNamesGroup)
def trace() -> None:
    """Record, inspect, check and convert memory traces.

    \b
    Example (after: tessera dev build):
      ./run tessera trace record --out /tmp/gups.tst -- build/workloads/gups --size 64MB --reads 1000000
    """


@trace.command(cls=ProgramCommand)
@options.out("Trace file to write (.tst).", required=False)
@click.option(
    "--count", is_flag=True,
    help="Record nothing: print how many data accesses and instructions the region has, as JSON.",
)  # fmt: skip
@options.pools("1GB")
@options.max_accesses("Stop recording after so many accesses; the program continues.")
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
@click.option("--region-accesses", type=int, help="Data accesses of the region, as --count prints them.")
@click.option(
    "--window-span",
    type=click.IntRange(min=1),
    help="Accesses at the beginning of the region that the windows lie in.  [default: --region-accesses]",
)
@options.roi
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
@options.target
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def record(out, count, max_accesses, kernel_accesses, program, **asked) -> None:
    """Record the memory accesses of PROGRAM in its region of interest (ROI), or count them.

    PROGRAM and its arguments follow `--`. It runs under QEMU with 4KB pages. See docs/reference/trace.md.

    \b
    Example (after: tessera dev build):
      ./run tessera trace record --out /tmp/gups.tst -- build/workloads/gups --size 64MB --reads 1000000
      ./run tessera trace record --count -- build/workloads/gups --size 64MB --reads 1000000
    """
    asked["kernel_accesses"] = kernel_accesses == "on"
    if count:
        _count(program, out, max_accesses, asked)
        return
    if out is None:
        raise click.UsageError("give --out FILE, or --count to record nothing")
    done = traces.record_program(program, out, max_accesses=max_accesses, show_stdout=True, **asked)
    found = traces.trace_info(done.trace)
    click.echo(
        f"{found['accesses']} accesses, {found['instructions']} instructions, "
        f"{format_bytes(found['file_bytes'])} -> {done.trace}",
        err=True,
    )


#: Options of ``trace record`` that say what is recorded; a region that is counted has none of them.
_OF_RECORDS = (
    "stop_when_recorded",
    "windows",
    "region_accesses",
    "window_span",
    "threads",
    "thread",
    "events",
)


def _count(program, out: Path | None, max_accesses: int | None, asked: dict) -> None:
    context = click.get_current_context()
    given = [name for name in ("out", "max_accesses", *_OF_RECORDS)
             if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]  # fmt: skip
    if given:
        raise click.UsageError(f"--count records nothing: leave out --{given[0].replace('_', '-')}")
    found = traces.count_accesses(
        program, **{name: value for name, value in asked.items() if name not in _OF_RECORDS}
    )
    click.echo(json.dumps({"accesses": found.accesses, "instructions": found.instructions}))


@trace.command()
@click.argument("path", metavar="TRACE", type=PATH)
@options.as_json("Print only the header, as JSON; don't read the frames.")
@click.option(
    "--events", is_flag=True, help="List the program's calls to memory management, if they are there."
)
@click.option("--csv", is_flag=True, help="With --events: print a CSV table.")
def info(path: Path, as_json: bool, events: bool, csv: bool) -> None:
    """Describe a trace and check every frame; exit status 1 if it is damaged.

    \b
    Example:
      ./run tessera trace record --events --roi whole --kernel-accesses on --out /tmp/e.tst -- /bin/echo hello
      ./run tessera trace info /tmp/e.tst
      ./run tessera trace info --events /tmp/e.tst
    """
    if csv and not events:
        raise click.UsageError("--csv is the form of --events: give both")
    if events:
        click.echo(traces.trace_events(path, csv=csv), nl=False)
        return
    found = traces.trace_info(path)
    if as_json:
        click.echo(json.dumps(found, indent=1))
    else:
        click.echo(f"{describe(path)}all frames are intact")


_format = click.option("--format", "kind", type=click.Choice(["champsim"]), default="champsim",
                       show_default=True, help="Format of the other simulator.")  # fmt: skip


@trace.command("import")
@click.argument("source", type=PATH)
@_format
@options.out("Trace file to write (.tst).")
@click.option("--mmap-pool", metavar="START:END", help="Addresses of the anonymous pool (0x... or decimal).")
@click.option("--brk-pool", metavar="START:END", help="Addresses of the heap pool.")
@options.max_accesses("Stop after this many accesses.  [default: read all]")
def import_(source: Path, kind: str, out: Path, mmap_pool, brk_pool, max_accesses) -> None:
    """Convert SOURCE, a trace of another simulator, to a trace of Tessera.

    SOURCE is plain or compressed with xz, gzip, bzip2 or lzma; unpack archives before. The command prints
    which share of accesses and pages lies outside the pools, where every layout has 4KB pages.

    \b
    Example (the file: tessera trace export --help):
      ./run tessera trace import /tmp/gups.champsim --out /tmp/gups2.tst
    """
    said = traces.import_champsim(
        source, out, mmap_pool=mmap_pool, brk_pool=brk_pool, max_accesses=max_accesses
    )
    click.echo(said, nl=False)


@trace.command("export")
@click.argument("path", type=PATH)
@_format
@options.out("File to write.")
def export(path: Path, kind: str, out: Path) -> None:
    """Convert a trace to the format of another simulator.

    Example: ./run tessera trace export /tmp/gups.tst --out /tmp/gups.champsim
    """
    traces.export_champsim(path, out)
    say_trace_notes(path)


@trace.command()
@click.argument("path", metavar="TRACE", type=PATH)
@options.out("CSV file to write: pool,page,access.")
def touches(path: Path, out: Path) -> None:
    """Write the first access to each 4KB page of the pools, in the order of the accesses.

    `tessera mapping generate --kind demand` gives frames to pages in this order.

    Example (after: tessera trace record): ./run tessera trace touches /tmp/gups.tst --out /tmp/touches.csv
    """
    traces.write_touches(path, out)
    say_trace_notes(path)


@trace.command()
@click.argument("path", metavar="FILE", type=PATH)
@click.argument("state", type=click.Choice(["on", "off"]))
def switch(path: Path, state: str) -> None:
    """Switch a recording with `--roi switch:FILE` on or off; create FILE if it is missing.

    Example: ./run tessera trace switch /tmp/roi.switch off
    """
    control = RecordingSwitch.existing(path) if path.exists() else RecordingSwitch(path)
    (control.on if state == "on" else control.off)()
