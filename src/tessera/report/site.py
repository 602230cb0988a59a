"""Write the report: figures, a folder of static pages that needs no server and no network, and one PDF.

Start with :func:`render_report`.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeVar

import jinja2

from tessera.core.errors import TesseraError
from tessera.core.files import copy_file, making, repo_root, write_text
from tessera.core.results.report_tables import REGIME, WORKLOADS
from tessera.core.results.table_io import write_table
from tessera.report import claims_table, notebooks
from tessera.report.claims.load import claims_path
from tessera.report.facts import ReportData
from tessera.report.figures import registry, render
from tessera.report.figures.render import Drawn
from tessera.report.page_text import finished
from tessera.report.pages import (
    GROUPS,
    MODELS,
    NOTEBOOKS,
    PAGES,
    START,
    Page,
    about,
    claims,
    machines,
    models,
    page_tables,
    summary,
    validation,
    workloads,
)
from tessera.report.provenance import collect_provenance
from tessera.report.results import Results
from tessera.report.templates import copy_assets, page_templates
from tessera.report.trace_marks import mark_page


def render_report(
    results_dir: Path,
    out: Path | None = None,
    claims: Path | None = None,
    reference: Path | None = None,
    config: Path | None = None,
    only: list[str] | None = None,
    with_pdf: bool = True,
) -> ReportData:
    """Evaluate claims, draw figures, gather provenance, write pages and the PDF.

    Args:
        results_dir: ``results/<config>``; missing parts become notes in the pages.
        out: report folder (default ``<results_dir>/report``).
        claims: claims file (default ``config/claims.yaml``).
        reference: published numbers (default ``reference-results``).
        config: effective config (default ``config/<config>.yaml``).
        only: names of the figures to draw (default: all); pages say of the others that they weren't drawn.
        with_pdf: whether to write ``report.pdf``; without its tool the page "Missing" says so.
    """
    hrefs = [page.href for page in PAGES]
    if lost := [one.name for one in registry.select_figures(None) if one.page not in ("", *hrefs)]:
        raise TesseraError(f"page of figure {', '.join(lost)}", "no such page", f"pages: {', '.join(hrefs)}")
    results_dir = Path(results_dir)
    reference = reference or repo_root() / "reference-results"
    results = Results(results_dir)
    tree = results.tree
    out = Path(out) if out else tree.report_folder
    drawn, judged_now = draw_figures(
        results,
        reference,
        tree.figures,
        only,
        lambda: claims_table.evaluate_claims(results_dir, claims or claims_path(), reference),
    )
    facts = ReportData(
        results=results,
        claims=judged_now.claims,
        claims_reason=judged_now.reason,
        elsewhere=judged_now.elsewhere,
        measured=judged_now.measured,
        figures=drawn,
        provenance=collect_provenance(results_dir, config),
        notebooks=sorted(path.name for path in tree.found(tree.notebook("*"))),
        reference=reference,
    )
    _copy_files(out, facts)
    env = page_templates()
    if with_pdf:
        facts.pdf_problem = pdf_problem()
        facts.pdf_written = not facts.pdf_problem
    with pdf_beside(facts, env, shared_variables(facts), out):
        _write_pages(facts, env, shared_variables(facts), out)
    return facts


def _copy_files(out: Path, facts: ReportData) -> None:
    """Copy all files that pages link to into the report folder, so that it can be moved or published.

    Files of an earlier report go last, so its pages have what they link to until then.
    """
    copy_assets(out)
    tree, made = facts.results.tree, set()

    def copy(path: Path, folder: str, name: str = "") -> None:
        made.add(out / folder / (name or path.name))
        copy_file(path, out / folder / (name or path.name))

    for figure in facts.figures:
        for suffix in ("svg", "csv") if figure.ok else ():
            copy(tree.figure(figure.stem, suffix), "figures")
    for name in facts.notebooks:
        page = (tree.notebooks / name).read_text().replace(notebooks.HOME, notebooks.HOME_IN_SITE)
        if facts.tiny:  # as the banner of the other pages; a notebook has a style sheet of its own
            page = page.replace('<main id="main">', f'<main id="main"><p role="note"><b>{BANNER}</b></p>', 1)
        made.add(out / "notebooks" / name)
        write_text(out / "notebooks" / name, page)
    write_table(WORKLOADS, facts.workload_table, tree.workloads)
    write_table(REGIME, facts.regime, tree.regime)
    for path in (tree.claims, tree.claims_elsewhere, tree.cells, tree.workloads, tree.regime):
        if path.exists():
            copy(path, "data")
    for name, path in page_tables.kernel_files(facts).items():
        copy(path, "data", name)
    for folder in ("figures", "data", "notebooks"):
        (out / folder).mkdir(exist_ok=True)
        for stale in {path for path in (out / folder).iterdir() if path.is_file()} - made:
            stale.unlink()


BANNER = "Tiny inputs: no evidence about the papers. This report shows that the chain works on this machine."


def shared_variables(facts: ReportData) -> dict:
    """Variables that all templates share."""
    git = facts.provenance.get("git") or {}
    return {
        "name": facts.name,
        "up": "",
        "navigation": navigation_groups(facts),
        "banner": BANNER if facts.tiny else "",
        "commit": git.get("commit") or "",
        "dirty": git.get("dirty"),
        "render_command": f"./run tessera report render --results {facts.where}",
        "here": lambda text: command_here(facts, text),
        "figure_command": lambda figure: figure_command(facts, figure),
    }


def command_here(facts: ReportData, text: str) -> str:
    """A command or message for the default run as this run needs it: its folder and its start."""
    text = text.replace("results/default", str(facts.where))
    return text.replace("./run --reserve reproduce", "./run --reserve smoke") if facts.tiny else text


def figure_command(facts: ReportData, figure: Drawn) -> str:
    """The command that draws one figure again."""
    return f"./run tessera report figures --results {facts.where} --only {figure.name}"


def _write_pages(facts: ReportData, env: jinja2.Environment, common: dict, out: Path) -> None:
    made = set()
    for page in PAGES:
        if page.exists(facts):
            made.add(_write_page(env, out, page, common, page.fill(facts), facts.results.trace_notes))
    for name in sorted({pair[0] for pair in facts.results.pairs()}):
        page = Page(workloads.workload_href(name), "workload.html", name, workloads.workload_page, MODELS)
        made.add(_write_page(env, out, page, common, page.fill(facts, name), facts.results.trace_notes))
    for stale in set(out.glob("*.html")) - made:
        stale.unlink()


def _write_page(
    env: jinja2.Environment, out: Path, page: Page, common: dict, content: dict, notes: dict[str, str]
) -> Path:
    text = env.get_template(page.template).render(**{**common, "page": page.href, **content})
    write_text(out / page.href, finished(mark_page(text, notes)))
    return out / page.href


# The figures, drawn with two processes: drawing takes most of the time of a report.

T = TypeVar("T")
DRAWING_PROCESSES = 2  #: the two longest jobs, the figures of every pair, limit the speed-up
WORTH_A_SECOND_PROCESS = 4  #: with fewer figures, starting a second process takes longer than drawing

#: inherited by forked processes, so that tables are read once
_drawing_inputs: tuple[Results, Path, Path] | None = None


def draw_figures(
    results: Results,
    reference: Path,
    out: Path,
    only: list[str] | None = None,
    meanwhile: Callable[[], T] = lambda: None,
) -> tuple[list[Drawn], T]:
    """Every figure (or the named ones) in the order of the registry, drawn or with a reason.

    Args:
        meanwhile: called in this process while others draw; its result is the second one.
    """
    names = [entry.name for entry in registry.select_figures(only)]
    processes = min(DRAWING_PROCESSES, len(os.sched_getaffinity(0)))
    if processes < 2 or len(names) < WORTH_A_SECOND_PROCESS:
        return render.write_figures(results, reference, out, only), meanwhile()
    pairs_first = sorted(names, key=lambda name: not registry.get(name).per_pair)
    results.pairs()  # this and what follows is read before forking, not once per process
    results.models("errors"), results.models("predictions")
    global _drawing_inputs
    _drawing_inputs = (results, reference, out)
    try:
        # fork: the tables are inherited; nothing here has threads.
        with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("fork")) as pool:
            jobs = pool.map(_draw_entry, pairs_first)
            other = meanwhile()
            found = dict(zip(pairs_first, jobs, strict=True))
    finally:
        _drawing_inputs = None
    for _, notes in found.values():
        results.notes += [note for note in notes if note not in results.notes]
    return [figure for name in names for figure in found[name][0]], other


def _draw_entry(name: str) -> tuple[list[Drawn], list[str]]:
    """The figures of one entry, and the notes on tables that it read."""
    results, reference, out = _drawing_inputs
    return render.write_figures(results, reference, out, [name]), list(results.notes)


# The list of pages that every page shows, in groups.

PDF = "report.pdf"


def navigation_groups(facts) -> list[dict]:
    """``name``, ``about`` and ``items_`` (``href, label, count``) of each group that has pages."""
    counts = {"gaps.html": about.gap_count(facts)}
    items: dict[str, list[dict]] = {name: [] for name in GROUPS}
    for page in PAGES:
        if page.exists(facts):
            items[page.group].append(_navigation_item(page.href, page.label, counts.get(page.href)))
    items[NOTEBOOKS] = [
        _navigation_item(f"notebooks/{name}", notebook_title(name)) for name in facts.notebooks
    ]
    if facts.pdf_written:
        items[START].append(_navigation_item(PDF, "PDF"))
    return [{"name": name, "about": GROUPS[name], "items_": found} for name, found in items.items() if found]


def notebook_title(name: str) -> str:
    """``01-fit-the-models.html`` as ``1 Fit the models``."""
    words = re.sub(r"[-_]+", " ", name.removesuffix(".html")).strip()
    number, _, rest = words.partition(" ")
    if number.isdigit() and rest:
        return f"{int(number)} {rest[:1].upper()}{rest[1:]}"
    return words[:1].upper() + words[1:]


def _navigation_item(href: str, label: str, count: int | None = None) -> dict:
    return {"href": href, "label": label, "count": count}


# The report as one PDF: summary, claims, models, workloads, machines, validation, from the site's templates.
#
# WeasyPrint lays it out (no browser: a tenth of the size). It needs Pango. If either is missing, the site is
# complete without the PDF, and the page "Missing" names the packages to install.

#: what the forked process writes
_pdf_inputs: tuple[ReportData, jinja2.Environment, dict, Path] | None = None
PDF_REMEDY = (
    "apt-get install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0, and pip install weasyprint; "
    "then repeat ./run tessera report render"
)


def pdf_problem() -> str:
    """The reason why the PDF cannot be written; empty if it can."""
    try:
        _weasyprint()
    except TesseraError as error:
        return str(error)
    return ""


@contextlib.contextmanager
def pdf_beside(facts: ReportData, env: jinja2.Environment, common: dict, out: Path) -> Iterator[None]:
    """Write ``report.pdf`` in a second process while the block runs, if ``facts.pdf_written`` is true.

    Layout takes as long as all pages together. The figures must be in ``out/figures`` already.
    """
    global _pdf_inputs
    if not facts.pdf_written:
        (out / PDF).unlink(missing_ok=True)
        yield
        return
    # fork: facts are inherited (templates and frames would not travel); nothing here has threads.
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        _pdf_inputs = (facts, env, common, out)
        try:
            written = pool.submit(_write_inherited_pdf)
        finally:
            _pdf_inputs = None
        yield
        written.result()


def _write_inherited_pdf() -> None:
    write_pdf(*_pdf_inputs)


def write_pdf(facts: ReportData, env: jinja2.Environment, common: dict, out: Path) -> None:
    """Write ``report.pdf`` into the site's folder, here and now; :func:`pdf_problem` must be empty."""
    engine = _weasyprint()
    text = env.get_template("pdf.html").render(**{**common, **pdf_content(facts)})
    text = finished(mark_page(text, facts.results.trace_notes))
    sheets = [
        engine.CSS(filename=repo_root() / "report" / "assets" / name) for name in ("style.css", "pdf.css")
    ]
    local = engine.URLFetcher(allowed_protocols=("file", "data"))  # the PDF needs no network
    document = engine.HTML(string=text, base_url=str(out.resolve()) + "/", url_fetcher=local)
    with making(out / PDF) as unfinished:
        document.write_pdf(unfinished, stylesheets=sheets)


def pdf_content(facts: ReportData) -> dict:
    """Variables of the template: those of the pages whose parts it has."""
    return {
        **machines.machines_page(facts),
        **models.models_page(facts),
        **summary.summary_page(facts),
        **claims.claims_page(facts),  # last: its claims have the numbers of their shared reasons
        "workloads": workloads.workloads_page(facts),
        "validation": validation.validation_page(facts),
        "title": "Report",
    }


def _weasyprint():
    try:
        import weasyprint
    except ImportError as error:
        raise TesseraError("report.pdf", f"Python package weasyprint: {error}", PDF_REMEDY) from None
    except OSError as error:  # cffi finds no Pango
        raise TesseraError(
            "report.pdf", f"a system library: {str(error).splitlines()[0]}", PDF_REMEDY
        ) from None
    logging.getLogger("weasyprint").setLevel(logging.ERROR)  # it warns of CSS that only screens use
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    return weasyprint
