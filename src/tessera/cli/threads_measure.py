"""``tessera threads measure`` and ``fit``: runs with several threads, and power constants from them."""

from __future__ import annotations

from pathlib import Path

import click

PATH = click.Path(path_type=Path)


@click.command(context_settings={"ignore_unknown_options": True})
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
      sudo ./run tessera threads measure --socket 0 --threads 1,2,4,8 --out runs.csv -- \\
          PROGRAM --threads {threads}
    """
    import os

    from tessera.core.files import check_target, write_csv
    from tessera.core.tables import print_table
    from tessera.energy import curves, runs, summary
    from tessera.energy import measure as measuring
    from tessera.energy.sweep import parse_threads

    root = Path(os.environ.get("TESSERA_MACHINE_ROOT", "/"))
    request = measuring.Request(
        program, parse_threads(threads_text), socket, repeats, idle_seconds, backend, seed, root
    )
    for path in (out, curve):
        if path:
            check_target(path)
    table = measuring.measure(
        request, lambda line: click.echo(line, err=True), lambda rounds: write_csv(rounds, out)
    )
    counted = runs.checked(table, f"runs {out}")
    if curve:
        curves.write_curve(summary.measured_curve(counted, Path(program[0]).name, f"socket-{socket}"), curve)
    rows = [
        (
            str(row["threads"]),
            *(f"{row[name]:.4g} +- {row[name + '_ci95']:.2g}" for name in ("ips", "ipj", "power_w")),
        )
        for row in summary.by_threads(counted)
    ]
    print_table(["threads", "ips", "ipj", "power_w"], rows, right=range(4))
    for number in runs.few_repeats(counted):
        click.echo(
            f"{number} threads: fewer than {runs.LEAST_REPEATS} runs, so its interval says little", err=True
        )
    click.echo(f"{len(table)} runs -> {out}")


@click.command()
@click.option("--runs", "runs_file", type=PATH, required=True, help="CSV file of tessera threads measure.")
@click.option("--name", default="fitted", show_default=True, help="Name of the constants.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the bootstrap."
)
@click.option("--out", type=PATH, required=True, help="Power file to write (YAML).")
def fit(runs_file, name, seed, out) -> None:
    """Fit static power, energy per instruction and energy per LLC miss to runs.

    Prints each constant with a 95% bootstrap interval, and the residuals. tessera energy cells takes the
    file.

    Example (after tessera threads measure): ./run tessera threads fit --runs runs.csv --out power.yaml
    """
    from tessera.core.tables import print_table
    from tessera.energy import fitted, runs

    table = runs.read_runs(runs_file)
    found = fitted.fit_runs(table, seed)
    fitted.write_power(found, name, f"{len(table)} runs of {runs_file.name}", out)
    rows = [
        (key, f"{value:.5g}", f"{low:.5g}", f"{high:.5g}")
        for key, value, low, high in zip(fitted.NAMES, found.values, found.low, found.high, strict=True)
    ]
    print_table(["constant", "value", "95% from", "to"], rows, right=(1, 2, 3))
    worst = abs(found.residuals_w).max()
    click.echo(
        f"residuals: {found.rms_w:.3g} W (root mean square), {worst:.3g} W at most; "
        f"{len(table)} runs -> {out}"
    )
