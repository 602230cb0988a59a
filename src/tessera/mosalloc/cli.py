"""``tessera mosalloc``: programs under mosaics of page sizes. A command is a file of ``commands/`` and a line here."""

from __future__ import annotations

import click

from tessera.mosalloc.commands.check import check
from tessera.mosalloc.commands.run import run


@click.group()
def mosalloc() -> None:
    """Run a program under a mosaic of page sizes."""


mosalloc.add_command(run)
mosalloc.add_command(check)
