"""``tessera kernel table4`` to ``balancing``: the experiments; each writes its tables as CSV files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from tessera.core.tables import frame_rows, print_table
from tessera.kernel.command_line import accept, say

_out = click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="Folder for CSV files and logs."
)


@click.command()
@accept
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder: also measure small sizes in the guest, and write both tables there.",
)
def table4(accept_series: bool, out: Path | None) -> None:
    """Compute the memory of replicas (Table 4) by the paper's formula; with --out, also measure it.

    Without --out, prints CSV.

    Example: ./run tessera kernel table4 --out build/kernel/table4
    """
    from tessera.kernel.overhead import table4 as table

    if out is None:
        click.echo(table().to_csv(index=False, float_format="%.4f"), nl=False)
        return
    from tessera.kernel import image
    from tessera.kernel.experiments import footprint
    from tessera.results.schema import kernel as schema
    from tessera.results.write import write

    program = image.program("checked", say, accept_series=accept_series)
    measured = footprint.measure(image.ready(say), program, out)
    write(schema.TABLE4, table(), out / schema.TABLE4.file)
    write(schema.TABLE4_MEASURED, measured, out / schema.TABLE4_MEASURED.file)
    print_table(**frame_rows(measured, 4))
    _end("DIFFERENCE", footprint.disagreements(measured))


@click.command()
@accept
@click.option(
    "--region", "names", multiple=True, help="Region size: 4KB, 8MB or 1GB; may be repeated.  [default: all]"
)
@_out
def table5(accept_series: bool, names: tuple[str, ...], out: Path) -> None:
    """Count instructions of mmap, mprotect and munmap without and with replicas (Table 5).

    Example: ./run tessera kernel table5 --out build/kernel/table5
    """
    from tessera.core.errors import unknown_name
    from tessera.kernel.experiments import instructions

    for name in names:
        if name not in instructions.REGIONS_BYTES:
            raise unknown_name("region", name, tuple(instructions.REGIONS_BYTES))
    regions = {name: instructions.REGIONS_BYTES[name] for name in names or instructions.REGIONS_BYTES}
    measure = partial(instructions.vma_operations, regions=regions)
    _count(accept_series, out, list(_configs()), measure, instructions.table5, "table5")


@click.command()
@accept
@_out
def table6(accept_series: bool, out: Path) -> None:
    """Count instructions of whole programs without and with replicas (Table 6).

    Example: ./run tessera kernel table6 --out build/kernel/table6
    """
    from tessera.kernel.experiments import whole_run

    _count(accept_series, out, ["off", "replicated"], whole_run.measure, whole_run.table6, "table6")


@click.command()
@accept
@click.option(
    "--megabytes", default=64, show_default=True, help="Memory that the programs touch, in MB (2^20 bytes)."
)
@_out
def placement(accept_series: bool, megabytes: int, out: Path) -> None:
    """Record the sockets of page tables under first touch and interleave, without and with replicas
    (Figures 3 and 4).

    Example: ./run tessera kernel placement --out build/kernel/placement
    """
    import pandas as pd

    from tessera.kernel import image
    from tessera.kernel.experiments import figures
    from tessera.kernel.machine import Machine
    from tessera.results.schema import kernel as schema
    from tessera.results.write import write

    program = image.program("checked", say, accept_series=accept_series)
    tables, wrong = [], []
    for what in figures.runs(megabytes):
        say(f"page tables of {what.workload}, {what.config}")
        folder = out / f"{what.workload}-{what.config}"
        table, found = figures.observe(image.ready(say), program, what, folder, Machine(), 600)
        tables.append(table)
        wrong += [f"{what.workload} {what.config}: {line}" for line in found]
    write(schema.PLACEMENT, pd.concat(tables), out / schema.PLACEMENT.file)
    figure4 = figures.figure4(pd.concat(tables))
    write(schema.FIGURE4, figure4, out / schema.FIGURE4.file)
    print_table(**frame_rows(figure4, 3))
    _end("DIFFERENCE", wrong)


@click.command()
@accept
@click.option(
    "--megabytes", default=16, show_default=True, help="Memory that the process fills, in MB (2^20 bytes)."
)
@click.option(
    "--seconds", default=300, show_default=True, help="Limit for the kernel to move the data, in seconds."
)
@_out
def balancing(accept_series: bool, megabytes: int, seconds: int, out: Path) -> None:
    """Move a process to another socket; record its data and page tables before and after automatic NUMA
    balancing, and with page tables on the new socket (Mitosis, sections 3.1 and 5.5).

    Example: ./run tessera kernel balancing --out build/kernel/balancing
    """
    from tessera.kernel import image
    from tessera.kernel.experiments import balancing as experiment
    from tessera.kernel.machine import Machine
    from tessera.results.schema.kernel import BALANCING
    from tessera.results.write import write

    program = image.program("checked", say, accept_series=accept_series)
    moments, wrong = experiment.observe(
        image.ready(say), program, out / "guest", Machine(), megabytes, seconds
    )
    table = write(BALANCING, experiment.table(moments), out / BALANCING.file)
    print_table(**frame_rows(table, 3))
    _end("DIFFERENCE", wrong)


COMMANDS = (table4, table5, table6, placement, balancing)


def _configs() -> dict[str, tuple]:
    from tessera.kernel.experiments.scripts import CONFIGS

    return CONFIGS


def _count(
    accept_series: bool, out: Path, configs: list[str], measure: Callable, ratios: Callable, name: str
) -> None:
    """Measure each configuration, write ``instructions.csv`` and the table of ratios, print the table."""
    import pandas as pd

    from tessera.kernel import image
    from tessera.kernel.experiments.scripts import folder_name
    from tessera.results.schema import TABLES
    from tessera.results.write import write

    tables = []
    for config in configs:
        say(f"counting instructions: {config}")
        program = image.program(_configs()[config][0], say, accept_series=accept_series)
        tables.append(measure(image.ready(say), config, program, out / folder_name(config)))
    measured = pd.concat(tables)
    counts, shown = TABLES[f"kernel/{name}/instructions"], TABLES[f"kernel/{name}/{name}"]
    write(counts, measured, out / counts.file)
    table = ratios(measured)
    write(shown, table, out / shown.file)
    print_table(**frame_rows(table, 3))


def _end(what: str, lines: list[str]) -> None:
    """Print the lines; exit with status 1 if there are any."""
    for line in lines:
        click.echo(f"{what}: {line}", err=True)
    sys.exit(1 if lines else 0)
