"""``tessera threads``: the model of Guz et al., sweeps over sizes of L3, and runs with several threads."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.cli.study_output import Log, say_trace_notes
from tessera.cli.threads_measure import fit, measure

PATH = click.Path(path_type=Path)
#: option -> key of the machine
_PROGRAM = {
    "cpi": "cycles_per_instruction",
    "memory": "memory_per_instruction",
    "exponent": "locality_exponent",
    "locality": "locality_bytes",
    "cache": "cache_bytes",
    "static": "static_w",
}


@click.group()
def threads() -> None:
    """Predict, sweep, measure and fit how runtime and energy depend on threads (docs/energy.md).

    Example: ./run tessera threads predict --machine opera-e7-4830v3 --threads 1-24 --out /tmp/curve.csv
    """


threads.add_command(fit)
threads.add_command(measure)


@threads.command()
@click.option("--machine", required=True, help="Name of a file in config/machines, or the path of one.")
@click.option(
    "--threads", "threads_text", required=True, metavar="N-M", help="Threads, such as 1-24 or 1,2,4."
)
@click.option("--out", type=PATH, required=True, help="CSV file to write.")
@click.option("--workload", default="assumed", show_default=True, help="Name for the column workload.")
@click.option("--cpi", type=float, help="Cycles per instruction with perfect memory (c).")
@click.option("--memory", type=float, help="Memory instructions per instruction (m).")
@click.option("--exponent", type=float, help="Locality exponent (a), above 1.")
@click.option("--locality", metavar="SIZE", help="Locality size (w), such as 256KB.")
@click.option("--cache", metavar="SIZE", help="Shared cache (S), such as 30MB.")
@click.option("--static", type=float, help="Static power (L) in W.")
@click.option("--shared", is_flag=True, help="All threads use the same data: E2 with n = 1.")
@click.option("--no-bandwidth", is_flag=True, help="Leave out the limit of bandwidth (E5).")
def predict(machine, threads_text, out, workload, shared, no_bandwidth, **options) -> None:
    """Predict instructions per second and per joule for each number of threads (E1 to E7).

    The equations and the values without a source are assumed; options replace values of the machine's file.

    Example: ./run tessera threads predict --machine opera-e7-4830v3 --threads 1-24 --out /tmp/curve.csv
    """
    from tessera.core.tables import print_table
    from tessera.core.units import parse_bytes
    from tessera.energy import curves, machines
    from tessera.energy.sweep import parse_threads

    sizes = ("locality", "cache")
    given = {name: value for name, value in options.items() if value is not None}
    changes = {
        _PROGRAM[name]: parse_bytes(value) if name in sizes else value for name, value in given.items()
    }
    chosen = machines.load(machine).changed("assumed: an option of the command line", **changes)
    table = curves.curve(
        chosen, parse_threads(threads_text), workload, shared=shared, bandwidth=not no_bandwidth
    )
    curves.write_curve(table, out)
    rows = [
        (
            str(row.threads),
            f"{row.ips:.4g}",
            f"{row.ipj:.4g}",
            f"{row.power_w:.4g}",
            f"{row.llc_miss_rate:.4g}",
        )
        for row in table.itertuples()
    ]
    print_table(["threads", "ips", "ipj", "power_w", "llc_miss_rate"], rows, right=range(5))
    click.echo(f"{len(table)} rows -> {out}")


@threads.command()
@click.option("--trace", type=PATH, required=True, help="Trace (.tst), or info.json of a recording.")
@click.option("--platform", required=True, help="Platform name or YAML file.")
@click.option(
    "--threads", "threads_text", default="1-24", show_default=True, metavar="N-M", help="Values of n."
)
@click.option(
    "--sampling", default="full", show_default=True, help="full, or units=N,... as in tessera simulate."
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Threads of the simulator."
)
@click.option(
    "--cache", type=PATH, help="Folder of finished simulations.  [default: .cache in the folder of --out]"
)
@click.option("--out", type=PATH, required=True, help="CSV file to write.")
def sweep(trace, platform, threads_text, sampling, jobs, cache, out) -> None:
    """Simulate a trace with L3 / n for each n, and fit the locality a, w of E2.

    P is 1 - DRAM loads / memory instructions. Sizes are rounded to whole sets. No time is simulated.

    \b
    Example, after ./run smoke:
      ./run tessera threads sweep --trace results/smoke/traces/gups/info.json --platform haswell-sim \\
          --threads 1,2,4,8 --out /tmp/sweep.csv
    """
    from tessera.core.errors import EXIT_FAILED
    from tessera.core.tables import print_table
    from tessera.energy.step import SweepJob, sweep_of_trace
    from tessera.results.status import ok_rows, other_rows

    job = SweepJob(trace, platform, threads_text, sampling, cache or out.parent / ".cache", out, jobs)
    table = sweep_of_trace(job, Log(f"L3 / n on {Path(platform).stem}"))
    good = ok_rows(table)
    rows = [
        (str(row.threads), str(row.l3_bytes), f"{row.hit_rate:.6f}", f"{row.fitted_hit_rate:.6f}")
        for row in good.itertuples()
    ]
    if rows:
        print_table(["threads", "l3_bytes", "hit rate", "fitted"], rows, right=range(4))
        first = good.iloc[0]
        click.echo(f"a = {first['locality_exponent']:.4g}, w = {first['locality_bytes']:.4g} bytes")
    say_trace_notes(trace)
    for message in other_rows(table)["message"].drop_duplicates():
        click.echo(f"failed: {message}", err=True)
    click.echo(f"{len(table)} rows -> {out}")
    if not rows:
        raise SystemExit(EXIT_FAILED)
