"""``tessera mapping``: generate, capture, show and compose mappings of pages to frames."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.cli.mapping_capture import capture
from tessera.cli.mapping_matrix import capture_matrix

_PATH = click.Path(path_type=Path)


@click.group()
def mapping() -> None:
    """Generate, capture, show and compose mappings (pages to physical frames).

    A mapping decides how contiguous physical memory is. Anchors, clusters and ranges of a TLB depend on it.
    docs/mappings.md describes the file and the kinds.

    \b
    Example:
      ./run tessera mapping generate --pool mmap=1GB --kind medium --out /tmp/medium.csv
      ./run tessera mapping show /tmp/medium.csv
    """


mapping.add_command(capture)
mapping.add_command(capture_matrix)


@mapping.command()
@click.option("--trace", type=_PATH, help="Trace (.tst) whose used pools get frames.")
@click.option(
    "--pool",
    "pools",
    multiple=True,
    metavar="POOL=SIZE",
    help="In place of --trace: brk or mmap, repeatable.",
)
@click.option(
    "--kind",
    required=True,
    help="low (chunks of 1-16 pages of 4KB), medium (1-512), high (512-65536), max (a chunk for each pool), "
    "demand (first touch, 2MB pages), eager (whole pools, 2MB pages), "
    "pages-N (chunks of N pages, N = 1, 2, 4, ..., 65536), or GUEST-over-HOST of these.",
)
@click.option("--out", required=True, type=_PATH, help="Mapping file to write (CSV).")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Seed of random lengths and addresses.",
)
@click.option(
    "--alignment",
    type=int,
    help="Virtual and physical page numbers of a chunk are equal modulo this (low, medium, high, max).  "
    "[default: 512]",
)
@click.option(
    "--free",
    metavar="ORDER=NUMBER,...",
    help="Free blocks at the start (demand, eager).  [default: enough of order 10]",
)
@click.option(
    "--touches",
    type=_PATH,
    help="First touches (demand), as `tessera trace touches` writes them.  [default: from --trace]",
)
def generate(trace, pools, kind, out, seed, alignment, free, touches) -> None:
    """Generate a mapping of the used parts of both pools.

    \b
    Examples (the trace: tessera trace record --help):
      ./run tessera mapping generate --pool mmap=8GB --kind medium --seed 1 --out /tmp/medium.csv
      ./run tessera mapping generate --pool mmap=1GB --kind eager --free 9=256,0=200000 --out /tmp/eager.csv
      ./run tessera mapping generate --trace /tmp/gups.tst --kind demand --out /tmp/demand.csv
      ./run tessera mapping generate --pool mmap=1GB --kind high-over-low --out /tmp/nested.csv
    """
    from tessera.cli.study_output import say_trace_notes
    from tessera.core.files import check_target
    from tessera.mapping import kinds, nested, regions
    from tessera.mapping.file import write_mapping
    from tessera.mapping.states import Mapping
    from tessera.mapping.summary import Summary
    from tessera.mapping.touches import read_touches
    from tessera.record import traces

    if (trace is None) == (not pools):
        raise click.UsageError("give either --trace or --pool")
    check_target(out)
    asked = kinds.Request(
        regions.of_texts(pools) if trace is None else regions.of_trace(traces.info(trace)),
        seed=seed,
        alignment=alignment,
        free=None if free is None else kinds.free_blocks(free),
        touches=read_touches(touches) if touches else _touches(trace, kind),
    )
    made = nested.make(kind, asked)
    written = Mapping.fixed(out.stem, made.rows)
    write_mapping(written, out)
    found = Summary.of(written.at(0))
    click.echo(
        f"{found.mapped_pages} pages of 4KB in {found.histogram.chunks} chunks, "
        f"{100 * found.share('2MB'):.1f}% of them in 2MB pages -> {out}"
    )
    for name, value in made.report.items():
        click.echo(f"{name}: {value}")
    say_trace_notes(trace)


def _touches(trace: Path | None, kind: str):
    """The first touches of a trace, for the kind that needs them."""
    import tempfile

    from tessera.mapping.nested import needs_touches
    from tessera.mapping.touches import read_touches
    from tessera.record import traces

    if trace is None or not needs_touches(kind):
        return None
    with tempfile.TemporaryDirectory(prefix="tessera-touches-") as folder:
        file = Path(folder) / "touches.csv"
        traces.touches(trace, file)
        return read_touches(file)


@mapping.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=_PATH)
@click.option(
    "--access",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Show what holds at this data access.",
)
@click.option("--picture", type=_PATH, help="Also write the distribution of chunk sizes of all FILEs as SVG.")
def show(files: tuple[Path, ...], access: int, picture: Path | None) -> None:
    """Show page sizes, chunks and anchor distances of mapping files, after checking every rule.

    The anchor distance is that of Algorithm 1 (Park, KAIST 2019) by two readings: `count` adds up TLB
    entries, `printed` weighs them as the printed listing does.

    \b
    Example (the file: tessera mapping generate --help):
      ./run tessera mapping show /tmp/medium.csv --picture /tmp/chunks.svg
    """
    from tessera.core.files import check_target
    from tessera.core.tables import print_table
    from tessera.mapping.file import read_mapping
    from tessera.mapping.picture import draw
    from tessera.mapping.summary import Summary

    if picture:
        check_target(picture)
    histograms = {}
    for path in files:
        read = read_mapping(path)
        found = Summary.of(read.at(access))
        histograms[str(path) if read.name in histograms else read.name] = found.histogram
        epochs = f"{len(read.epochs)} (the last begins at access {max(read.epochs)})"
        print_table([], [("mapping", str(path)), ("epochs", epochs), *found.lines()])
        click.echo()
        print_table(["pages in a chunk", "chunks", "memory"], found.histogram_rows(), right=(0, 1, 2))
        click.echo()
    if picture:
        draw(histograms, picture)
        click.echo(f"figure -> {picture}")


@mapping.command()
@click.option(
    "--guest", required=True, type=_PATH, help="Mapping file: the program's pages to the guest's frames."
)
@click.option(
    "--host", required=True, type=_PATH, help="Mapping file: page N of pool mmap is the guest's frame N."
)
@click.option("--out", required=True, type=_PATH, help="Mapping file to write (CSV).")
def compose(guest: Path, host: Path, out: Path) -> None:
    """Compose the mapping of a guest with that of its host (nested paging).

    \b
    Example:
      ./run tessera mapping generate --pool mmap=1GB --kind high --out /tmp/guest.csv
      ./run tessera mapping generate --pool mmap=2GB --kind medium --seed 2 --out /tmp/host.csv
      ./run tessera mapping compose --guest /tmp/guest.csv --host /tmp/host.csv --out /tmp/nested.csv
    """
    from tessera.core.files import check_target
    from tessera.mapping.compose import compose as composed
    from tessera.mapping.file import read_mapping, write_mapping

    check_target(out)
    made = composed(read_mapping(guest), read_mapping(host))
    write_mapping(made, out)
    click.echo(f"{sum(map(len, made.epochs.values()))} rows, {len(made.epochs)} epochs -> {out}")
