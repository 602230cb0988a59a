"""``tessera mosalloc bench``: the overhead of the library, row by row, with bounds."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click


@click.command()
@click.option("--quick", is_flag=True, help="Few short runs: takes seconds, gives wide intervals.")
@click.option("--pairs", type=click.IntRange(1), help="Pairs of runs per row.  [default: 15, with --quick 3]")
@click.option("--row", "names", multiple=True, help="Row to measure; may be repeated.  [default: all]")
@click.option("--out", type=click.Path(path_type=Path), help="File to write the table to (.json or .csv).")
def bench(quick: bool, pairs: int | None, names: tuple[str, ...], out: Path | None) -> None:
    """Compare programs with and without the library, both on 4KB pages.

    Measures each row in pairs of runs in random order. The table has the median of the pairs with its 95%
    interval, and the lowest value of each side. Exit status 1 if a row exceeds its bound.

    Example: ./run tessera mosalloc bench --quick
    """
    from tessera.allocator_proof.bench import ROWS, Bench, format_table, write_results
    from tessera.core.errors import unknown_name
    from tessera.core.files import check_target

    known = {row.name: row for row in ROWS}
    for name in names:
        if name not in known:
            raise unknown_name("row", name, list(known))
    chosen = [known[name] for name in names] or list(ROWS)
    if out is not None:
        check_target(out)
    results = []
    with tempfile.TemporaryDirectory(prefix="tessera-bench-") as folder:
        bench_run = Bench(Path(folder), pairs=pairs or (3 if quick else 15), quick=quick)
        for result in bench_run.results(chosen):
            results.append(result)
            click.echo(f"{result.row}: {result.verdict}", err=True)
    click.echo(format_table(results))
    if out is not None:
        write_results(results, out)
        click.echo(f"table -> {out}", err=True)
    sys.exit(1 if any(result.verdict == "FAIL" for result in results) else 0)
