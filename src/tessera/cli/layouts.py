"""``tessera layouts``: generate the mosaics of a workload, check files written by hand."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.core.units import format_bytes


@click.group()
def layouts() -> None:
    """Generate and check layouts (mosaics of pages)."""


@layouts.command()
@click.option("--trace", "trace", required=True, type=click.Path(path_type=Path), help="Recorded trace.")
@click.option("--platform", required=True, help="Platform name or YAML file; its 4KB misses decide.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder of the layouts.")
@click.option("--seed", default=1, show_default=True, help="Seed of the random windows.")
@click.option(
    "--random-count",
    default=9,
    show_default=True,
    help="Random windows; 55 give the 100-layout mode.",
)
def generate(trace: Path, platform: str, out: Path, seed: int, random_count: int) -> None:
    """Make the 54 layouts of MICRO'20 VI-B and the 1GB test point.

    Growing and random windows depend on the trace's pools only; sliding windows follow the hot
    regions of this platform's TLB misses under 4KB pages, which are simulated first.
    """
    from tessera import platforms
    from tessera.layouts.generate import distinct
    from tessera.record import traces
    from tessera.simulate.choose_layouts import make_layouts

    made = make_layouts(
        trace, traces.info(trace), platforms.load(platform), out, seed=seed, random_count=random_count
    )
    total, count, size = len(made.manifest), distinct(made.manifest), format_bytes(made.space.size)
    click.echo(f"{total} layouts, {count} distinct (1gb not counted), over {size} -> {out}")
    if made.reason:
        click.echo(f"note: {made.reason}", err=True)


@layouts.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
def check(files: tuple[Path, ...]) -> None:
    """Validate layout files; the first error is reported with line, column, rule and value."""
    from tessera.core.units import PAGE_1GB, PAGE_2MB
    from tessera.layouts.model import read_layout

    for path in files:
        layout = read_layout(path)
        pages = f"{layout.pages(PAGE_2MB)} x 2MB, {layout.pages(PAGE_1GB)} x 1GB"
        click.echo(f"{path}: ok, {len(layout.windows)} windows, {pages}")
