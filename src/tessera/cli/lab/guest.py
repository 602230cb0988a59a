"""Options and output of commands that start a guest with our kernel."""

from __future__ import annotations

import click

accept_series = click.option(
    "--accept-series", is_flag=True, help="Take another version of the source's series if all patches apply."
)
nodes = click.option("--nodes", default=4, show_default=True, help="Sockets (NUMA nodes) of the guest.")
memory_mb = click.option(
    "--memory-mb", default=2048, show_default=True, help="Memory of the guest in MB (2^20 bytes)."
)


def timeout(seconds: int):
    """``--timeout``, with this default."""
    return click.option(
        "--timeout", default=seconds, show_default=True, help="Stop the guest after this many seconds."
    )


def say(line: str) -> None:
    """Progress goes to standard error."""
    click.echo(f"tessera: {line}", err=True)
