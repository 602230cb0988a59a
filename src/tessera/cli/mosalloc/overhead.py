"""``tessera mosalloc overhead``: memory and time of whole programs with and without the library."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click


@click.command()
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True,
              help="CSV to write: workload,allocator,pair,memory_bytes,cpu_ns,provenance.")  # fmt: skip
@click.option(
    "--pairs", type=click.IntRange(1), default=15, show_default=True, help="Pairs of runs per program."
)
@click.option("--seconds", type=click.FloatRange(0), default=50, show_default=True,
              help="Start no round of pairs after so many seconds; the first always runs.")  # fmt: skip
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the order within the pairs.")
def overhead(out: Path, pairs: int, seconds: float, seed: int) -> None:
    """Compare gups and graph500 under the library with plain glibc, both on 4KB pages (OPERA Table 4).

    Measures peak resident memory and processor time of the whole program, in pairs in random order.

    \b
    Example:
      ./run tessera mosalloc overhead --out results/default/host/allocator.csv
    """
    from tessera.core.files import check_target
    from tessera.core.results.machine_tables import ALLOCATOR
    from tessera.core.results.table_io import write_table
    from tessera.core.tables import print_table
    from tessera.lab.allocator_proof.overhead import measure, overheads

    check_target(out)
    with tempfile.TemporaryDirectory(prefix="tessera-overhead-") as folder:
        table = measure(Path(folder), pairs=pairs, seconds=seconds, seed=seed)
    write_table(ALLOCATOR, table, out)
    units = {"memory_bytes": (1 << 20, "MB"), "cpu_ns": (1e9, "s")}
    rows = []
    for row in overheads(table).itertuples():
        scale, unit = units[row.quantity]
        sides = (f"{row.glibc / scale:.3f} {unit}", f"{row.mosalloc / scale:.3f} {unit}")
        known = row.low == row.low and row.low is not None
        interval = f"{row.low:+.1%} to {row.high:+.1%}" if known else f"too few pairs ({row.pairs})"
        rows.append((row.workload, row.quantity, *sides, f"{row.overhead:+.1%}", interval))
    heads = ("workload", "quantity", "glibc", "mosalloc", "overhead", "95% interval")
    print_table(heads, rows, right=(2, 3, 4))
    click.echo(f"measured on this machine, {table['pair'].nunique()} pairs per program -> {out}", err=True)
