"""``tessera pipeline machines``: bundles of real machines take part in a run."""

from __future__ import annotations

from pathlib import Path

import click

PATH = click.Path(path_type=Path)


@click.command()
@click.argument("bundles", metavar="[BUNDLE]...", nargs=-1)
@click.option("--out", type=PATH, help="JSON file to write; the measured cells go to its folder.")
@click.option("--check", is_flag=True, help="Only download and verify the bundles, and print their paths.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the folds.")
@click.option("--orders", type=click.IntRange(min=1), default=10, show_default=True,
              help="Random orders of layouts, for claims about adaptive orders.")  # fmt: skip
def machines(bundles: tuple[str, ...], out: Path | None, check: bool, seed: int, orders: int) -> None:
    """Verify bundles, write their cells as a results tree of their own, and fit models to them.

    A bundle that fails a check, or is a rehearsal, ends the command with its name. A bundle that is barred
    is kept for the report, and its cells decide no claim. BUNDLE is a folder or a zip file; with --check also
    a DOI of bundles/index.csv.

    Example: ./run tessera pipeline machines --out /tmp/machines/bundles.json
    """
    from tessera.bundles.store import default_folder
    from tessera.core.errors import TesseraError
    from tessera.core.progress import download_progress
    from tessera.pipeline.machines import accepted, doi_of, located, take_part

    if check == (out is not None):
        raise TesseraError(
            "pipeline machines", "it needs --out or --check, one of them", "add --out FILE, or --check"
        )
    if out is not None and (dois := [doi for word in bundles if (doi := doi_of(word))]):
        raise TesseraError(
            f"bundle {dois[0]}", "a step of a run downloads nothing",
            f"tessera bundle fetch {dois[0]} downloads it and prints its path: name this path",
            code="bundle-doi",
        )  # fmt: skip

    def say(text: str) -> None:
        click.echo(text, err=True)

    with download_progress() as progress:
        paths = located(bundles, default_folder(), progress=progress)
    entries = accepted(paths) if check else take_part(paths, out, seed=seed, orders=orders, say=say)
    for entry in entries:
        decides = "its cells decide claims" if not entry.bars else f"barred: {'; '.join(entry.bars)}"
        say(f"bundle {entry.identity}: all checks pass; {decides}")
    for path in paths if check else ():
        click.echo(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
