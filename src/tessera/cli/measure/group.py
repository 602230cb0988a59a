"""``tessera measure``: programs, counted or timed on this machine; counters, conditions, bundles."""

from __future__ import annotations

import click

from tessera.cli.lazy import LazyGroup

PROGRAM = "program"
MEASURE = {
    "Count or time on this machine": {
        PROGRAM: (
            "tessera.cli.measure.program:program_",
            "Measure PROGRAM: walks, TLB misses, gains of larger pages.",
        ),
        "run": (
            "tessera.cli.measure.workloads:run",
            "Measure workloads under mosaics of pages, and write a bundle (./run measure).",
        ),
        "clock": (
            "tessera.cli.measure.workloads:clock",
            "Time a workload under real layouts, without counters.",
        ),
    },
    "Before": {
        "environment": (
            "tessera.cli.machine:environment",
            "Examine what measurements need of this machine; set and undo it.",
        ),
        "counters": (
            "tessera.cli.measure.counters:counters",
            "Show events and passes of processors; check those of this machine.",
        ),
    },
    "After": {
        "bundle": ("tessera.cli.measure.bundle:bundle", "Check, show, merge, collect and judge bundles."),
        "import": ("tessera.cli.measure.imported:import_", "Import logs of `perf stat` as measured cells."),
        "walk-estimate": (
            "tessera.cli.measure.imported:walk_estimate",
            "Estimate walk cycles of AMD processors from IBS samples.",
        ),
    },
}


class ProgramByDefault(LazyGroup):
    """Arguments that do not begin with a command's name belong to a program: ``measure -- PROGRAM``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        first = args[0] if args else "--help"
        if first not in self.places and first not in ctx.help_option_names:
            args = [PROGRAM, *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=ProgramByDefault, table=MEASURE, subcommand_metavar="[COMMAND | [--try PAGES,...] -- PROGRAM] ..."
)
def measure() -> None:
    """Count on this machine, or make cells from counts of real processors.

    `tessera measure -- PROGRAM` is short for `tessera measure program -- PROGRAM`.

    Example: ./run tessera measure --try thp -- build/workloads/gups --size 256MB --reads 8000000
    """
