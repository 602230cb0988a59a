"""``tessera study recording``: a workload from its first instruction, for the study of scenarios."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.results.status import is_ok


@click.command()
@click.option("--workload", required=True, help="Workload, as in: tessera workload list.")
@click.option("--size", default="tiny", show_default=True, help="Size of the workload.")
@click.option(
    "--max-accesses",
    type=click.IntRange(min=1),
    help="Accesses after which to stop recording.  [default: the whole program]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="info.json to write; trace.tst goes to its folder.",
)
def recording(workload, size, max_accesses, out) -> None:
    """Record a workload from its first instruction, with its calls to memory management.

    The study of scenarios needs such a recording. Those of `tessera pipeline record` begin at the region of
    interest, when most memory is mapped.

    \b
    Example (after: tessera build mosalloc tracer workloads):
      ./run tessera study recording --workload graph500 --size tiny --out /tmp/graph500/info.json
    """
    from tessera.judge.studies.scenarios.recording import record_whole

    info = record_whole(workload, size, max_accesses, out)
    if not is_ok(info):
        click.echo(f"{info['status']}: {workload}: {info['message']}", err=True)
    else:
        click.echo(f"{workload}: {info['accesses'] / 1e6:.1f} M accesses recorded", err=True)
