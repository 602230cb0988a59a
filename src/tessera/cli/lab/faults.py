"""``tessera lab faults``: what page faults cost, on this machine and in a recorded Linux 6.12."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.cli.lab import guest
from tessera.lab.faults.kinds import KINDS
from tessera.lab.faults.recording import RECORDED

_FOLDER = click.Path(file_okay=False, path_type=Path)


def _say(text: str) -> None:
    click.echo(text, err=True)


@click.group()
def faults() -> None:
    """Measure what page faults cost on this machine; count what Linux does in them (docs/explain/faults.md).

    Example: ./run tessera lab faults measure --out /tmp/faults
    """


@faults.command()
@click.option("--fault", "names", multiple=True, type=click.Choice([kind.name for kind in KINDS]),
              help="Kind of touch; may be repeated.  [default: all]")  # fmt: skip
@click.option("--size", default="128MB", show_default=True, help="Memory of a pass, a multiple of 2MB.")
@click.option(
    "--passes", default=8, show_default=True, type=click.IntRange(3, 1000), help="Passes of a kind."
)
@click.option("--warmup", default=2, show_default=True, type=click.IntRange(0, 100),
              help="First passes, which do not count.")  # fmt: skip
@click.option(
    "--processor", type=click.IntRange(0), help="Processor to use.  [default: the last allowed one]"
)
@click.option("--any-governor", is_flag=True, help="Accept any governor of the processor's frequency.")
@click.option("--series", "keep", type=_FOLDER, help="Folder for the latency of every touch, <kind>.csv.")
@click.option("--out", type=_FOLDER, required=True, help="Results folder; the tables go to its host/.")
def measure(
    names: tuple[str, ...],
    size: str,
    passes: int,
    warmup: int,
    processor: int | None,
    any_governor: bool,
    keep: Path | None,
    out: Path,
) -> None:
    """Measure the latency of first touches of memory, one by one, with the time-stamp counter.

    \b
    Kinds:
      write-4kb    store to a new anonymous 4KB page
      read-zero    load from a new anonymous page (zero page)
      read-file    load from a cached page of a file
      write-2mb    store to a new anonymous 2MB page
      touch-again  store to a mapped page: no fault, the floor of the method

    Passes run back to back. Touches over 1 ms have a cause outside: they are dropped and counted. A pass with
    more than 5% of them does not count. Prints quantiles (us), and combs: touches at regular distances that
    take longer. Exit status 1 if fewer than 2 passes of a kind count.

    \b
    Example:
      ./run tessera lab faults measure --size 16MB --passes 3 --warmup 1 --any-governor --out /tmp/faults
    """
    from tessera.core.errors import TesseraError
    from tessera.core.units import MB, parse_bytes
    from tessera.lab.faults.kinds import kind_named
    from tessera.lab.faults.measured import LEAST_PASSES, FaultProgramSettings, built_tools, processor_of
    from tessera.lab.faults.measured import measure_kinds as run

    bytes_ = parse_bytes(size, owner="--size")
    if not bytes_ or bytes_ % (2 * MB):
        raise TesseraError(f"--size {size}", "it is no multiple of 2MB", "give for example --size 128MB")
    if passes - warmup < LEAST_PASSES:
        raise TesseraError(
            f"--passes {passes} --warmup {warmup}",
            f"{passes - warmup} passes would count, {LEAST_PASSES} are needed",
            "give more --passes",
        )
    plan = FaultProgramSettings(bytes_, passes, warmup, processor_of(processor))
    kinds = [kind_named(name) for name in names] or list(KINDS)
    run(built_tools(_say), kinds, plan, out, _say, any_governor=any_governor, keep=keep)
    _show(out)


@faults.command()
@click.argument("results", type=_FOLDER)
def show(results: Path) -> None:
    """Print the tables that `measure` wrote below RESULTS: quantiles, combs, cosines.

    Example: ./run tessera lab faults show results/default
    """
    _show(results)


def _show(results: Path) -> None:
    from tessera.core.tables import print_table
    from tessera.lab.faults.show import cosine_lines, environment_line, latency_lines, measured_comb_lines

    click.echo(environment_line(results))
    for title, (heads, rows) in (
        ("latency (us) by share of touches, median over passes", latency_lines(results)),
        ("combs", measured_comb_lines(results)),
        ("cosines of passes: a constant gets one, too", cosine_lines(results)),
    ):
        click.echo(f"\n{title}")
        print_table(heads, rows, right=range(1, len(heads)), whole=(0,))


@faults.group()
def stream() -> None:
    """Page faults of Linux 6.12, recorded in a guest: instructions, loads and stores.

    Example: ./run tessera lab faults stream show
    """


@stream.command()
@guest.accept_series
@click.option("--out", default=RECORDED, show_default=True, type=_FOLDER, help="Folder for the recording.")
def record(accept_series: bool, out: Path) -> None:
    """Record the faults of a program in the guest: the kernel of variant `oracle` in QEMU with a plugin.

    The kernel takes 10 to 20 min to build the first time, the run 1 to 3 min.

    Example: ./run tessera lab faults stream record --out /tmp/recording
    """
    from tessera.lab.faults.recorder import record_faults as run

    _show_stream(run(out, _say, accept_series=accept_series), None)


@stream.command("show")
@click.option("--recording", "folder", default=RECORDED, show_default=True, type=_FOLDER,
              help="Folder that `record` wrote.")  # fmt: skip
@click.option(
    "--fault", "kind", help="Print the lines by structure of this kind.  [default: counts of all kinds]"
)
def show_stream(folder: Path, kind: str | None) -> None:
    """Print instructions, loads, stores and lines of each kind of fault; with --fault, lines by structure.

    Example: ./run tessera lab faults stream show --fault write-4kb
    """
    from tessera.core.errors import unknown_name
    from tessera.lab.faults.recording import load_recording

    recording = load_recording(folder)
    if kind is not None and kind not in recording.chosen:
        raise unknown_name("kind of fault", kind, tuple(recording.chosen))
    _show_stream(recording, kind)


def _show_stream(recording, kind: str | None) -> None:
    from tessera.core.tables import print_table
    from tessera.lab.faults.show import kind_lines, recorded_comb_lines, structure_lines

    if kind is not None:
        heads, rows = structure_lines(recording, kind)
        print_table(heads, rows, right=range(1, len(heads)), whole=(0,))
        return
    for heads, rows in (kind_lines(recording), recorded_comb_lines(recording)):
        print_table(heads, rows, right=range(1, len(heads)), whole=(0,))
        click.echo("")
