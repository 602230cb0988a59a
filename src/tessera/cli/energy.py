"""``tessera energy``: energy of cells with assumed or fitted constants."""

from __future__ import annotations

from pathlib import Path

import click

PATH = click.Path(path_type=Path)


@click.group()
def energy() -> None:
    """Compute the energy of cells from power constants (docs/energy.md).

    Example: ./run tessera energy cells --cells results/smoke/cells.csv --out /tmp/energy
    """


@energy.command()
@click.option("--cells", "cells_file", type=PATH, required=True, help="cells.csv of a run.")
@click.option(
    "--power",
    "power_file",
    type=PATH,
    help="Power file, e.g. of tessera threads fit.  [default: config/machines/power/one-core.yaml]",
)
@click.option("--out", type=PATH, required=True, help="Folder for energy.csv and savings.csv.")
def cells(cells_file: Path, power_file: Path | None, out: Path) -> None:
    """Compute E8 for every cell: L R/f, instructions, and loads by level.

    Writes energy.csv (joules with the constants as given) and savings.csv (what mosaics save, under each
    set of constants). Prints how closely energy follows runtime. The default constants are assumed, so use
    the relations, not the joules.

    Example: ./run tessera energy cells --cells results/smoke/cells.csv --out /tmp/energy
    """
    from tessera.core.tables import print_table
    from tessera.energy import power, sentences
    from tessera.energy.step import energy_of_cells

    table, saved = energy_of_cells(cells_file, power_file or power.default(), out)
    rows = [
        (
            one["constants"],
            f"{one['static_share']:.3f}",
            f"{one['ratio']:.3f}",
            one["fastest"],
            f"{one['reversed']:.4f}",
        )
        for one in sentences.by_constants(saved)
    ]
    if rows:
        heads = ["constants", "static share", "energy/runtime saved", "fastest needs least", "reversed"]
        print_table(heads, rows, right=(1, 2, 4))
    for line in sentences.sentences(saved):
        click.echo(line)
    click.echo(f"{len(table)} cells, {len(saved)} rows of savings -> {out}")
