"""The task notebooks of `notebooks/`: listed, executed, and written as pages.

A page is one HTML file that needs no network, in the report's style.
"""

from __future__ import annotations

import html
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name
from tessera.core.files import repo_root, write_text

# Which notebooks there are: files of `notebooks/`, in the order of their numbers.

NOTEBOOKS_FOLDER = "notebooks"


@dataclass(frozen=True)
class Notebook:
    """``name`` is the file's stem, such as `01-fit-the-models`; ``title`` its first heading."""

    name: str
    title: str
    path: Path


def all_notebooks() -> list[Notebook]:
    """Every notebook, by number."""
    return [
        Notebook(path.stem, _notebook_title(path), path)
        for path in sorted((repo_root() / NOTEBOOKS_FOLDER).glob("*.ipynb"))
    ]


def entry(name: str) -> Notebook:
    """By name or by number (`02`); TesseraError with the names if there is none."""
    found = [one for one in all_notebooks() if name in (one.name, one.name.split("-")[0])]
    if not found:
        raise unknown_name("notebook", name, [one.name for one in all_notebooks()])
    return found[0]


def _notebook_title(path: Path) -> str:
    import nbformat

    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown" and cell.source.startswith("# "):
            return cell.source.splitlines()[0].removeprefix("# ")
    raise TesseraError(f"notebook {path.name}", "it has no heading", "begin it with a cell '# Title'")


# Execute a notebook headless, with its parameters set.

#: A cell must not take longer: notebooks are for reading, simulations belong to the workflow.
CELL_SECONDS = 300
INJECTED = "injected-parameters"


def _sockets_in(folder: str):
    """Kernels listen on sockets in ``folder``: TCP ports that two kernels take at once kill one of them."""
    from traitlets.config import Config

    return Config({"KernelManager": {"transport": "ipc", "connection_file": f"{folder}/kernel.json"}})


def execute_notebook(entry: Notebook, parameters: dict[str, str]):
    """The executed notebook (nbformat); ``parameters`` that it does not declare are left out.

    Raises:
        TesseraError: a cell failed; names it and what it said.
    """
    import nbformat
    import papermill
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    declared = papermill.inspect_notebook(str(entry.path))
    given = {name: value for name, value in parameters.items() if name in declared}
    with tempfile.TemporaryDirectory(prefix="tessera-notebook-") as folder:
        path = Path(folder) / entry.path.name
        try:
            papermill.execute_notebook(
                str(entry.path),
                str(path),
                parameters=given,
                cwd=str(repo_root() / "notebooks"),
                kernel_name="python3",
                progress_bar=False,
                log_output=False,
                execution_timeout=CELL_SECONDS,
                config=_sockets_in(folder),
                coalesce_streams=True,  # a text is one output, in however many parts it arrived
            )
        except PapermillExecutionError as error:
            raise TesseraError(
                f"notebook {entry.name}",
                f"cell {error.exec_count} failed: {error.ename}: {error.evalue}",
                f"open it: ./run notebooks, then {entry.path.name}",
                exit_code=EXIT_FAILED,
            ) from error
        except (CellTimeoutError, DeadKernelError) as error:
            raise TesseraError(
                f"notebook {entry.name}", str(error).splitlines()[0], "./run notebooks", exit_code=EXIT_FAILED
            ) from error
        return nbformat.read(path, as_version=4)


# An executed notebook as one HTML file that needs no network, in the report's style.

#: Where a page links back to, from ``results/<config>/notebooks``; the site's copy has another way.
HOME, HOME_IN_SITE = 'href="../report/index.html"', 'href="../index.html"'
WIDGET = "application/vnd.jupyter.widget-view+json"


def write_page(entry: Notebook, results_dir: Path, out: Path, workload: str = "", platform: str = "") -> str:
    """Execute ``entry`` on a results tree and write ``out``; returns why it was not executed, or nothing.

    A tree without usable samples gives a page that says so: one missing workload must not stop a report.

    Raises:
        TesseraError: a cell of the notebook failed.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    problem = _data_problem(results_dir, workload, platform)
    if problem:
        body = f"<h1>{html.escape(entry.title)}</h1><p>Not executed: {html.escape(problem)}</p>"
    else:
        values = {"results_dir": str(results_dir.resolve()), "workload": workload, "platform": platform}
        body = _notebook_body(_without_paths(execute_notebook(entry, values), results_dir))
    write_text(out, _page_text(entry, body))
    return problem


def _data_problem(results_dir: Path, workload: str, platform: str) -> str:
    from tessera.report.explore import open_results

    try:
        open_results(results_dir.resolve()).pair(workload, platform).table  # noqa: B018
    except TesseraError as error:
        return str(error)
    return ""


def _without_paths(notebook, results_dir: Path):
    """The parameters that papermill inserts hold this machine's path; menus can't move in a page."""
    for cell in notebook.cells:
        if INJECTED in cell.metadata.get("tags", []):
            cell.source = cell.source.replace(
                str(results_dir.resolve()), f"results/{results_dir.resolve().name}"
            )
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET, None)
    return notebook


def _notebook_body(notebook) -> str:
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(template_name="basic")
    exporter.exclude_input_prompt = exporter.exclude_output_prompt = True
    return exporter.from_notebook_node(notebook)[0]


def _page_text(entry: Notebook, body: str) -> str:
    """One file: the site's style sheet goes inside."""
    from tessera.report.templates import page_templates

    assets = repo_root() / "report" / "assets"
    style = "\n".join((assets / name).read_text() for name in ("style.css", "notebook.css"))
    return page_templates().get_template("notebook.html").render(
        body=body,
        title=entry.title,
        name=entry.name,
        notebooks=all_notebooks(),
        style=style + _code_colours(),
        mark=(assets / "mark.svg").read_text(),
    )  # fmt: skip


def _code_colours() -> str:
    from pygments.formatters import HtmlFormatter

    light = HtmlFormatter(style="friendly").get_style_defs(".notebook .highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".notebook .highlight")
    return f"\n{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"
