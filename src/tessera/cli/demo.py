"""`tessera demo`: archived samples, every published model, a design that is answered and one that is not."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.cli import options
from tessera.cli.options import PATH
from tessera.core.errors import TesseraError


@click.command()
@click.option("--data", type=PATH, help="Folder of archived samples and designs.  [default: notebooks/data]")
@click.option(
    "--pair", metavar="WORKLOAD/PLATFORM", help="Archived pair; an unknown one is refused with the list."
)
@options.workload("Workload of the pair.")
@options.platform("Platform of the pair.")
@options.out("Folder of the page.  [default: results/demo]", required=False)
def demo(
    data: Path | None, pair: str | None, workload: str | None, platform: str | None, out: Path | None
) -> None:
    """Fit every published model to archived samples and ask about new designs; write a page with pictures.

    It needs no simulator, no engine and no network, and takes seconds. Every runtime in the archive is
    simulated.

    Example: ./run tessera demo --pair gups-8gb/broadwell-sim
    """
    from tessera.core.files import repo_root
    from tessera.report import demo as made
    from tessera.report.explore.source import ARCHIVE

    if pair is not None:
        if workload or platform or not all(pair.rpartition("/")):
            raise TesseraError(
                f"--pair {pair}", f"--workload {workload or ''} --platform {platform or ''}",
                "give --pair WORKLOAD/PLATFORM, or --workload and --platform",
            )  # fmt: skip
        workload, _, platform = pair.rpartition("/")
    folder = (data or repo_root() / ARCHIVE).absolute()
    out = out or repo_root() / "results" / "demo"
    found, page = made.write_demo(folder, out, workload or "", platform or "")
    try:
        shown = page.absolute().relative_to(Path.cwd())
    except ValueError:
        shown = page
    click.echo("\n".join(made.lines(found, str(shown))))
