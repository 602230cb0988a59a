"""``tessera oracle``: decisions of Linux 6.12 in a guest beside the imitation's."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tessera.cli.kernel_options import accept_series_option, say
from tessera.core.files import build_dir, built
from tessera.core.tables import print_table

FOLDER = "tests/oracle/recording"


@click.group()
def oracle() -> None:
    """Compare the imitation of memory management with Linux 6.12 in a guest (docs/os-oracle.md).

    Example: ./run tessera oracle compare
    """


def _programs():
    from tessera.lab.oracle.comparisons import Programs

    return Programs(*(built("imitation", f"tessera-{name}") for name in ("phys", "collapse", "vm")))


@oracle.command()
@accept_series_option
@click.option(
    "--events",
    default=1_000_000,
    show_default=True,
    type=click.IntRange(min=1),
    help="Allocations and frees in the guest.",
)
@click.option(
    "--block",
    default=2000,
    show_default=True,
    type=click.IntRange(min=1),
    help="Events between two readings of the guest's memory.",
)
@click.option("--seed", default=1, show_default=True, help="Seed of the events.")
@click.option(
    "--out",
    default=FOLDER,
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the recording.",
)
def record(accept_series: bool, events: int, block: int, seed: int, out: Path) -> None:
    """Run the events in the guest, read its lists before each block of events, and keep what `compare` needs.

    The kernel takes 10 to 20 min to build the first time, the runs about 10 min. Prints the result block by
    block.

    Example: ./run tessera oracle record --events 20000 --out /tmp/recording
    """
    from tessera.lab.oracle.guest_runs import oracle as build
    from tessera.lab.oracle.recorder import record_all

    result = record_all(
        build(say, accept_series=accept_series),
        _programs(),
        out,
        build_dir("kernel") / "oracle-runs",
        events=events,
        block=block,
        seed=seed,
        say=say,
    )
    click.echo(result)


@oracle.command()
@click.option(
    "--recording",
    "folder",
    default=FOLDER,
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder that `record` wrote.",
)
@click.option("--events", type=click.IntRange(min=1), help="Replay the first events only.  [default: all]")
def compare(folder: Path, events: int | None) -> None:
    """Replay a recording of the guest in the imitation; print the shares of equal decisions.

    Exit status 1 if less than 99.9% of the decisions from the guest's own lists, or of the other values, are
    equal.

    Example: ./run tessera oracle compare --events 50000
    """
    from tessera.lab.oracle.comparisons import comparison_rows, failed_rows
    from tessera.lab.oracle.recording import load

    recording, made = load(folder, events)
    found = comparison_rows(recording, made, _programs())
    columns = ["compared values", "number", "equal", "equal (%)", "first difference"]
    print_table(columns, [[r.what, str(r.compared), str(r.equal), r.share, r.first or "none"] for r in found])
    sys.exit(1 if failed_rows(found) else 0)
