"""Entry point of ``tessera``: a table of commands, each imported only when it is used.

A new command is one module with a click command or group, and one line in :data:`COMMANDS`.
"""

from __future__ import annotations

import importlib
import sys

import click

from tessera import __version__
from tessera.core.errors import TesseraError
from tessera.core.files import refused_by_system

#: name -> (module, attribute, one-line help). The help is repeated here so that
#: ``tessera --help`` imports nothing heavy.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "build": ("tessera.cli.build", "build", "Build components inside the toolchain image."),
    "datasets": ("tessera.cli.datasets", "datasets", "List, fetch and verify published inputs."),
    "doctor": ("tessera.cli.doctor", "doctor", "Report what this machine can do; change nothing."),
    "host": ("tessera.cli.host", "host", "Run a workload on this machine under real mosaics."),
    "kernel": ("tessera.cli.kernel", "kernel", "Build, boot and test the kernel with page-table replicas."),
    "layouts": ("tessera.cli.layouts", "layouts", "Generate and check layouts (mosaics of pages)."),
    "models": ("tessera.cli.models", "models", "Fit runtime models and predict runtimes."),
    "mosalloc": ("tessera.cli.mosalloc.group", "mosalloc", "Run a program under a mosaic of page sizes."),
    "notebooks": ("tessera.cli.notebooks", "notebooks", "List, execute and refresh the task notebooks."),
    "package": ("tessera.cli.package", "package", "Make our own upload: code, data, manifest, checksums."),
    "pagetables": ("tessera.kernel.pagetables", "pagetables", "Show on which sockets page tables lie."),
    "pipeline": ("tessera.cli.pipeline", "pipeline", "The workflow's own steps; not for hands."),
    "platform": ("tessera.cli.platform", "platform", "List, show and detect platforms."),
    "predict": ("tessera.cli.predict", "predict", "Predict the runtime of a design from H, M and C."),
    "reference": ("tessera.cli.reference", "reference", "Fetch and compare the papers' archived data."),
    "report": ("tessera.cli.report", "report", "Render the report; check the claims."),
    "simulate": ("tessera.cli.simulate", "simulate", "Simulate a trace under many layouts."),
    "study": ("tessera.cli.study", "study", "Study the simulator: sampling, ablations, assumptions."),
    "trace": ("tessera.cli.trace", "trace", "Record, inspect and import memory traces."),
    "validate": ("tessera.cli.validate", "validate", "Validate the simulator and this machine's platform."),
    "workload": ("tessera.cli.workload", "workload", "List and run workloads."),
}


class LazyGroup(click.Group):
    """A click group whose commands are imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        return getattr(importlib.import_module(module), attribute)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][2]) for name in sorted(COMMANDS)])

    def resolve_command(self, ctx, args):
        name = click.utils.make_str(args[0])
        if name not in COMMANDS:
            ctx.fail(f"no command '{name}'; use one of: {', '.join(sorted(COMMANDS))}")
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """From partial simulations of virtual memory to runtimes that can be trusted."""


def main() -> None:
    """Run the command line; a :class:`TesseraError` becomes a message and an exit status.

    So does the system's refusal of a file (missing, a folder, not allowed, a full disk).
    """
    try:
        cli(standalone_mode=True)
    except TesseraError as error:
        failure = error
    except OSError as error:
        failure = refused_by_system(error)
    click.echo(f"tessera: {failure}", err=True)
    sys.exit(failure.exit_code)
