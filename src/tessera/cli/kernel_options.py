"""Options and output that the commands of the kernel share."""

from __future__ import annotations

import click

#: The option ``--accept-series``.
accept_series_option = click.option(
    "--accept-series", is_flag=True, help="Take another version of the source's series if all patches apply."
)


def say(line: str) -> None:
    """Progress goes to standard error."""
    click.echo(f"tessera: {line}", err=True)
