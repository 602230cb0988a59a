"""Options that several commands share: one name has one meaning, one unit and one text.

A function takes the text where it must say more, for example what a command writes to ``--out``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from tessera.core.errors import TesseraError
from tessera.core.files import repo_root

PATH = click.Path(path_type=Path)
#: Signals that may stop a server.
STOP_SIGNALS = ("TERM", "INT", "QUIT", "HUP", "USR1", "USR2")
Decorator = Callable[[Any], Any]

# Files and folders.


def out(text: str, *, required: bool = True, **more: Any) -> Decorator:
    """``--out``: what the command writes."""
    return click.option("--out", type=PATH, required=required, help=text, **more)


def trace(text: str = "Trace file (.tst).", *, required: bool = False) -> Decorator:
    return click.option("--trace", type=PATH, required=required, help=text)


def results(text: str, *, required: bool = False) -> Decorator:
    """``--results``: folder of a run."""
    return click.option("--results", type=PATH, required=required, metavar="DIR", help=text)


def samples(text: str = "", *, required: bool = True) -> Decorator:
    return click.option(
        "--samples", type=PATH, required=required,
        help=text or "CSV of samples or cells of one workload and platform.",
    )  # fmt: skip


def layout(text: str, *, required: bool = False, **more: Any) -> Decorator:
    return click.option("--layout", required=required, help=text, **more)


def cache(default: str) -> Decorator:
    return click.option("--cache", type=PATH, help=f"Folder of finished simulations.  [default: {default}]")


reference = click.option(
    "--reference", type=PATH, help="Folder of published numbers.  [default: reference-results]"
)
bundles = click.option(
    "--bundles", "root", type=PATH, help="Folder of all bundles.  [default: bundles/ of the checkout]"
)
fit = click.option("--fit", type=PATH, help="Folder that `models fit` wrote: P is what it was fitted to.")


def config(shown: str, **more: Any) -> Decorator:
    """``--config``; ``shown`` says what the default is. :func:`configuration_path` finds the file."""
    text = f"Configuration: name in config/, or a path.  [default: {shown}]"
    return click.option("--config", "configuration", help=text, **more)


def configuration_path(configuration: str) -> Path:
    """The file of a configuration that is named by its name in ``config/``, or by its path."""
    named = repo_root() / "config" / f"{configuration}.yaml"
    return named if named.is_file() else Path(configuration)


# What is simulated, measured or fitted.


def platform(text: str, **more: Any) -> Decorator:
    """``--platform``: name or YAML file (or the name that a table has)."""
    return click.option("--platform", help=text, **more)


def workload(text: str, *, required: bool = False) -> Decorator:
    return click.option("--workload", required=required, metavar="NAME", help=text)


size = click.option("--size", required=True, help="Size, as in: tessera workload show NAME.")


def sampling(text: str, **more: Any) -> Decorator:
    return click.option("--sampling", metavar="PLAN", help=text, **more)


jobs = click.option(
    "--jobs", type=click.IntRange(1), default=1, show_default=True, metavar="N",
    help="Simulations at the same time; they don't change results.",
)  # fmt: skip


def seed(text: str, default: int = 1, most: int | None = None) -> Decorator:
    """``--seed`` of what the text says is random."""
    return click.option(
        "--seed", type=click.IntRange(0, most), default=default, show_default=True, help=f"Seed of {text}."
    )


def models(text: str) -> Decorator:
    return click.option("--model", "names", multiple=True, help=text)


one_in_ten = click.option(
    "--one-in-ten", type=click.Choice(["flag", "refuse"]), default="flag", show_default=True,
    help="What to do with a model that has fewer than ten samples per coefficient.",
)  # fmt: skip


class _Point(click.ParamType):
    name = "H,M,C"

    def convert(self, value, param, ctx):
        if isinstance(value, tuple):
            return value
        try:
            found = tuple(float(part) for part in value.split(","))
        except ValueError:
            found = ()
        if len(found) != 3:
            raise TesseraError(
                f"--point {value}", "it needs three numbers: H, M and C", "--point 12e6,34e6,1.2e9",
                code="one-question",
            )  # fmt: skip
        return found


def point(text: str) -> Decorator:
    """``--point H,M,C``: STLB hits, STLB misses and walk cycles; gives a tuple of three floats."""
    return click.option("--point", type=_Point(), metavar="H,M,C", help=text)


# Programs that run: under pools, counted, or as servers.


def pools(default: str, **defaults: str) -> Decorator:
    """``--heap-pool`` and ``--anon-pool``: sizes with a unit (``heap_pool``, ``anon_pool``)."""

    def both(command):
        for name, text in (("anon", "anonymous"), ("heap", "heap")):
            command = click.option(
                f"--{name}-pool", default=defaults.get(name, default), show_default=True,
                help=f"Size of the {text} pool, with unit.",
            )(command)  # fmt: skip
        return command

    return both


roi = click.option(
    "--roi", default="auto", show_default=True, metavar="REGION",
    help="Region of interest: auto, whole, markers, skip:N, switch:FILE, closed:NAME, written:NAME.",
)  # fmt: skip


def max_accesses(text: str, **more: Any) -> Decorator:
    return click.option("--max-accesses", type=click.IntRange(1), metavar="N", help=text, **more)


target = click.option("--target", help="Executable that is meant, if PROGRAM is a script that starts it.")
hints = click.option(
    "--hints", type=click.Choice(("kernel", "pool")),
    help="Who places memory that is requested at an address.  [default: kernel]",
)  # fmt: skip
stacks = click.option(
    "--stacks", type=click.Choice(("kernel", "pool")),
    help="Where to place stacks of threads.  [default: kernel]",
)  # fmt: skip
yes = click.option("--yes", is_flag=True, help="Reserve huge pages without asking (as TESSERA_RESERVE=1).")
mode = click.option(
    "--mode", type=click.Choice(("u", "uk")), default="u", show_default=True,
    help="Mode that is counted: user, or user and kernel.",
)  # fmt: skip


def processor_class(text: str, **more: Any) -> Decorator:
    """``--class``: a class of processors, as ``tessera measure counters show`` lists them."""
    return click.option("--class", "class_name", metavar="NAME", help=text, **more)


def pairs(text: str, default: int | None = None) -> Decorator:
    return click.option(
        "--pairs", type=click.IntRange(1), default=default, show_default=default is not None, help=text
    )


#: ``name`` of each option of :func:`server`.
SERVER = ("load", "ready_port", "stop_signal")


def server(command):
    """``--load``, ``--ready-port`` and ``--stop-signal``: PROGRAM is a server."""
    for option in (
        click.option(
            "--stop-signal", type=click.Choice(STOP_SIGNALS), default="TERM", show_default=True,
            help="Signal that stops the server.",
        ),
        click.option(
            "--ready-port", type=click.IntRange(1, 65535),
            help="Start the load when PROGRAM answers on this TCP port.",
        ),
        click.option(
            "--load", metavar="CMD", help="PROGRAM is a server: run CMD (by sh) beside it, then stop it."
        ),
    ):  # fmt: skip
        command = option(command)
    return command


# Output.


def as_json(text: str) -> Decorator:
    return click.option("--json", "as_json", is_flag=True, help=text)
