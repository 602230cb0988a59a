"""``tessera dev notebooks``: list and execute the task notebooks, and refresh their saved outputs."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.core.errors import TesseraError
from tessera.core.results.tree import ResultsTree

PATH = click.Path(path_type=Path)


@click.group()
def notebooks() -> None:
    """List, execute and refresh the task notebooks; `./run notebooks` opens them in JupyterLab.

    Example: ./run tessera dev notebooks run --results results/default --only 01
    """


@notebooks.command("list")
def list_() -> None:
    """List the names and titles of the notebooks.

    Example: ./run tessera dev notebooks list
    """
    from tessera.core.tables import print_table
    from tessera.report.notebooks import all_notebooks

    print_table((), [(entry.name, entry.title) for entry in all_notebooks()], whole=(0,))


@notebooks.command()
@click.option(
    "--results", "results_dir", required=True, type=PATH, help="Results folder, e.g. results/default."
)
@click.option("--only", multiple=True, help="Notebook name or number; may be repeated.  [default: all]")
@click.option("--workload", default="", help="Workload to show.  [default: the first in the results]")
@click.option("--platform", default="", help="Platform to show.  [default: the first in the results]")
@click.option("--out", type=PATH, help="Folder for the pages.  [default: <results>/notebooks]")
def run(results_dir: Path, only, workload: str, platform: str, out: Path | None) -> None:
    """Execute notebooks on a results folder; write each as one HTML file.

    Example: ./run tessera dev notebooks run --results results/default --only 01 --workload gups-16gb
    --platform sandybridge-sim
    """
    from tessera.report.notebooks import all_notebooks, entry, write_page

    if not results_dir.is_dir():
        raise TesseraError(f"results {results_dir}", "no such folder", "run: ./run reproduce")
    for one in [entry(name) for name in only] or all_notebooks():
        page = out / f"{one.name}.html" if out else ResultsTree(results_dir).notebook(one.name)
        problem = write_page(one, results_dir, page, workload, platform)
        click.echo(f"notebook: {page}" + (f" ({problem})" if problem else ""))


@notebooks.command()
@click.option("--only", multiple=True, help="Notebook name or number; may be repeated.  [default: all]")
def refresh(only) -> None:
    """Execute notebooks on the archived data; save the outputs in notebooks/*.ipynb.

    Example: ./run tessera dev notebooks refresh --only 01
    """
    from tessera.report.notebook_archive import refresh_outputs
    from tessera.report.notebooks import all_notebooks, entry

    for one in [entry(name) for name in only] or all_notebooks():
        refresh_outputs(one)
        click.echo(f"{one.path.name}: {one.path.stat().st_size / 1024:.0f} KB")


@notebooks.command()
@click.option(
    "--results",
    "results_dir",
    required=True,
    type=PATH,
    help="Results folder of a finished run, with its traces.",
)
@click.option("--out", type=PATH, help="Folder to write.  [default: notebooks/data]")
@click.option(
    "--study", is_flag=True, help="Replace only the study of transfer; needs no other part of the run."
)
def archive(results_dir: Path, out: Path | None, study: bool) -> None:
    """Write the notebooks' archived data from a finished run of config/default.yaml; takes minutes.

    The bundle of notebook 07 is a rehearsal: it gets the counts of the new cells, with noise. With --study
    the rest of the archive stays, and its README.md names the commit of each part.

    Example: ./run tessera dev notebooks archive --results results/default
    """
    from tessera.core.files import repo_root
    from tessera.report.explore.source import ARCHIVE
    from tessera.report.notebook_archive import write_archive, write_study

    (write_study if study else write_archive)(results_dir, out or repo_root() / ARCHIVE)
