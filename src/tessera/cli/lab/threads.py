"""``tessera threads``, ``tessera energy``: how runtime and energy depend on threads and power constants."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.cli.output import Log, say_trace_notes

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
    from tessera.core.results.outcomes import ok_rows, other_rows
    from tessera.core.tables import print_table
    from tessera.lab.energy.steps import SweepJob, sweep_of_trace

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


# ``tessera threads measure`` and ``fit``: runs with several threads, and power constants from them.


@threads.command(context_settings={"ignore_unknown_options": True})
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
    from tessera.lab.energy import guz_model, thread_measurement, thread_runs
    from tessera.lab.energy.l3_sweep import parse_threads

    root = Path(os.environ.get("TESSERA_MACHINE_ROOT", "/"))
    request = thread_measurement.MeasurementRequest(
        program, parse_threads(threads_text), socket, repeats, idle_seconds, backend, seed, root
    )
    for path in (out, curve):
        if path:
            check_target(path)
    table = thread_measurement.measure_threads(
        request, lambda line: click.echo(line, err=True), lambda rounds: write_csv(rounds, out)
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


@threads.command()
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
    from tessera.lab.energy import power, thread_runs

    table = thread_runs.read_runs(runs_file)
    found = power.fit_runs(table, seed)
    power.write_power(found, name, f"{len(table)} runs of {runs_file.name}", out)
    rows = [
        (key, f"{value:.5g}", f"{low:.5g}", f"{high:.5g}")
        for key, value, low, high in zip(power.FITTED_NAMES, found.values, found.low, found.high, strict=True)
    ]
    print_table(["constant", "value", "95% from", "to"], rows, right=(1, 2, 3))
    worst = abs(found.residuals_w).max()
    click.echo(
        f"residuals: {found.rms_w:.3g} W (root mean square), {worst:.3g} W at most; "
        f"{len(table)} runs -> {out}"
    )


# ``tessera energy``: energy of cells with assumed or fitted constants.


@click.group()
def energy() -> None:
    """Compute the energy of cells from power constants (docs/energy.md).

    Example: ./run tessera energy cells --cells results/smoke/cells.csv --out /tmp/energy
    """


@energy.command()
@click.option("--cells", "cells_file", type=PATH, required=True, help="cells.csv of a run.")
@click.option(
    "--power",
    "power_file",
    type=PATH,
    help="Power file, e.g. of tessera threads fit.  [default: config/machines/power/one-core.yaml]",
)
@click.option("--out", type=PATH, required=True, help="Folder for energy.csv and savings.csv.")
def cells(cells_file: Path, power_file: Path | None, out: Path) -> None:
    """Compute E8 for every cell: L R/f, instructions, and loads by level.

    Writes energy.csv (joules with the constants as given) and savings.csv (what mosaics save, under each
    set of constants). Prints how closely energy follows runtime. The default constants are assumed, so use
    the relations, not the joules.

    Example: ./run tessera energy cells --cells results/smoke/cells.csv --out /tmp/energy
    """
    from tessera.core.tables import print_table
    from tessera.lab.energy import cell_energy, power
    from tessera.lab.energy.steps import energy_of_cells

    table, saved = energy_of_cells(cells_file, power_file or power.default_power_file(), out)
    rows = [
        (
            one["constants"],
            f"{one['static_share']:.3f}",
            f"{one['ratio']:.3f}",
            one["fastest"],
            f"{one['reversed']:.4f}",
        )
        for one in cell_energy.by_constants(saved)
    ]
    if rows:
        heads = ["constants", "static share", "energy/runtime saved", "fastest needs least", "reversed"]
        print_table(heads, rows, right=(1, 2, 4))
    for line in cell_energy.sentences(saved):
        click.echo(line)
    click.echo(f"{len(table)} cells, {len(saved)} rows of savings -> {out}")
