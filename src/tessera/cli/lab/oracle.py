"""``tessera lab oracle``: decisions of Linux 6.12 in a guest."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.cli.lab import guest
from tessera.core.files import build_dir


@click.group()
def oracle() -> None:
    """Record decisions of Linux 6.12 in a guest; `lab run oracle-compare` compares them.

    Example: ./run tessera lab oracle record --events 20000 --out /tmp/recording

    See docs/results/os-oracle.md.
    """


@oracle.command()
@guest.accept_series
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
    "--out", default="tests/oracle/recording", show_default=True, help="Folder for the recording.",
    type=click.Path(file_okay=False, path_type=Path),
)  # fmt: skip
def record(accept_series: bool, events: int, block: int, seed: int, out: Path) -> None:
    """Run the events in the guest, read its lists before each block of events; keep what a comparison needs.

    The kernel takes 10 to 20 min to build the first time, the runs about 10 min. Prints the result block by
    block.

    Example: ./run tessera lab oracle record --events 20000 --out /tmp/recording
    """
    from tessera.lab.oracle.comparisons import built_programs
    from tessera.lab.oracle.guest_runs import ready_oracle as build
    from tessera.lab.oracle.recorder import record_history

    result = record_history(
        build(guest.say, accept_series=accept_series),
        built_programs(),
        out,
        build_dir("kernel") / "oracle-runs",
        events=events,
        block=block,
        seed=seed,
        say=guest.say,
    )
    click.echo(result)
