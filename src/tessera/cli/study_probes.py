"""``tessera study probes``: single structures of Park's designs under accesses from a formula."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.cli.study_output import Log, close
from tessera.results.status import is_ok


@click.command()
@click.option("--platform", default="park-haswell", show_default=True, help="Platform name or YAML file.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="CSV file to write.")
@click.option(
    "--accesses",
    type=click.IntRange(min=1000),
    default=1_000_000,
    show_default=True,
    help="Random accesses of each case.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the accesses."
)
def probes(platform, out, accesses, seed) -> None:
    """Probe the index cache and the synonym filter of Park, KAIST 2019, with random accesses.

    index-cache: 2^40 bytes in 1,024 or 2,048 equal segments (Figure 2.7b). Prints hits of a node and of a
    whole walk, with full and with half-full nodes. synonym-filter: shares of shared memory as in Table 2.1.
    Prints the accesses that need no TLB. docs/studies.md describes both.

    \b
    Example (after: tessera build simulator tracer):
      ./run tessera study probes --accesses 100000 --out /tmp/probes.csv
    """
    from tessera.core.tables import print_table
    from tessera.judge.studies.probes.step import probes_study

    table = probes_study(platform, out, accesses=accesses, seed=seed, progress=Log("probes"))
    rows = [
        (row.probe, row.case, row.quantity, f"{row.value:.3f}%")
        for row in table.itertuples()
        if is_ok(row.status)
    ]
    print_table(["probe", "case", "quantity", "value"], rows, right=(3,))
    close(table, out)
