"""``tessera numa program``: a recorded program under placements of page tables; options of simulations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from tessera.cli.study_output import Log, close, say_trace_notes

PATH = click.Path(path_type=Path)
PLAN = "units=20,warmup_accesses=2500000,timed_instructions=1000000"


def simulation(command: Callable) -> Callable:
    """Options of each simulation of placements: platform, engine, jobs, cache."""
    for option in (
        click.option("--cache", type=PATH, help="Folder of finished cells.  [default: none]"),
        click.option(
            "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Threads of the simulator."
        ),
        click.option(
            "--engine",
            type=click.Choice(["timing", "partial", "reference"]),
            default="timing",
            show_default=True,
            help="partial: walk cycles only.",
        ),
        click.option(
            "--platform", default="haswell-4s-sim", show_default=True, help="Platform name or YAML file."
        ),
    ):
        command = option(command)
    return command


def show_ratios(table, out: Path) -> None:
    """Print the ratios of a table of placements, and how its rows ended."""
    from tessera.core.tables import frame_rows, print_table

    shown = [
        "page_size", "configuration", "hog_lines", "walk_ratio", "runtime_ratio", "runtime_ratio_ci95",
    ]  # fmt: skip
    print_table(**frame_rows(table[shown], digits=3))
    close(table, out)


@click.command()
@click.option("--info", type=PATH, required=True, help="info.json of a recording.")
@click.option("--out", type=PATH, required=True, help="CSV file to write.")
@click.option(
    "--scale",
    type=click.FloatRange(min=1),
    default=1,
    show_default=True,
    help="L3, STLB and walk caches are so many times smaller: published footprint over recorded footprint.",
)
@click.option("--sampling", default=PLAN, show_default=True, help="Sampling plan, or full.")
@simulation
def program(
    info: Path,
    out: Path,
    scale: float,
    platform: str,
    sampling: str,
    engine: str,
    jobs: int,
    cache: Path | None,
) -> None:
    """Simulate a recorded program under the placements of Mitosis Table 2, on a scaled machine.

    With 1/14 of a published footprint, page tables fit in the caches of the whole machine. The scaled machine
    has 1/14 of its L3, STLB and walk caches. All pages are 4KB pages, then 2MB pages.

    Example, after ./run smoke:
    ./run tessera numa program --info results/smoke/traces/gups-1gb/info.json --scale 14
    --out /tmp/program.csv
    """
    from tessera.numa.programs import Program, program_study

    asked = Program(info, platform, scale, sampling, cache, out, engine, jobs)
    table = program_study(asked, Log(f"placements of {info.parent.name}"))
    show_ratios(table, out)
    say_trace_notes(info)
