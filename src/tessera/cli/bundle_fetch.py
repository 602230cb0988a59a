"""``tessera bundle fetch``: download bundles that ``bundles/index.csv`` lists."""

from __future__ import annotations

from pathlib import Path

import click

PATH = click.Path(path_type=Path)


@click.command()
@click.argument("dois", metavar="DOI...", nargs=-1, required=True)
@click.option("--from", "root", type=PATH, help="Folder of the index.  [default: bundles/ of the checkout]")
def fetch(dois: tuple[str, ...], root: Path | None) -> None:
    """Download the bundles of a DOI that bundles/index.csv lists, and print the path of each zip file.

    The SHA-256 of a file must be that of the index. A file that is here already is not downloaded again, and
    an interrupted download continues. Records of Zenodo only.

    Example: ./run tessera bundle fetch 10.5281/zenodo.1234567
    """
    from tessera.bundles import deposits, store
    from tessera.core.errors import TesseraError
    from tessera.core.progress import download_progress

    for word in dois:
        doi = deposits.doi_of(word)
        if not doi:
            raise TesseraError(
                f"bundle fetch {word}",
                "it is no DOI",
                "name a DOI of: tessera bundle list",
                code="bundle-doi",
            )
        for entry in deposits.listed(doi, root or store.default_folder()):
            with download_progress() as progress:
                path = deposits.fetch(entry, progress=progress)
            click.echo(path)
