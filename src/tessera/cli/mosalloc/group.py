"""``tessera mosalloc``: each command is one file of this folder and one line here."""

from __future__ import annotations

import click

from tessera.cli.mosalloc.analyze import analyze
from tessera.cli.mosalloc.bench import bench
from tessera.cli.mosalloc.check import check
from tessera.cli.mosalloc.overhead import overhead
from tessera.cli.mosalloc.programs import programs
from tessera.cli.mosalloc.proof import proof
from tessera.cli.mosalloc.reserve import reserve
from tessera.cli.mosalloc.run import run
from tessera.cli.mosalloc.suggest import suggest


@click.group()
def mosalloc() -> None:
    """Run programs under a layout (mosaic of page sizes); reserve and suggest huge pages.

    Example: ./run tessera mosalloc run --layout examples/all-4kb.csv -- ls
    """


mosalloc.add_command(run)
mosalloc.add_command(check)
mosalloc.add_command(analyze)
mosalloc.add_command(reserve)
mosalloc.add_command(suggest)
mosalloc.add_command(programs)
mosalloc.add_command(bench)
mosalloc.add_command(proof)
mosalloc.add_command(overhead)
