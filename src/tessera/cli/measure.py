"""``tessera measure``: counts of real processors, as bundles and cells."""

from __future__ import annotations

import click

from tessera.cli.measure_import import import_
from tessera.cli.measure_program import program_
from tessera.cli.measure_run import run
from tessera.cli.measure_walks import walk_estimate

PROGRAM = "program"


class ProgramByDefault(click.Group):
    """Arguments that do not begin with a command's name belong to a program: ``measure -- PROGRAM``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        first = args[0] if args else "--help"
        if first not in self.commands and first not in ctx.help_option_names:
            args = [PROGRAM, *args]
        return super().parse_args(ctx, args)


@click.group(cls=ProgramByDefault, subcommand_metavar="[COMMAND | [--try PAGES,...] -- PROGRAM] ...")
def measure() -> None:
    """Count on this machine, or make cells from counts of real processors.

    `tessera measure -- PROGRAM` is short for `tessera measure program -- PROGRAM`.

    Example: ./run tessera measure --try thp -- build/workloads/gups --size 256MB --reads 8000000
    """


measure.add_command(import_)
measure.add_command(program_, PROGRAM)
measure.add_command(run)
measure.add_command(walk_estimate)
