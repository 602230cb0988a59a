"""``tessera mosalloc``: a command is a file of ``commands/`` and one line here."""

from __future__ import annotations

import click

from tessera.mosalloc.commands.analyze import analyze
from tessera.mosalloc.commands.bench import bench
from tessera.mosalloc.commands.check import check
from tessera.mosalloc.commands.overhead import overhead
from tessera.mosalloc.commands.programs import programs
from tessera.mosalloc.commands.proof import proof
from tessera.mosalloc.commands.reserve import reserve
from tessera.mosalloc.commands.run import run
from tessera.mosalloc.commands.suggest import suggest


@click.group()
def mosalloc() -> None:
    """Run a program under a mosaic of page sizes."""


mosalloc.add_command(run)
mosalloc.add_command(check)
mosalloc.add_command(analyze)
mosalloc.add_command(reserve)
mosalloc.add_command(suggest)
mosalloc.add_command(programs)
mosalloc.add_command(bench)
mosalloc.add_command(proof)
mosalloc.add_command(overhead)
