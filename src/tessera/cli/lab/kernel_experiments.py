"""``tessera kernel table4`` to ``balancing``: the experiments; each writes its tables as CSV files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from tessera.cli.kernel_options import accept_series_option, say
from tessera.core.tables import frame_rows, print_table

_out = click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="Folder for CSV files and logs."
)


@click.command()
@accept_series_option
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
    from tessera.lab.kernel import cost_experiments

    if out is None:
        click.echo(cost_experiments.table4().to_csv(index=False, float_format="%.4f"), nl=False)
        return
    from tessera.core.results import kernel_tables
    from tessera.core.results.table_io import write_table
    from tessera.lab.kernel import image

    program = image.program("checked", say, accept_series=accept_series)
    measured = cost_experiments.measure_footprint(image.ready(say), program, out)
    write_table(kernel_tables.TABLE4, cost_experiments.table4(), out / kernel_tables.TABLE4.file)
    write_table(kernel_tables.TABLE4_MEASURED, measured, out / kernel_tables.TABLE4_MEASURED.file)
    print_table(**frame_rows(measured, 4))
    _end("DIFFERENCE", cost_experiments.footprint_disagreements(measured))


@click.command()
@accept_series_option
@click.option(
    "--region", "names", multiple=True, help="Region size: 4KB, 8MB or 1GB; may be repeated.  [default: all]"
)
@_out
def table5(accept_series: bool, names: tuple[str, ...], out: Path) -> None:
    """Count instructions of mmap, mprotect and munmap without and with replicas (Table 5).

    Example: ./run tessera kernel table5 --out build/kernel/table5
    """
    from tessera.core.errors import unknown_name
    from tessera.lab.kernel import cost_experiments

    for name in names:
        if name not in cost_experiments.REGIONS_BYTES:
            raise unknown_name("region", name, tuple(cost_experiments.REGIONS_BYTES))
    regions = {name: cost_experiments.REGIONS_BYTES[name] for name in names or cost_experiments.REGIONS_BYTES}
    measure = partial(cost_experiments.vma_operations, regions=regions)
    _count(accept_series, out, list(_configs()), measure, cost_experiments.table5, "table5")


@click.command()
@accept_series_option
@_out
def table6(accept_series: bool, out: Path) -> None:
    """Count instructions of whole programs without and with replicas (Table 6).

    Example: ./run tessera kernel table6 --out build/kernel/table6
    """
    from tessera.lab.kernel import cost_experiments

    _count(
        accept_series,
        out,
        ["off", "replicated"],
        cost_experiments.measure_whole_run,
        cost_experiments.table6,
        "table6",
    )


@click.command()
@accept_series_option
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

    from tessera.core.results import kernel_tables
    from tessera.core.results.table_io import write_table
    from tessera.lab.kernel import image, placement_experiments
    from tessera.lab.kernel.qemu import Machine

    program = image.program("checked", say, accept_series=accept_series)
    tables, wrong = [], []
    for what in placement_experiments.figure4_runs(megabytes):
        say(f"page tables of {what.workload}, {what.config}")
        folder = out / f"{what.workload}-{what.config}"
        table, found = placement_experiments.observe_placement(
            image.ready(say), program, what, folder, Machine(), 600
        )
        tables.append(table)
        wrong += [f"{what.workload} {what.config}: {line}" for line in found]
    write_table(kernel_tables.PLACEMENT, pd.concat(tables), out / kernel_tables.PLACEMENT.file)
    figure4 = placement_experiments.figure4(pd.concat(tables))
    write_table(kernel_tables.FIGURE4, figure4, out / kernel_tables.FIGURE4.file)
    print_table(**frame_rows(figure4, 3))
    _end("DIFFERENCE", wrong)


@click.command()
@accept_series_option
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
    from tessera.core.results.kernel_tables import BALANCING
    from tessera.core.results.table_io import write_table
    from tessera.lab.kernel import image, placement_experiments
    from tessera.lab.kernel.qemu import Machine

    program = image.program("checked", say, accept_series=accept_series)
    moments, wrong = placement_experiments.observe_balancing(
        image.ready(say), program, out / "guest", Machine(), megabytes, seconds
    )
    table = write_table(BALANCING, placement_experiments.balancing_table(moments), out / BALANCING.file)
    print_table(**frame_rows(table, 3))
    _end("DIFFERENCE", wrong)


COMMANDS = (table4, table5, table6, placement, balancing)


def _configs() -> dict[str, tuple]:
    from tessera.lab.kernel.guest import REPLICA_CONFIGS

    return REPLICA_CONFIGS


def _count(
    accept_series: bool, out: Path, configs: list[str], measure: Callable, ratios: Callable, name: str
) -> None:
    """Measure each configuration, write ``instructions.csv`` and the table of ratios, print the table."""
    import pandas as pd

    from tessera.core.results.catalogue import TABLES
    from tessera.core.results.table_io import write_table
    from tessera.lab.kernel import image
    from tessera.lab.kernel.guest import config_folder_name

    tables = []
    for config in configs:
        say(f"counting instructions: {config}")
        program = image.program(_configs()[config][0], say, accept_series=accept_series)
        tables.append(measure(image.ready(say), config, program, out / config_folder_name(config)))
    measured = pd.concat(tables)
    counts, shown = TABLES[f"kernel/{name}/instructions"], TABLES[f"kernel/{name}/{name}"]
    write_table(counts, measured, out / counts.file)
    table = ratios(measured)
    write_table(shown, table, out / shown.file)
    print_table(**frame_rows(table, 3))


def _end(what: str, lines: list[str]) -> None:
    """Print the lines; exit with status 1 if there are any."""
    for line in lines:
        click.echo(f"{what}: {line}", err=True)
    sys.exit(1 if lines else 0)
