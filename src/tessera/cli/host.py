"""``tessera host``: real runs under real mosaics."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.results.status import is_ok

PATH = click.Path(path_type=Path)


@click.group()
def host() -> None:
    """Run a workload on this machine under real mosaics."""


@host.command()
@click.option("--workload", required=True, help="See `tessera workload list`.")
@click.option("--size", required=True, help="A size of the workload.")
@click.option("--layouts", "folder", type=PATH, required=True, help="Folder of layout files (*.csv).")
@click.option("--out", type=PATH, required=True, help="Cells; comparison.csv and runs.csv lie beside it.")
@click.option("--simulated", type=PATH, help="Cells of host-sim, for H, M, C and simulated differences.")
@click.option("--half-width", type=float, default=0.005, show_default=True,
              help="95% half-width of each difference to the 4KB run, as a fraction.")  # fmt: skip
@click.option("--min-repeats", type=int, default=5, show_default=True, help="Rounds at least.")
@click.option("--max-repeats", type=int, default=20, show_default=True, help="Rounds at most.")
@click.option("--max-minutes", type=float, help="Start no round after this time.")
@click.option("--seed", type=int, default=1, show_default=True, help="Order of the layouts in each round.")
def run(
    workload, size, folder, out, simulated, half_width, min_repeats, max_repeats, max_minutes, seed
) -> None:
    """Time a workload under each layout, interleaved, until the differences are known.

    Needs reserved 2MB pages; without them every cell is `skipped` with the command that would reserve
    them, and the exit status is 0. Finished runs are kept in runs.csv: start again to go on.
    """
    from tessera.layouts.folder import layout_files
    from tessera.measure import Experiment, run_host
    from tessera.measure.rounds import Rule

    rule = Rule(half_width, min_repeats, max_repeats, max_minutes)
    request = Experiment(workload, size, tuple(layout_files(folder)), out, simulated, rule, seed)
    cells = run_host(request, progress=lambda text: click.echo(text, err=True))
    for row in cells.itertuples():
        shown = f"{row.runtime_ns / 1e9:.4f} s, {row.message}" if is_ok(row.status) else row.message
        click.echo(f"{row.layout:14} {row.status:8} {shown}")
