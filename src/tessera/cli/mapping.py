"""``tessera mapping``: generate, capture, show and compose mappings of pages to frames."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tessera.cli import options
from tessera.cli.lazy import OldNamesGroup, ProgramCommand
from tessera.cli.options import PATH


@click.group(cls=OldNamesGroup)
def mapping() -> None:
    """Generate, capture, show and compose mappings (pages to physical frames).

    A mapping decides how contiguous physical memory is. Anchors, clusters and ranges of a TLB depend on it.
    docs/reference/mappings.md describes the file and the kinds.

    \b
    Example:
      ./run tessera mapping generate --pool mmap=1GB --kind medium --out /tmp/medium.csv
      ./run tessera mapping show /tmp/medium.csv
    """


@mapping.command()
@options.trace("Trace (.tst) whose used pools get frames.")
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
    "demand-adjacent, eager-adjacent (the same, where free blocks of 4MB lie side by side), "
    "pages-N (chunks of N pages, N = 1, 2, 4, ..., 65536), pages-N-4kb (without 2MB pages), "
    "or GUEST-over-HOST of these.",
)
@options.out("Mapping file to write (CSV).")
@options.seed("random lengths and addresses")
@click.option(
    "--alignment",
    type=int,
    help="Virtual and physical page numbers of a chunk are equal modulo this (low, medium, high, max).  "
    "[default: 512]",
)
@click.option(
    "--free",
    metavar="ORDER=NUMBER,...",
    help="Free blocks at the start (demand, eager, and these -adjacent).  [default: enough of order 10]",
)
@click.option(
    "--touches",
    type=PATH,
    help="First touches (demand, demand-adjacent), as `tessera trace touches` writes them.  "
    "[default: from --trace]",
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
    from tessera.cli.output import say_trace_notes
    from tessera.core.files import check_target
    from tessera.core.mapping import kinds, synthetic
    from tessera.core.mapping.contiguity import MappingSummary
    from tessera.core.mapping.mapping_file import write_mapping
    from tessera.core.mapping.page_mapping import PageMapping
    from tessera.core.mapping.paging import read_touches
    from tessera.record import traces

    if (trace is None) == (not pools):
        raise click.UsageError("give either --trace or --pool")
    check_target(out)
    asked = kinds.MappingInputs(
        synthetic.regions_of_texts(pools)
        if trace is None
        else synthetic.regions_of_trace(traces.trace_info(trace)),
        seed=seed,
        alignment=alignment,
        free=None if free is None else kinds.parse_free_blocks(free),
        touches=read_touches(touches) if touches else _touches(trace, kind),
    )
    made = kinds.make_mapping(kind, asked)
    written = PageMapping.fixed(out.stem, made.rows)
    write_mapping(written, out)
    found = MappingSummary.of(written.at(0))
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

    from tessera.core.mapping.kinds import needs_touches
    from tessera.core.mapping.paging import read_touches
    from tessera.record import traces

    if trace is None or not needs_touches(kind):
        return None
    with tempfile.TemporaryDirectory(prefix="tessera-touches-") as folder:
        file = Path(folder) / "touches.csv"
        traces.write_touches(trace, file)
        return read_touches(file)


@mapping.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=PATH)
@click.option(
    "--access",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Show what holds at this data access.",
)
@click.option("--picture", type=PATH, help="Also write the distribution of chunk sizes of all FILEs as SVG.")
def show(files: tuple[Path, ...], access: int, picture: Path | None) -> None:
    """Show page sizes, chunks and anchor distances of mapping files, after checking every rule.

    The anchor distance is that of Algorithm 1 (Park, KAIST 2019) by two readings: `count` adds up TLB
    entries, `printed` weighs them as the printed listing does.

    \b
    Example (the file: tessera mapping generate --help):
      ./run tessera mapping show /tmp/medium.csv --picture /tmp/chunks.svg
    """
    from tessera.core.files import check_target
    from tessera.core.mapping.contiguity import MappingSummary
    from tessera.core.mapping.contiguity_figure import draw_contiguity
    from tessera.core.mapping.mapping_file import read_mapping
    from tessera.core.tables import print_table

    if picture:
        check_target(picture)
    histograms = {}
    for path in files:
        read = read_mapping(path)
        found = MappingSummary.of(read.at(access))
        histograms[str(path) if read.name in histograms else read.name] = found.histogram
        epochs = f"{len(read.epochs)} (the last begins at access {max(read.epochs)})"
        print_table([], [("mapping", str(path)), ("epochs", epochs), *found.lines()])
        click.echo()
        print_table(["pages in a chunk", "chunks", "memory"], found.histogram_rows(), right=(0, 1, 2))
        click.echo()
    if picture:
        draw_contiguity(histograms, picture)
        click.echo(f"figure -> {picture}")


@mapping.command()
@click.option(
    "--guest", required=True, type=PATH, help="Mapping file: the program's pages to the guest's frames."
)
@click.option(
    "--host", required=True, type=PATH, help="Mapping file: page N of pool mmap is the guest's frame N."
)
@options.out("Mapping file to write (CSV).")
def compose(guest: Path, host: Path, out: Path) -> None:
    """Compose the mapping of a guest with that of its host (nested paging).

    \b
    Example:
      ./run tessera mapping generate --pool mmap=1GB --kind high --out /tmp/guest.csv
      ./run tessera mapping generate --pool mmap=2GB --kind medium --seed 2 --out /tmp/host.csv
      ./run tessera mapping compose --guest /tmp/guest.csv --host /tmp/host.csv --out /tmp/nested.csv
    """
    from tessera.core.files import check_target
    from tessera.core.mapping.mapping_file import read_mapping, write_mapping
    from tessera.core.mapping.page_mapping import compose_mappings

    check_target(out)
    made = compose_mappings(read_mapping(guest), read_mapping(host))
    write_mapping(made, out)
    click.echo(f"{sum(map(len, made.epochs.values()))} rows, {len(made.epochs)} epochs -> {out}")


# ``tessera mapping capture``: the mapping of a live program, alone or under large pages, fragmented memory
# and co-runners.


@mapping.command(cls=ProgramCommand)
@options.out("Mapping file to write (CSV); facts go to FILE.json. With --matrix: folder for all files.")
@click.option(
    "--at",
    type=click.Choice(("begin", "end")),
    help="Begin or end of the region of interest. Without markers: end is the program's end.  [default: end]",
)
@click.option(
    "--after-seconds",
    type=click.FloatRange(min=0, min_open=True),
    help="In place of --at: so many seconds after the start.",
)
@click.option(
    "--thp",
    help="Transparent huge pages of PROGRAM: never, always, or as-is (the machine's setting); with --matrix "
    "several, comma-separated.  [default: never; with --matrix never,always]",
)
@options.pools("64GB")
@click.option(
    "--matrix", is_flag=True,
    help="Capture under large pages, fragmented memory and co-runners; the next options say which.",
)  # fmt: skip
@click.option(
    "--unusable-index",
    "indices",
    metavar="INDEX,...",
    help="Unusable indices of free memory (0 to 1; as-is: unchanged).  [default: as-is,0.9]",
)
@click.option("--co-runners", metavar="N,...", help="Numbers of co-runners.  [default: 0,1]")
@click.option(
    "--co-runner",
    "partners",
    multiple=True,
    metavar="COMMAND",
    help="Program of co-runners, quoted; repeatable.  [default: copies of PROGRAM]",
)
@click.option(
    "--warm-seconds",
    type=click.FloatRange(min=0),
    help="Seconds from the start of the co-runners to that of PROGRAM.  [default: 2]",
)
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def capture(out, at, after_seconds, thp, heap_pool, anon_pool, matrix, program, **of_matrix) -> None:
    """Capture the mapping that PROGRAM has on this machine. Needs root.

    PROGRAM runs under libmosalloc, stops at the moment, and then continues to its end. The exit status is
    that of PROGRAM. The settings of this machine are not changed.

    With --matrix: makes free memory unusable for 2MB pages up to each index, starts the co-runners, and
    captures PROGRAM. This changes settings of this machine, so it needs ./run --reserve. At the end, settings
    and memory are as before. After kill -9, the next ./run restores the settings. Exit status 1 if a case
    failed. docs/reference/mappings.md describes matrix.csv.

    \b
    Example (as root, after: tessera dev build mosalloc workloads):
      ./run tessera mapping capture --out /tmp/live.csv --after-seconds 1 -- sleep 2
      ./run --reserve tessera mapping capture --matrix --unusable-index as-is,0.5,0.9 --out /tmp/matrix \\
          -- build/workloads/gups --size 64MB --reads 1000000
    """
    from tessera.core.errors import unknown_name
    from tessera.core.mapping.contiguity import MappingSummary
    from tessera.core.units import parse_bytes
    from tessera.measure.mosalloc.capture import capture_program, facts_file
    from tessera.measure.mosalloc.pools import LARGE_PAGE_MODES
    from tessera.measure.mosalloc.stopping import StopPoint

    if at and after_seconds:
        raise click.UsageError("give either --at or --after-seconds")
    if matrix:
        alone = ["--heap-pool", heap_pool, "--anon-pool", anon_pool]
        alone += ["--at", at] if at else []
        alone += ["--after-seconds", str(after_seconds)] if after_seconds else []
        sys.exit(_matrix(program, out, thp, alone, **of_matrix))
    if given := [name for name, value in of_matrix.items() if value not in (None, ())]:
        names = {"indices": "unusable-index", "partners": "co-runner"}
        raise click.UsageError(f"--{names.get(given[0], given[0]).replace('_', '-')} needs --matrix")
    if thp not in (None, *LARGE_PAGE_MODES):
        raise unknown_name("--thp", thp, LARGE_PAGE_MODES)
    pools = {
        "brk": parse_bytes(heap_pool, owner="--heap-pool"),
        "mmap": parse_bytes(anon_pool, owner="--anon-pool"),
    }

    def tell(done) -> None:
        found = MappingSummary.of(done.rows)
        click.echo(
            f"{found.mapped_pages} pages of 4KB in {found.histogram.chunks} chunks, "
            f"{100 * found.share('2MB'):.1f}% of them in 2MB pages -> {out}, {facts_file(out)}",
            err=True,
        )
        if done.facts["zero_pages"]:
            click.echo(f"{done.facts['zero_pages']} pages were only read and have no row", err=True)

    moment = StopPoint("after", after_seconds) if after_seconds else StopPoint(at or "end")
    sys.exit(capture_program(program, out, moment, thp=thp or "never", pools=pools, tell=tell).exit_status)


def _matrix(program, out: Path, thp, alone: list[str], *, indices, co_runners, partners, warm_seconds) -> int:
    """Capture all cases; 1 if one failed. ``alone``: options of each single capture."""
    import shlex

    from tessera.core.mapping.capture import check_allowed
    from tessera.core.tables import print_table
    from tessera.measure.mosalloc.capture_matrix import FAILED, TABLE, Asked, capture_matrix
    from tessera.measure.mosalloc.pools import LARGE_PAGE_MODES

    asked = Asked(
        program,
        out,
        _listed(
            "--thp",
            thp or "never,always",
            lambda word: word if word in LARGE_PAGE_MODES else None,
            f"one of {', '.join(LARGE_PAGE_MODES)}",
        ),
        _listed("--unusable-index", indices or "as-is,0.9", _index, "as-is, or a number from 0 to 1"),
        _listed(
            "--co-runners",
            co_runners or "0,1",
            lambda w: int(w) if w.isascii() and w.isdigit() else None,
            "a number",
        ),
        [shlex.split(text) for text in partners],
        alone,
        2.0 if warm_seconds is None else warm_seconds,
        progress=lambda line: click.echo(line, err=True),
    )
    check_allowed()
    out.mkdir(parents=True, exist_ok=True)
    rows = capture_matrix(asked)
    shown = ("case", "status", "index_at_start", "median_chunk_pages", "share_2mb", "distance_count")
    print_table(shown, [[str(row[name]) for name in shown] for row in rows], right=range(2, len(shown)))
    click.echo(f"{len(rows)} cases -> {out / TABLE}")
    return int(any(row["status"] == FAILED for row in rows))


_AS_IS = "as-is"


def _index(word: str):
    if word == _AS_IS:
        return _AS_IS
    try:
        value = float(word)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


def _listed(option: str, text: str, read, rule: str) -> list:
    """The values of a list; ``as-is`` becomes None."""
    from tessera.core.errors import TesseraError

    found = []
    for word in dict.fromkeys(part.strip() for part in text.split(",")):
        value = read(word)
        if value is None:
            raise TesseraError(f"{option} {text}", f"'{word}' must be {rule}", f"see {option} in --help")
        found.append(None if value == _AS_IS and option == "--unusable-index" else value)
    return found
