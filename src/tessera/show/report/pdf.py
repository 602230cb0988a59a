"""The report as one PDF: summary, claims, models, workloads, machines, validation, from the site's templates.

WeasyPrint lays it out (no browser: a tenth of the size). It needs Pango. If either is missing, the site is
complete without the PDF, and the page "Missing" names the packages to install.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import jinja2

from tessera.core.errors import TesseraError
from tessera.core.paths import repo_root
from tessera.show.report.facts import Facts
from tessera.show.report.navigation import PDF
from tessera.show.report.pages import claims, index, machines, models, validation, workloads
from tessera.show.trace_marks import mark_page

_inherited: tuple[Facts, jinja2.Environment, dict, Path] | None = None  #: what the forked process writes
REMEDY = (
    "apt-get install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0, and pip install weasyprint; "
    "then repeat ./run tessera report render"
)


def problem() -> str:
    """The reason why the PDF cannot be written; empty if it can."""
    try:
        _weasyprint()
    except TesseraError as error:
        return str(error)
    return ""


@contextlib.contextmanager
def beside(facts: Facts, env: jinja2.Environment, common: dict, out: Path) -> Iterator[None]:
    """Write ``report.pdf`` in a second process while the block runs, if ``facts.pdf_written`` is true.

    Layout takes as long as all pages together. The figures must be in ``out/figures`` already.
    """
    global _inherited
    (out / PDF).unlink(missing_ok=True)
    if not facts.pdf_written:
        yield
        return
    # fork: facts are inherited (templates and frames would not travel); nothing here has threads.
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        _inherited = (facts, env, common, out)
        try:
            written = pool.submit(_write)
        finally:
            _inherited = None
        yield
        written.result()


def _write() -> None:
    write(*_inherited)


def write(facts: Facts, env: jinja2.Environment, common: dict, out: Path) -> None:
    """Write ``report.pdf`` into the site's folder, here and now; :func:`problem` must be empty."""
    engine = _weasyprint()
    text = env.get_template("pdf.html").render(**{**common, **content(facts)})
    text = mark_page(text, facts.results.trace_notes)
    sheets = [
        engine.CSS(filename=repo_root() / "report" / "assets" / name) for name in ("style.css", "pdf.css")
    ]
    local = engine.URLFetcher(allowed_protocols=("file", "data"))  # the PDF needs no network
    document = engine.HTML(string=text, base_url=str(out.resolve()) + "/", url_fetcher=local)
    document.write_pdf(out / PDF, stylesheets=sheets)


def content(facts: Facts) -> dict:
    """Variables of the template: those of the pages whose parts it has."""
    return {
        **machines.page(facts),
        **models.page(facts),
        **index.page(facts),
        **claims.page(facts),  # last: its claims have the numbers of their shared reasons
        "workloads": workloads.page(facts),
        "validation": validation.page(facts),
        "title": "Report",
    }


def _weasyprint():
    try:
        import weasyprint
    except ImportError as error:
        raise TesseraError("report.pdf", f"Python package weasyprint: {error}", REMEDY) from None
    except OSError as error:  # cffi finds no Pango
        raise TesseraError("report.pdf", f"a system library: {str(error).splitlines()[0]}", REMEDY) from None
    logging.getLogger("weasyprint").setLevel(logging.ERROR)  # it warns of CSS that only screens use
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    return weasyprint
