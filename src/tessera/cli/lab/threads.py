"""``tessera lab threads``: how runtime and energy depend on threads."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.cli.lazy import ProgramCommand

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
    """Predict and measure how runtime and energy depend on threads (docs/explain/energy.md).

    The studies threads-sweep and threads-fit are in `tessera lab list`.

    Example: ./run tessera lab threads predict --machine opera-e7-4830v3 --threads 1-24 --out /tmp/curve.csv
    """


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

    Example: ./run tessera lab threads predict --machine opera-e7-4830v3 --threads 1-24 --out /tmp/curve.csv
    """
    from tessera.core.tables import print_table
    from tessera.core.units import parse_bytes
    from tessera.lab.energy import guz_model
    from tessera.lab.energy.l3_sweep import parse_threads

    sizes = ("locality", "cache")
    given = {name: value for name, value in options.items() if value is not None}
    changes = {
        _PROGRAM[name]: parse_bytes(value) if name in sizes else value for name, value in given.items()
    }
    chosen = guz_model.load_machine(machine).changed("assumed: an option of the command line", **changes)
    table = guz_model.threads_curve(
        chosen, parse_threads(threads_text), workload, shared=shared, bandwidth=not no_bandwidth
    )
    guz_model.write_curve(table, out)
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


# ``tessera lab threads measure``: runs with several threads.


@threads.command(cls=ProgramCommand)
@click.option(
    "--socket", type=click.IntRange(min=0), default=0, show_default=True, help="Socket of all runs."
)
@click.option(
    "--threads", "threads_text", required=True, metavar="N,M", help="Numbers of threads, such as 1,2,4,8."
)
@click.option(
    "--repeats", type=click.IntRange(min=2), default=5, show_default=True, help="Runs of each number."
)
@click.option("--idle-seconds", type=click.FloatRange(min=0.01), default=10.0, show_default=True,
              help="Length of a measurement of idle power.")  # fmt: skip
@click.option("--backend", type=click.Choice(["powercap", "perf"]), default="powercap", show_default=True,
              help="Source of the socket's energy.")  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the order of runs."
)
@click.option("--out", type=PATH, required=True, help="CSV file of all runs.")
@click.option("--curve", type=PATH, help="CSV file with a row per number of threads (threads.csv).")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def measure(socket, threads_text, repeats, idle_seconds, backend, seed, out, curve, program) -> None:
    """Run PROGRAM with each number of threads on one socket, and measure time, counts and energy.

    Write {threads} in PROGRAM where the number belongs. The program is bound to the socket, whose counter
    (RAPL) counts all of its cores: keep it idle otherwise. Idle power is measured before and after each
    round. Needs perf, and root for powercap on current kernels. The file is written after each round.

    \b
    Example (needs RAPL):
      sudo ./run tessera lab threads measure --socket 0 --threads 1,2,4,8 --out runs.csv -- \\
          PROGRAM --threads {threads}
    """
    import os

    from tessera.core.files import check_target, write_csv
    from tessera.core.tables import print_table
    from tessera.lab.energy import guz_model, thread_measurement, thread_runs
    from tessera.lab.energy.l3_sweep import parse_threads

    root = Path(os.environ.get("TESSERA_MACHINE_ROOT", "/"))
    runs = thread_measurement.RepeatedRuns(
        program, parse_threads(threads_text), socket, repeats, idle_seconds, backend, seed, root
    )
    for path in (out, curve):
        if path:
            check_target(path)
    table = thread_measurement.measure_threads(
        runs, lambda line: click.echo(line, err=True), lambda rounds: write_csv(rounds, out)
    )
    counted = thread_runs.checked_runs(table, f"runs {out}")
    if curve:
        guz_model.write_curve(
            thread_runs.measured_curve(counted, Path(program[0]).name, f"socket-{socket}"), curve
        )
    rows = [
        (
            str(row["threads"]),
            *(f"{row[name]:.4g} +- {row[name + '_ci95']:.2g}" for name in ("ips", "ipj", "power_w")),
        )
        for row in thread_runs.by_threads(counted)
    ]
    print_table(["threads", "ips", "ipj", "power_w"], rows, right=range(4))
    for number in thread_runs.few_repeats(counted):
        click.echo(
            f"{number} threads: fewer than {thread_runs.LEAST_REPEATS} runs, so its interval says little",
            err=True,
        )
    click.echo(f"{len(table)} runs -> {out}")
