"""Write the report: a folder of static pages that needs no server and no network."""

from __future__ import annotations

import shutil
from pathlib import Path

import jinja2

from tessera.core.paths import repo_root
from tessera.results.provenance import collect
from tessera.results.schema.shown import REGIME, WORKLOADS
from tessera.results.write import write
from tessera.show.figures.render import Drawn
from tessera.show.notebooks import page as notebook
from tessera.show.report import claims as judged
from tessera.show.report import drawing, navigation, pdf
from tessera.show.report.facts import Facts, shown_path
from tessera.show.report.pages import PAGES, Page, kernel, workload, workloads
from tessera.show.results import Results
from tessera.show.templates import copy_assets, environment
from tessera.show.trace_marks import mark_page


def render(
    results_dir: Path,
    out: Path | None = None,
    claims: Path | None = None,
    reference: Path | None = None,
    config: Path | None = None,
    only: list[str] | None = None,
    with_pdf: bool = True,
) -> Facts:
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
    results_dir = Path(results_dir)
    reference = reference or repo_root() / "reference-results"
    results = Results(results_dir)
    tree = results.tree
    out = Path(out) if out else tree.report_folder
    drawn, judged_now = drawing.draw(
        results,
        reference,
        tree.figures,
        only,
        lambda: judged.evaluate(results_dir, claims or judged.claims_path(), reference),
    )
    facts = Facts(
        results=results,
        claims=judged_now.claims,
        claims_reason=judged_now.reason,
        elsewhere=judged_now.elsewhere,
        measured=judged_now.measured,
        figures=drawn,
        provenance=collect(results_dir, config),
        notebooks=sorted(path.name for path in tree.found(tree.notebook("*"))),
        reference=reference,
    )
    _copy(out, facts)
    env = environment()
    if with_pdf:
        facts.pdf_problem = pdf.problem()
        facts.pdf_written = not facts.pdf_problem
    with pdf.beside(facts, env, shared(facts), out):
        _write(facts, env, shared(facts), out)
    return facts


def _copy(out: Path, facts: Facts) -> None:
    """Copy all files that pages link to into the report folder, so that it can be moved or published."""
    copy_assets(out)
    tree = facts.results.tree
    for folder in ("figures", "data", "notebooks"):
        shutil.rmtree(out / folder, ignore_errors=True)
        (out / folder).mkdir(parents=True)
    for figure in facts.figures:
        for suffix in ("svg", "csv") if figure.ok else ():
            shutil.copy(tree.figure(figure.stem, suffix), out / "figures")
    for name in facts.notebooks:
        page = (tree.notebooks / name).read_text()
        (out / "notebooks" / name).write_text(page.replace(notebook.HOME, notebook.HOME_IN_SITE))
    write(WORKLOADS, facts.workload_table, tree.workloads)
    write(REGIME, facts.regime, tree.regime)
    for path in (tree.claims, tree.claims_elsewhere, tree.cells, tree.workloads, tree.regime):
        if path.exists():
            shutil.copy(path, out / "data")
    for name, path in kernel.files(facts).items():
        shutil.copy(path, out / "data" / name)


def shared(facts: Facts) -> dict:
    """Variables that all templates share."""
    git = facts.provenance.get("git") or {}
    return {
        "name": facts.name,
        "up": "",
        "navigation": navigation.groups(facts),
        "commit": git.get("commit") or "",
        "dirty": git.get("dirty"),
        "render_command": f"./run tessera report render --results {facts.where}",
        "figure_command": lambda figure: figure_command(facts, figure),
    }


def figure_command(facts: Facts, figure: Drawn) -> str:
    """The command that draws one figure again."""
    return f"./run tessera report figures --results {facts.where} --only {figure.name}"


def _write(facts: Facts, env: jinja2.Environment, common: dict, out: Path) -> None:
    for stale in out.glob("*.html"):
        stale.unlink()
    for page in PAGES:
        if page.exists(facts):
            _page(env, out, page, common, page.fill(facts), facts.results.trace_notes)
    for name in sorted({pair[0] for pair in facts.results.pairs()}):
        page = Page(workloads.href(name), "workload.html", name, workload.page)
        _page(env, out, page, common, page.fill(facts, name), facts.results.trace_notes)


def _page(
    env: jinja2.Environment, out: Path, page: Page, common: dict, content: dict, notes: dict[str, str]
) -> None:
    text = env.get_template(page.template).render(**{**common, "page": page.href, **content})
    (out / page.href).write_text(mark_page(text, notes))


__all__ = ["render", "shared", "shown_path"]
