"""Entry point of ``tessera``: a table of commands, each imported only when it is used.

A new command is one module with a click command or group, and one line in :data:`COMMANDS`.
"""

from __future__ import annotations

import importlib
import sys
import warnings

import click

from tessera import __version__
from tessera.core.errors import TesseraError
from tessera.core.files import refused_by_system

#: name -> (module, attribute, one-line help). The help is repeated here so that ``tessera --help`` imports
#: no command.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "build": (
        "tessera.cli.dev.build",
        "build",
        "Build the images and components (mosalloc, tracer, simulator, workloads, imitation).",
    ),
    "bundle": (
        "tessera.cli.bundle",
        "bundle",
        "Check, show, merge and collect measurements of real machines.",
    ),
    "counters": (
        "tessera.cli.counters",
        "counters",
        "List events of processors' counters; print commands of perf; check this machine.",
    ),
    "datasets": ("tessera.cli.workload", "datasets", "List, download and verify published input data."),
    "doctor": ("tessera.cli.machine", "doctor", "Report what this machine can do; change nothing."),
    "energy": ("tessera.cli.lab.threads", "energy", "Compute the energy of cells from power constants."),
    "environment": (
        "tessera.cli.machine",
        "environment",
        "Examine what a measurement needs of this machine; --fix sets it for a while.",
    ),
    "faults": (
        "tessera.cli.lab.faults",
        "faults",
        "Measure what page faults cost; count Linux's work in them.",
    ),
    "host": ("tessera.cli.measure.group", "host", "Time a workload on this machine under real layouts."),
    "kernel": (
        "tessera.cli.lab.kernel",
        "kernel",
        "Build, boot and test the kernel with page-table replicas.",
    ),
    "layouts": ("tessera.cli.layouts", "layouts", "Generate and check layouts (mosaics of page sizes)."),
    "mapping": (
        "tessera.cli.mapping",
        "mapping",
        "Generate, capture, show and compose mappings (pages to frames).",
    ),
    "measure": (
        "tessera.cli.measure.group",
        "measure",
        "Count workloads or a program with this processor's counters; import logs of perf.",
    ),
    "models": ("tessera.cli.models", "models", "Fit runtime models and predict runtimes."),
    "mosalloc": (
        "tessera.cli.mosalloc.group",
        "mosalloc",
        "Run programs under a layout; reserve and suggest huge pages.",
    ),
    "notebooks": ("tessera.cli.dev.notebooks", "notebooks", "List, execute and refresh the task notebooks."),
    "numa": (
        "tessera.cli.lab.numa",
        "numa",
        "Predict what remote page tables cost; check the archived runs of Mitosis.",
    ),
    "oracle": (
        "tessera.cli.lab.oracle",
        "oracle",
        "Compare decisions of the imitation with those of Linux 6.12 in a guest.",
    ),
    "os": (
        "tessera.cli.lab.os_imitation",
        "os_group",
        "Run recorded programs under an imitation of Linux's memory management.",
    ),
    "package": (
        "tessera.cli.dev.package",
        "package",
        "Pack code and results in one zip with checksums, for a deposit.",
    ),
    "plan": (
        "tessera.cli.plan.command",
        "plan",
        "Print jobs, core hours, memory, disk and days of a configuration before it runs.",
    ),
    "pagetables": ("tessera.cli.pagetables", "pagetables", "Show on which sockets page tables lie."),
    "pipeline": (
        "tessera.cli.dev.pipeline_steps",
        "pipeline",
        "Run a step of the workflow; drop failures (retry), remove a lock (unlock).",
    ),
    "platform": ("tessera.cli.platform", "platform", "List, show, check and detect platforms."),
    "predict": (
        "tessera.cli.predict",
        "predict",
        "Predict the runtime of a new design with an interval, or say why it cannot be told.",
    ),
    "predict-design": ("tessera.cli.predict", "predict_design", "Gone: use tessera predict --design."),
    "reference": (
        "tessera.cli.dev.reference",
        "reference",
        "Download the papers' archived data; compare it with the printed numbers.",
    ),
    "report": ("tessera.cli.report", "report", "Write the report; check the claims."),
    "simulate": ("tessera.cli.simulate", "simulate", "Simulate a trace under many layouts."),
    "study": ("tessera.cli.lab.study", "study", "Study the simulator: sampling, ablations, assumptions."),
    "threads": (
        "tessera.cli.lab.threads",
        "threads",
        "Predict, sweep, measure and fit how runtime and energy depend on threads.",
    ),
    "trace": ("tessera.cli.trace", "trace", "Record, inspect, check and convert memory traces."),
    "validate": (
        "tessera.cli.lab.validation",
        "validate",
        "Validate the simulator and the platform file of this machine.",
    ),
    "virtuoso": (
        "tessera.cli.lab.faults",
        "virtuoso",
        "Compute what page faults cost programs, as figures of Virtuoso show it.",
    ),
    "workload": ("tessera.cli.workload", "workload", "List, show, run and add workloads."),
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
    """Predict runtimes from partial simulations of virtual memory (H, M and C), with known errors.

    H: STLB hits; M: STLB misses; C: page-walk cycles; R: runtime in cycles. Each command has --help with an
    example. Exit status: 0 success; 1 the work failed; 2 the request is wrong or something is missing; 3 a
    prediction has no answer.

    Example: ./run tessera workload list
    """


def _warned(message, category, filename, lineno, file=None, line=None) -> None:
    """A warning for the user as one line, any other as Python writes it."""
    # By its name: an import would delay the start of commands that read no table.
    if category.__name__ == "SpellingWarning":
        click.echo(f"tessera: {message}", err=True)
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


def main() -> None:
    """Run the command line; turn a :class:`TesseraError` into a message and an exit status.

    Also turns an OSError on a file (missing, a folder, no permission, disk full) into such a message.
    """
    warnings.showwarning = _warned
    try:
        cli(standalone_mode=True)
    except TesseraError as error:
        failure = error
    except OSError as error:
        failure = refused_by_system(error)
    click.echo(f"tessera: {failure}", err=True)
    sys.exit(failure.exit_code)
