"""Execute a notebook with papermill and write it as one HTML file that needs no network."""

from __future__ import annotations

import html
import tempfile
from pathlib import Path

from tessera.errors import EXIT_FAILED, TesseraError
from tessera.figures.tables import Results
from tessera.paths import repo_root

SOURCE = "notebooks/explore_fits.ipynb"
#: Where the page links back to, from ``results/<config>/notebooks``; the site's copy has another way.
HOME, HOME_IN_SITE = 'href="../report/index.html"', 'href="../index.html"'


def execute(results_dir: Path, workload: str, platform: str, out: Path) -> str:
    """Write ``out``; returns why the notebook was not executed, empty if it was.

    A pair without usable samples gives a page that says so: one missing workload must not stop a report.

    Raises:
        TesseraError: a cell of the notebook failed.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    problem = _problem(results_dir, workload, platform)
    if problem:
        _write(
            out,
            f"<h1>{html.escape(workload)} on {html.escape(platform)}</h1><p>Not executed: "
            f"{html.escape(problem)}</p>",
        )
        return problem
    with tempfile.TemporaryDirectory() as folder:
        executed = _run(Path(folder) / "executed.ipynb", results_dir, workload, platform)
    _write(out, _body(executed))
    return ""


def _problem(results_dir: Path, workload: str, platform: str) -> str:
    from tessera.models import check_table

    samples = Results(results_dir).samples(workload, platform)
    if samples.empty:
        return f"no good cell of {workload} on {platform} has a runtime in cycles; run: ./run reproduce"
    try:
        check_table(samples)
    except TesseraError as error:
        return str(error)
    return ""


def _run(path: Path, results_dir: Path, workload: str, platform: str):
    import nbformat
    import papermill
    from papermill.exceptions import PapermillExecutionError

    parameters = {"results_dir": str(results_dir.resolve()), "workload": workload, "platform": platform}
    try:
        papermill.execute_notebook(
            str(repo_root() / SOURCE),
            str(path),
            parameters=parameters,
            cwd=str(repo_root()),
            kernel_name="python3",
            progress_bar=False,
            log_output=False,
        )
    except PapermillExecutionError as error:
        raise TesseraError(
            f"notebook {SOURCE} for {workload} on {platform}",
            f"cell {error.exec_count} failed: {error.ename}: {error.evalue}",
            "open it with: .venv/bin/jupyter lab notebooks/explore_fits.ipynb",
            exit_code=EXIT_FAILED,
        ) from error
    notebook = nbformat.read(path, as_version=4)
    # The parameters that papermill inserts hold this machine's path.
    for cell in notebook.cells:
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell.source = cell.source.replace(
                parameters["results_dir"], f"results/{results_dir.resolve().name}"
            )
    return notebook


def _body(notebook) -> str:
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(template_name="basic")
    exporter.exclude_input_prompt = exporter.exclude_output_prompt = True
    return exporter.from_notebook_node(notebook)[0]


def _write(out: Path, body: str) -> None:
    """One file: the site's style sheet goes inside."""
    from tessera.report.site import environment

    assets = repo_root() / "report" / "assets"
    style = "\n".join((assets / name).read_text() for name in ("style.css", "notebook.css"))
    page = environment().get_template("notebook.html")
    out.write_text(
        page.render(body=body, style=style + _code_colours(), mark=(assets / "mark.svg").read_text())
    )


def _code_colours() -> str:
    from pygments.formatters import HtmlFormatter

    light = HtmlFormatter(style="friendly").get_style_defs(".notebook .highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".notebook .highlight")
    return f"\n{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"
