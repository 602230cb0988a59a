"""An executed notebook as one HTML file that needs no network, in the report's style."""

from __future__ import annotations

import html
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.core.paths import repo_root
from tessera.show.notebooks.catalogue import Entry, entries
from tessera.show.notebooks.run import INJECTED, execute

#: Where a page links back to, from ``results/<config>/notebooks``; the site's copy has another way.
HOME, HOME_IN_SITE = 'href="../report/index.html"', 'href="../index.html"'
WIDGET = "application/vnd.jupyter.widget-view+json"


def write_page(entry: Entry, results_dir: Path, out: Path, workload: str = "", platform: str = "") -> str:
    """Execute ``entry`` on a results tree and write ``out``; returns why it was not executed, or nothing.

    A tree without usable samples gives a page that says so: one missing workload must not stop a report.

    Raises:
        TesseraError: a cell of the notebook failed.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    problem = _problem(results_dir, workload, platform)
    if problem:
        body = f"<h1>{html.escape(entry.title)}</h1><p>Not executed: {html.escape(problem)}</p>"
    else:
        values = {"results_dir": str(results_dir.resolve()), "workload": workload, "platform": platform}
        body = _body(_without_paths(execute(entry, values), results_dir))
    write_text(out, _page(entry, body))
    return problem


def _problem(results_dir: Path, workload: str, platform: str) -> str:
    from tessera.show.explore import open_results

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


def _body(notebook) -> str:
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(template_name="basic")
    exporter.exclude_input_prompt = exporter.exclude_output_prompt = True
    return exporter.from_notebook_node(notebook)[0]


def _page(entry: Entry, body: str) -> str:
    """One file: the site's style sheet goes inside."""
    from tessera.show.templates import environment

    assets = repo_root() / "report" / "assets"
    style = "\n".join((assets / name).read_text() for name in ("style.css", "notebook.css"))
    return environment().get_template("notebook.html").render(
        body=body,
        title=entry.title,
        name=entry.name,
        notebooks=entries(),
        style=style + _code_colours(),
        mark=(assets / "mark.svg").read_text(),
    )  # fmt: skip


def _code_colours() -> str:
    from pygments.formatters import HtmlFormatter

    light = HtmlFormatter(style="friendly").get_style_defs(".notebook .highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".notebook .highlight")
    return f"\n{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"
