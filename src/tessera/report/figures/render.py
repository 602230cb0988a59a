"""Draw figures to ``results/<config>/figures``: SVG and CSV with the same stem."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import write_csv, write_text
from tessera.report import trace_marks
from tessera.report.figures import ReportFigure, registry, style
from tessera.report.results import NotDrawn, Results


@dataclass(frozen=True)
class Drawn:
    """One figure on disk, or the reason why it isn't there."""

    name: str  #: ``fig2``
    stem: str  #: file stem (``fig2``, ``curves-gups-haswell-sim``)
    title: str
    caption: str
    workload: str = ""
    platform: str = ""
    rows: int = 0
    reason: str = ""  #: empty when the figure was drawn
    remedy: str = ""

    @property
    def ok(self) -> bool:
        return not self.reason


def stem_of(name: str, workload: str = "", platform: str = "") -> str:
    """File stem of a figure; slashes of workload names become dashes."""
    return "-".join(part.replace("/", "-") for part in (name, workload, platform) if part)


def write_figures(
    results_dir: Path | str | Results,
    reference: Path | str,
    out_dir: Path | str,
    only: list[str] | None = None,
) -> list[Drawn]:
    """Draw the named figures (default: all); a figure that can't be drawn is reported, not raised."""
    results = Results.of(results_dir)
    out = Path(out_dir)
    drawn = []
    for entry in registry.select_figures(only):
        pairs = results.pairs() if entry.per_pair else [("", "")]
        for workload, platform in pairs:
            drawn.append(write_figure(entry, results, Path(reference), out, workload, platform))
    return drawn


def write_figure(
    entry: ReportFigure, results: Results, reference: Path, out: Path, workload: str = "", platform: str = ""
) -> Drawn:
    """Draw one figure, of a pair if it is drawn for each; if it can't be drawn the result has the reason."""
    stem = stem_of(entry.name, workload, platform)
    about = dict(
        name=entry.name,
        stem=stem,
        title=entry.title,
        caption=entry.caption,
        workload=workload,
        platform=platform,
    )
    extra = (workload, platform) if entry.per_pair else ()
    try:
        with warnings.catch_warnings(), style.context():
            warnings.simplefilter("ignore", category=UserWarning)  # matplotlib's layout hints
            figure, table = entry.draw(results, reference, *extra)
            if notes := trace_marks.noted(table, workload, results.trace_notes):
                trace_marks.mark_figure(figure, notes)
                about["caption"] = f"{entry.caption} {trace_marks.footnote(notes)}"
            picture = style.svg_text(figure, title=entry.title, description=about["caption"])
    except NotDrawn as error:
        for stale in (out / f"{stem}.svg", out / f"{stem}.csv"):
            stale.unlink(missing_ok=True)
        return Drawn(**about, reason=error.found, remedy=error.remedy)
    except (TesseraError, ValueError, KeyError, ArithmeticError) as error:
        # One figure that stumbles over odd data must not take the report with it.
        return Drawn(**about, reason=f"{type(error).__name__}: {error}", remedy="please report this as a bug")
    write_text(out / f"{stem}.svg", picture)
    write_csv(table, out / f"{stem}.csv", float_format="%.10g")
    return Drawn(**about, rows=len(table))
