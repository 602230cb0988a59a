"""Entry point of ``tessera``: a table of commands, each imported only when it is used."""

from __future__ import annotations

import sys
import warnings

import click

from tessera import __version__
from tessera.cli.lazy import LazyGroup
from tessera.core.errors import TesseraError
from tessera.core.files import refused_by_system
from tessera.core.terminal import escaped_streams

#: By what a person wants. A new command is one module with a click command or group, and one line here.
COMMANDS = {
    "This machine": {
        "doctor": ("tessera.cli.machine:doctor", "Report what this machine can do; change nothing."),
        "plan": (
            "tessera.cli.plan.command:plan",
            "Print jobs, core hours, memory, disk and days of a configuration before it runs.",
        ),
    },
    "A simulated cell, step by step": {
        "workload": ("tessera.cli.workload:workload", "List, show, run and add workloads; their input data."),
        "trace": ("tessera.cli.trace:trace", "Record, inspect, check and convert memory traces."),
        "layouts": ("tessera.cli.layouts:layouts", "Generate and check layouts (mosaics of page sizes)."),
        "mapping": (
            "tessera.cli.mapping:mapping",
            "Generate, capture, show and compose mappings (pages to frames).",
        ),
        "platform": ("tessera.cli.platform:platform", "List, show, check and detect platforms."),
        "simulate": ("tessera.cli.simulate:simulate", "Simulate a trace under many layouts."),
    },
    "Real processors": {
        "measure": (
            "tessera.cli.measure.group:measure",
            "Count programs with this processor's counters; check counters and machine; keep bundles.",
        ),
        "mosalloc": (
            "tessera.cli.mosalloc.group:mosalloc",
            "Run programs under a layout; reserve and suggest huge pages.",
        ),
    },
    "Runtimes": {
        "demo": (
            "tessera.cli.demo:demo",
            "Fit the published models to archived data, ask two designs: seconds.",
        ),
        "models": ("tessera.cli.models:models", "Fit runtime models; show what they say."),
        "predict": (
            "tessera.cli.predict:predict",
            "Predict the runtime of a new design with an interval, or say why it cannot be told.",
        ),
        "report": ("tessera.cli.report:report", "Write the report; check the claims."),
    },
    "More": {
        "lab": (
            "tessera.cli.lab.group:lab",
            "Studies: simulator, designs, operating systems, kernels, NUMA, faults, threads.",
        ),
        "dev": (
            "tessera.cli.dev.group:dev",
            "Steps of the workflow; build, pack, reference data, notebooks.",
        ),
    },
}


@click.group(cls=LazyGroup, table=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Predict runtimes from partial simulations of virtual memory (H, M and C), with known errors.

    H: STLB hits; M: STLB misses; C: page-walk cycles; R: runtime in cycles. Each command has --help with an
    example. Exit status: 0 success; 1 the work failed; 2 the request is wrong or something is missing; 3 a
    prediction has no answer.

    Example: ./run tessera workload show
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
    with escaped_streams():
        try:
            cli(standalone_mode=True)
        except TesseraError as error:
            failure = error
        except OSError as error:
            failure = refused_by_system(error)
        click.echo(f"tessera: {failure}", err=True)
        sys.exit(failure.exit_code)
