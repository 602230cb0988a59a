"""Groups that are imported only when used, old names that say the new one, commands that run a program."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

import click

from tessera.cli.old_names import new_name

#: heading -> name -> (module:attribute, one-line help). The help is here so that ``--help`` imports nothing.
Table = Mapping[str, Mapping[str, tuple[str, str]]]


class LazyGroup(click.Group):
    """A click group of a :data:`Table`."""

    def __init__(self, *args, table: Table, **kwargs):
        super().__init__(*args, **kwargs)
        self.table = table
        self.places = {name: place for part in table.values() for name, place in part.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.places:
            return None
        module, _, attribute = self.places[cmd_name][0].partition(":")
        return getattr(importlib.import_module(module), attribute)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, part in self.table.items():
            with formatter.section(heading):
                formatter.write_dl([(name, text) for name, (_, text) in part.items()])

    def resolve_command(self, ctx, args):
        refuse_old_name(ctx, args)
        name = click.utils.make_str(args[0])
        if name not in self.places:
            ctx.fail(f"no command '{name}'; use one of: {', '.join(self.places)}")
        return super().resolve_command(ctx, args)


class OldNamesGroup(click.Group):
    """A click group where an old name of a command says the new one."""

    def resolve_command(self, ctx, args):
        refuse_old_name(ctx, args)
        return super().resolve_command(ctx, args)


class ProgramCommand(click.Command):
    """A command that runs a program. From the program's name on, words are the program's
    (`workload add`, which has a name of its own first, needs ``--`` before them).

    An unknown option before it is refused, and is never taken as the program.
    """

    allow_interspersed_args = False

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            nearest = f" The nearest: {', '.join(error.possibilities)}." if error.possibilities else ""
            ctx.fail(
                f"{ctx.command_path} has no option {error.option_name}.{nearest}"
                " Put -- before a program that has options."
            )


def refuse_old_name(ctx: click.Context, args: list[str]) -> None:
    """One line with the new name and status 2, if these words are an old command that is gone."""
    above: list[str] = []
    here = ctx
    while here.parent is not None:  # the outermost name is that of the program
        above.insert(0, str(here.info_name))
        here = here.parent
    if found := new_name([*above, *args]):
        old, new = found
        click.echo(f"tessera: '{old}' is gone: use tessera {new}", err=True)
        ctx.exit(2)
