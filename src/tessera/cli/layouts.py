"""``tessera layouts``: generate the layouts of a workload, and check layout files."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.cli import options
from tessera.core.units import format_bytes


@click.group()
def layouts() -> None:
    """Generate and check layouts (mosaics of page sizes).

    Example: ./run tessera layouts check examples/hot-64mb.csv
    """


@layouts.command()
@options.trace(required=True)
@options.platform(
    "Name or YAML file; its STLB misses under 4KB pages place the sliding windows.", required=True
)
@options.out("Folder to write the layouts and manifest.csv to.")
@options.seed("the random windows")
@click.option(
    "--random-count",
    default=9,
    show_default=True,
    help="Number of random layouts; 55 gives 100 layouts.",
)
@click.option(
    "--windows",
    type=click.Choice(["touched", "allocated"]),
    default="touched",
    show_default=True,
    help="Windows lie on 2MB pages that the trace touches, or anywhere in the used pools (MICRO'20).",
)
def generate(trace: Path, platform: str, out: Path, seed: int, random_count: int, windows: str) -> None:
    """Generate the 54 layouts of MICRO'20 section VI-B, and the 1GB layout for tests of models.

    Windows start and end on pages that the trace touches. Sliding layouts follow the regions with the most
    STLB misses: the command first simulates the trace under 4KB pages on the platform.

    \b
    Example (the trace: tessera trace record --help):
      ./run tessera layouts generate --trace /tmp/gups.tst --platform haswell-sim --out /tmp/layouts
    """
    from tessera.core import platforms
    from tessera.core.layouts.generation import distinct
    from tessera.core.results import outcomes
    from tessera.record import traces
    from tessera.simulate.choose_layouts import write_chosen_layouts

    found = traces.trace_info(trace)
    made = write_chosen_layouts(
        trace,
        found,
        platforms.load_platform(platform),
        out,
        seed=seed,
        random_count=random_count,
        windows=windows,
    )
    total, count, size = len(made.manifest), distinct(made.manifest), format_bytes(made.space.size)
    places = f"{made.space.places} {windows} pages of 2MB"
    click.echo(f"{total} layouts, {count} distinct (1gb not counted), over {size}, {places} -> {out}")
    of_thread = outcomes.note_sentence(outcomes.thread_note(found))
    for note in filter(None, (made.reason, of_thread, traces.outside_note(found))):
        click.echo(f"note: {note}", err=True)


@layouts.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
def check(files: tuple[Path, ...]) -> None:
    """Check layout files; report the first error with its line, column, rule and value.

    Example: ./run tessera layouts check examples/hot-64mb.csv
    """
    from tessera.core.layouts.layout import read_layout
    from tessera.core.units import PAGE_1GB, PAGE_2MB

    for path in files:
        layout = read_layout(path)
        pages = f"{layout.pages(PAGE_2MB)} x 2MB, {layout.pages(PAGE_1GB)} x 1GB"
        click.echo(f"{path}: ok, {len(layout.windows)} windows, {pages}")
