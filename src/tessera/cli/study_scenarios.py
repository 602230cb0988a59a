"""``tessera study scenarios``: a program under several states of a machine's memory."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.cli.study_output import Log, close, names_of, say_trace_notes
from tessera.results.status import is_ok

_PATH = click.Path(path_type=Path)
SCENARIOS = "thp-always,thp-no-zero-page,thp-never,thp-fragmented"


@click.command()
@click.option(
    "--trace", type=_PATH, required=True, help="Trace with events (.tst), or info.json of `study recording`."
)
@click.option("--platform", default="haswell-sim", show_default=True, help="Platform name or YAML file.")
@click.option(
    "--scenarios",
    "names",
    default=SCENARIOS,
    show_default=True,
    help="Scenarios or YAML files, comma-separated (tessera os list).",
)
@click.option(
    "--sampling",
    default="units=10,warmup_accesses=300000,timed_instructions=300000",
    show_default=True,
    help="Sampling plan, or full; see tessera simulate --help.",
)
@click.option(
    "--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Threads of the simulator."
)
@click.option("--cache", type=_PATH, help="Folder of finished simulations.  [default: .cache in --out]")
@click.option("--out", type=_PATH, required=True, help="Folder for the tables.")
def scenarios(trace, platform, names, sampling, threads, cache, out) -> None:
    """Show what an imitation of Linux 6.12 does to a program in several states of a machine's memory.

    Writes cells.csv (H, M, C, R, faults, beside layouts of all 4KB and all 2MB pages), sizes.csv (page sizes
    over time), faults.csv, chunks.csv, areas.csv and counters.csv. A scenario that ends early is a row with
    the reason. docs/os.md describes scenarios.

    \b
    Example (after: tessera build imitation simulator tracer):
      ./run tessera study scenarios --trace tests/traces/examples/phases.tst --sampling full \\
          --scenarios thp-always,thp-never --out /tmp/scenarios-study
    """
    from tessera.judge.studies.scenarios.step import Job, scenarios_study
    from tessera.simulate.plan import parse_sampling

    job = Job(
        trace, platform, names_of(names), cache or out / ".cache", out, parse_sampling(sampling), threads,
        Log(f"scenarios on {Path(platform).stem}"),
    )  # fmt: skip
    table = scenarios_study(job)
    _print(table)
    close(table, out)
    say_trace_notes(trace)


def _print(table) -> None:
    """What each scenario decided, and what followed."""
    from tessera.core.tables import print_table

    rows = [
        (
            row.name, _count(row.faults), _count(row.major_faults),
            _count(row.most_2mb_bytes, 1 << 20),
            _count(row.stlb_misses), _count(row.walk_cycles), _count(row.runtime_cycles),
        )
        for row in table.itertuples()
        if is_ok(row.status)
    ]  # fmt: skip
    print_table(["pages by", "faults", "major", "MB in 2MB pages", "M", "C", "R"], rows, right=range(1, 7))


def _count(value, unit: int = 1) -> str:
    from pandas import isna

    return "" if isna(value) else f"{value / unit:,.0f}"
