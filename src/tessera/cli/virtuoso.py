"""``tessera virtuoso``: what page faults cost programs, as Virtuoso (ASPLOS 2025) shows it."""

from __future__ import annotations

from functools import reduce
from pathlib import Path

import click

from tessera.cli.faults import RECORDING
from tessera.cli.study_output import Log, close, names_of, say_trace_notes
from tessera.results.status import is_ok

_PATH = click.Path(path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)
SCENARIOS = "thp-never,thp-no-zero-page"


_OPTIONS = (
    click.option("--trace", type=_PATH, required=True,
                 help="Trace with events (.tst), or info.json of `study recording`."),
    click.option("--platform", default="haswell-sim", show_default=True, help="Platform name or YAML file."),
    click.option("--scenarios", "names", default=SCENARIOS, show_default=True,
                 help="Scenarios or YAML files, comma-separated."),
    click.option("--weave", "faults", default=RECORDING, show_default=True, type=_FOLDER,
                 help="Folder of recorded page faults."),
    click.option("--sampling", default="full", show_default=True,
                 help="Sampling plan; see tessera simulate."),
)  # fmt: skip


def _recorded_program(command):
    """Options of all commands that simulate a recorded program under scenarios."""
    return reduce(lambda made, option: option(made), reversed(_OPTIONS), command)


@click.group()
def virtuoso() -> None:
    """Compute figures of Virtuoso about page faults for recorded programs (docs/faults.md).

    Example: ./run tessera virtuoso program --help
    """


@virtuoso.command()
@_recorded_program
@click.option(
    "--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Threads of the simulator."
)
@click.option("--cache", type=_PATH, help="Folder of finished simulations.  [default: .cache in --out]")
@click.option("--out", type=_PATH, required=True, help="Folder for the tables.")
def program(trace, platform, names, faults, sampling, threads, cache, out) -> None:
    """Simulate a program with the kernel work of its page faults: parts of its runtime.

    Writes shares.csv (Figures 1 and 3), latency.csv (quantiles of the faults' latencies, Figure 2) and
    combs.csv. A scenario that ends early, or that has a fault without a template, is a row with the reason.

    \b
    Example (after: tessera build imitation simulator tracer):
      ./run tessera virtuoso program --trace tests/traces/examples/phases.tst --out /tmp/virtuoso
    """
    from tessera.judge.studies.virtuoso.step import Job, program_study
    from tessera.simulate.plan import parse_sampling

    job = Job(
        trace, platform, names_of(names), cache or out / ".cache", out, parse_sampling(sampling),
        threads, Log(f"faults on {Path(platform).stem}"), recording_of_faults=faults,
    )  # fmt: skip
    table = program_study(job)
    _print(table)
    close(table, out)
    say_trace_notes(trace)


@virtuoso.command()
@_recorded_program
@click.option("--repeats", type=click.IntRange(min=1), default=5, show_default=True,
              help="Runs with and without the kernel's work, in alternation.")  # fmt: skip
@click.option("--out", type=_PATH, required=True, help="Folder for the table.")
def costs(trace, platform, names, faults, sampling, repeats, out) -> None:
    """Measure time and memory of the simulator with and without the kernel work of page faults.

    Writes simulator.csv (Figures 11 and 12): processor seconds, bytes, and ratios. Other programs on the
    machine change the numbers; runs alternate, and the table has medians. Nothing comes from a cache.

    \b
    Example (after: tessera build imitation simulator tracer):
      ./run tessera virtuoso costs --trace tests/traces/examples/phases.tst --out /tmp/virtuoso
    """
    from tessera.core.tables import print_table
    from tessera.judge.studies.virtuoso.step import Job, program_costs
    from tessera.simulate.plan import parse_sampling

    job = Job(
        trace, platform, names_of(names), out / ".cache", out, parse_sampling(sampling),
        progress=Log(f"costs on {Path(platform).stem}"), recording_of_faults=faults,
    )  # fmt: skip
    table = program_costs(job, repeats)
    rows = [
        (
            row.scenario, f"{row.plain_seconds:.2f}", f"{row.woven_seconds:.2f}", f"{row.slowdown:.2f}",
            f"{row.instruction_ratio:.2f}", f"{row.time_per_instruction_ratio:.2f}",
            f"{row.access_ratio:.2f}", f"{row.time_per_access_ratio:.2f}", f"{row.memory_ratio:.2f}",
        )
        for row in table.itertuples()
    ]  # fmt: skip
    heads = [
        "scenario",
        "s",
        "s woven",
        "slowdown",
        "instr.",
        "time/instr.",
        "accesses",
        "time/access",
        "memory",
    ]
    print_table(heads, rows, right=range(1, len(heads)))
    click.echo(f"{len(table)} rows -> {out}")


@virtuoso.command()
@click.option("--tables", "folders", type=_FOLDER, multiple=True, required=True,
              help="Folder that `program` wrote; repeatable.")  # fmt: skip
@click.option("--out", type=_PATH, help="CSV file for all rows.")
def judge(folders: tuple[Path, ...], out: Path | None) -> None:
    """Compare simulated programs with numbers that Virtuoso prints.

    Means agree within half of the printed value; bounds and directions are taken as printed. The scenario
    thp-no-zero-page decides.

    Example: ./run tessera virtuoso judge --help
    """
    import pandas as pd

    from tessera.core.files import write_csv
    from tessera.core.tables import frame_rows, print_table
    from tessera.judge.studies.virtuoso.judged import judge as judged
    from tessera.results.read import read_file
    from tessera.results.schema.virtuoso import FAULT_SHARES

    rows = judged(pd.concat([read_file(FAULT_SHARES, folder / FAULT_SHARES.file) for folder in folders]))
    if out:
        write_csv(rows, out)
    print_table(**frame_rows(rows.drop(columns=["provenance", "statement"]), digits=3))


def _print(table) -> None:
    """Parts of the runtime of each scenario."""
    from tessera.core.tables import print_table

    rows = [
        (
            row.scenario, f"{row.faults:,}", f"{row.runtime_cycles:,.0f}", f"{row.fault_share:.1%}",
            f"{row.translation_share:.1%}", f"{row.kernel_cycles / row.faults:,.0f}" if row.faults else "",
        )
        for row in table.itertuples()
        if is_ok(row.status)
    ]  # fmt: skip
    print_table(["scenario", "faults", "R", "in faults", "C of R", "cycles a fault"], rows, right=range(1, 6))
