"""``tessera host``: runs on this machine under real layouts."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.results.status import is_ok

PATH = click.Path(path_type=Path)


@click.group()
def host() -> None:
    """Time a workload on this machine under real layouts.

    Example: ./run --reserve tessera host run --help
    """


@host.command()
@click.option("--workload", required=True, help="Workload, as in: tessera workload list.")
@click.option("--size", required=True, help="Size of the workload: tiny, default or paper.")
@click.option("--layouts", "folder", type=PATH, required=True, help="Folder of layout files (*.csv).")
@click.option(
    "--out",
    type=PATH,
    required=True,
    help="Cells file to write (CSV). comparison.csv and runs.csv go to its folder.",
)
@click.option(
    "--simulated", type=PATH, help="Simulated cells of host-sim: adds H, M, C and simulated differences."
)
@click.option("--half-width", type=float, default=0.005, show_default=True,
              help="Largest 95% half-width of each difference to 4KB pages, as a fraction.")  # fmt: skip
@click.option(
    "--min-repeats",
    type=int,
    default=5,
    show_default=True,
    help="Fewest rounds; a round runs each layout once.",
)
@click.option("--max-repeats", type=int, default=20, show_default=True, help="Most rounds.")
@click.option(
    "--max-minutes", type=float, help="Start no round after this many minutes.  [default: no limit]"
)
@click.option(
    "--seed", type=int, default=1, show_default=True, help="Seed of the order of the layouts in each round."
)
def run(
    workload, size, folder, out, simulated, half_width, min_repeats, max_repeats, max_minutes, seed
) -> None:
    """Time a workload under each layout, in interleaved rounds, until the differences are precise.

    Times are in nanoseconds. Needs reserved 2MB pages. Without them, every cell is `skipped`, its message has
    the command that reserves them, and the exit status is 0. runs.csv keeps finished runs: the same command
    continues after an interruption.

    \b
    Example, after ./run smoke:
      ./run --reserve tessera host run --workload gups --size tiny --out /tmp/host/cells.csv \\
          --layouts results/smoke/host/layouts --max-repeats 5
    """
    from tessera.core.tables import print_table
    from tessera.layouts.folder import layout_files
    from tessera.measure import Experiment, run_host
    from tessera.measure.rounds import Rule

    rule = Rule(half_width, min_repeats, max_repeats, max_minutes)
    request = Experiment(workload, size, tuple(layout_files(folder)), out, simulated, rule, seed)
    cells = run_host(request, progress=lambda text: click.echo(text, err=True))
    rows = []
    for row in cells.itertuples():
        shown = f"{row.runtime_ns / 1e9:.4f} s, {row.message}" if is_ok(row.status) else row.message
        rows.append((row.layout, row.status, shown))
    print_table((), rows, whole=(0, 1))
