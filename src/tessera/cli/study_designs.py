"""``tessera study designs``: translation designs under mappings of pages to frames."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.cli.study_output import Log, close, names_of, say_trace_notes
from tessera.results.status import is_ok

_PATH = click.Path(path_type=Path)


@click.command()
@click.option("--trace", type=_PATH, required=True, help="Trace (.tst), or info.json of a recording.")
@click.option("--platform", default="park-haswell", show_default=True, help="Platform name or YAML file.")
@click.option("--out", type=_PATH, required=True, help="Folder for cells.csv, structures.csv, mappings.csv.")
@click.option("--designs", "names", help="Designs, comma-separated (tessera simulate --list).  "
              "[default: all of Park, KAIST 2019, that one process can have]")  # fmt: skip
@click.option(
    "--mappings",
    "kinds",
    default="demand,eager,low,medium,high,max",
    show_default=True,
    help="Kinds of mappings, comma-separated (tessera mapping generate --help).",
)
@click.option(
    "--also",
    multiple=True,
    metavar="DESIGNS:MAPPINGS",
    help="Further designs under mappings of their own, both comma-separated; may be repeated.",
)
@click.option(
    "--window-accesses",
    type=click.IntRange(min=1),
    metavar="N",
    help="Simulate N accesses from the middle of the trace.  [default: the whole trace]",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the mappings."
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Threads of the simulator: mappings in parallel; they don't change results.",
)
@click.option("--cache", type=_PATH, help="Folder of finished simulations.  [default: .cache in --out]")
def designs(trace, platform, out, names, kinds, also, window_accesses, seed, threads, cache) -> None:
    """Compare translation designs under mappings of pages to frames.

    Generates the mappings for the pools of the trace, and simulates each design under each of them, in full.
    A design that the simulator rejects for a mapping is a row with the reason. Prints the misses of each
    design relative to the design `baseline`. docs/studies.md describes the tables.

    \b
    Example, after ./run smoke:
      ./run tessera study designs --trace results/smoke/traces/gups/info.json --window-accesses 200000 \\
          --designs baseline,thp,anchor --mappings demand,medium --also anchor:high-over-low,pages-64 \\
          --out /tmp/designs-study
    """
    from tessera.judge.studies.designs.catalogue import NAMES
    from tessera.judge.studies.designs.step import Job, designs_study

    job = Job(
        trace, platform, names_of(names) if names else NAMES, names_of(kinds), cache or out / ".cache", out,
        window_accesses, [_more(text) for text in also], seed, threads,
        Log(f"designs on {Path(platform).stem}"),
    )  # fmt: skip
    table = designs_study(job)
    for row in table.itertuples():
        if not is_ok(row.status):
            click.echo(f"{row.status}: {row.design} under {row.mapping}: {row.message}", err=True)
    _print(table)
    close(table, out)
    say_trace_notes(trace)


def _more(text: str) -> tuple[list[str], list[str]]:
    """Designs and mappings of one --also."""
    from tessera.core.errors import TesseraError

    designs, colon, mappings = text.partition(":")
    if not (names_of(designs) and colon and names_of(mappings)):
        raise TesseraError(
            f"--also {text}", "this is not DESIGNS:MAPPINGS", "write for example --also anchor:high-over-low"
        )
    return names_of(designs), names_of(mappings)


def _print(table) -> None:
    """Misses relative to those of the baseline, designs by mappings."""
    from tessera.core.tables import print_table

    if not table["misses_to_baseline_percent"].notna().any():
        return
    mappings = list(dict.fromkeys(table["mapping"]))
    rows = []
    for design, part in table.groupby("design", sort=False):
        change = part.set_index("mapping")["misses_to_baseline_percent"]
        left = [100 + change.get(mapping, float("nan")) for mapping in mappings]
        rows.append((str(design), *("" if value != value else f"{value:.1f}%" for value in left)))
    print_table(["misses of baseline's", *mappings], rows, right=range(1, len(mappings) + 1))
