"""A first look without a simulator: archived samples, every published model, two designs (`tessera demo`).

All numbers are computed from the files of an archive, such as `notebooks/data`
(:mod:`tessera.report.asked_designs`). The page and the text show a design that is answered and one that is
refused (:func:`most_telling`).
"""

from __future__ import annotations

import base64
import math
import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.files import check_target, repo_root, write_text
from tessera.core.layouts.layout import ALL_4KB
from tessera.core.results.loader import Pair
from tessera.core.results.outcomes import note_sentence
from tessera.core.results.transfer_tables import NEW_DESIGNS
from tessera.core.results.tree import ResultsTree
from tessera.fit.fit_folder import FitResult
from tessera.fit.predict.bracket import SOURCE as BRACKET
from tessera.fit.predict.decision import LEVELS
from tessera.report import new_designs
from tessera.report.asked_designs import FOLDS, AskedDesign, ask_pair, pairs_with_designs
from tessera.report.explore.fits import largest_errors
from tessera.report.explore.source import shown_folder
from tessera.report.figures import style
from tessera.report.figures.demo import IMPOSSIBLE, cycles, draw_answers, draw_errors
from tessera.report.templates import page_templates

#: Of the archive, the pair that shows most: a model that fits well gives an impossible runtime for a design
#: that is answered, and all models are wrong about a design that is refused (tests/report/test_demo.py).
DEFAULT = Pair("graph500-4gb", "haswell-sim")
PAGE = "index.html"
COLUMNS = 80  #: of the text
NO_NUMBER = "no number"
UNCOUNTED = new_designs.LAST
NEXT = "./run smoke"
_RUN = re.compile(r"^Run: commit (\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Demo:
    """What is shown of one pair; ``where`` and ``commit`` are the archive and the run that it is from."""

    pair: Pair
    where: str
    commit: str
    fit: FitResult
    designs: tuple[AskedDesign, ...]
    study: str
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return str(self.pair)

    @property
    def provenance(self) -> str:
        return self.fit.table.runtime_provenance or "of an unknown source"

    @property
    def base(self) -> float:
        """R of the platform as it is, in cycles, under 4KB pages."""
        return self.fit.table.fitted.anchor(ALL_4KB)[3]

    @property
    def shown(self) -> list[AskedDesign]:
        """One design that is answered and one that is refused, as far as there are such."""
        return most_telling(self.designs)

    @cached_property
    def errors(self) -> pd.DataFrame:
        """Model -> largest relative errors: ``fitted`` and ``held_out`` (NaN: the anchors define it)."""
        words = {"all": "fitted", "cv": "held_out"}
        return largest_errors(self.fit)[list(words)].rename(columns=words)


def most_telling(designs: Iterable[AskedDesign]) -> list[AskedDesign]:
    """The answered design with the largest error of a model; the refused one that no model comes near to."""
    answered = [design for design in designs if design.answered]
    refused = [design for design in designs if not design.answered]
    return [
        *([max(answered, key=lambda design: design.errors[-1:])] if answered else []),
        *([max(refused, key=lambda design: design.errors[:1])] if refused else []),
    ]


def chosen_pair(folder: Path, workload: str = "", platform: str = "") -> Pair:
    """The first pair with these names; without any, :data:`DEFAULT` if the folder has it.

    Raises:
        TesseraError: no such pair; the message lists those that there are.
    """
    known = pairs_with_designs(folder)
    if not (workload or platform) and DEFAULT in known:
        return DEFAULT
    found = [pair for pair in known if workload in ("", pair.workload) and platform in ("", pair.platform)]
    if not found:
        raise TesseraError(
            f"the pair {workload or 'any workload'}/{platform or 'any platform'}",
            f"{folder} has no designs of it; it has {', '.join('/'.join(pair) for pair in known)}",
            "name one of these: --pair WORKLOAD/PLATFORM",
        )  # fmt: skip
    return found[0]


def make_demo(folder: Path, workload: str = "", platform: str = "") -> Demo:
    """Fit the models to a pair and ask its designs; seconds.

    Args:
        folder: an archive, or a results folder with a study of transfer.
        workload, platform: as for :func:`chosen_pair`.

    Raises:
        TesseraError: no such pair, or samples that no model can be fitted to.
    """
    pair = chosen_pair(folder, workload, platform)
    fit, designs, note = ask_pair(folder, pair)
    readme = folder / "README.md"
    stated = _RUN.search(readme.read_text()) if readme.is_file() else None
    studied = NEW_DESIGNS.place(ResultsTree(folder)).is_file()
    study = new_designs.study_sentences(new_designs.new_design_table(folder)) if studied else ""
    notes = (*fit.table.notes, *([note_sentence(note)] if note else []))
    commit = stated.group(1) if stated else ""
    return Demo(pair, shown_folder(folder), commit, fit, tuple(designs), study, notes)


# What text and page say alike.


def judged(design: AskedDesign, model: str) -> str:
    """The error of a prediction; a runtime that is not above zero is called impossible."""
    error = design.error(model)
    if math.isnan(error):
        return NO_NUMBER
    return IMPOSSIBLE if error <= -1 else f"{error:+.1%}" if abs(error) < 10 else f"{error:+.0%}"


def interval(design: AskedDesign) -> str:
    """What `bracket` says: the ends of its interval in cycles, or that there is no answer."""
    answer = design.decision.answer
    return f"{cycles(answer.low)} to {cycles(answer.high)}" if answer else "no answer"


def shares(demo: Demo, model: str) -> tuple[str, str]:
    """Both errors as percentages; a dash for the cross validation of a model that has none."""
    fitted, held_out = demo.errors.loc[model]
    without = "no fit" if style.is_trained(model) else "-"
    return (
        "no fit" if math.isnan(fitted) else style.percent_text(fitted),
        without if math.isnan(held_out) else style.percent_text(held_out),
    )


def rows(demo: Demo) -> list[tuple[str, tuple[str, str], list[tuple[str, str]]]]:
    """Of each model its name, both errors, and for each shown design R with its error."""
    return [
        (
            model, shares(demo, model),
            [(cycles(one.predictions.get(model, math.nan)), judged(one, model)) for one in demo.shown],
        )
        for model in demo.errors.index
    ]  # fmt: skip


# The text of the terminal.


def lines(demo: Demo, page: str) -> list[str]:
    """What the command prints, in lines of at most 80 columns; ``page``: where the page is."""
    of = f" (run of commit {demo.commit})" if demo.commit else ""
    distinct, designs = demo.fit.effective_n, len(demo.shown)
    layouts = f"{demo.fit.samples} layouts" + (
        f" ({distinct} distinct)" if distinct < demo.fit.samples else ""
    )
    text = [
        *_wrapped(f"{demo.title}, from {demo.where}{of}. Every R is {demo.provenance}. {UNCOUNTED} R is "
                  f"the runtime in cycles; P is the platform without a change, with R {cycles(demo.base)}. "
                  f"{len(demo.errors)} models, fitted again to {layouts} of page sizes, and what "
                  f"they predict for {designs} design{'' if designs == 1 else 's'} of the archive:"),
        "",
        *_table(demo),
        "-: the runs with 4KB and 2MB pages define the model, so there is no fold.",
        "",
    ]  # fmt: skip
    if not demo.designs:
        text += ["The data have no design of this pair with a simulated R."]
    said = [*(design.says for design in demo.shown), demo.study, *(f"note: {note}" for note in demo.notes)]
    for paragraph in said:
        text += _wrapped(paragraph, "  ")
    return [*text, f"Two pictures: {page}", f"Next: {NEXT}, every step of the method on tiny inputs"]


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, COLUMNS, subsequent_indent=indent, break_on_hyphens=False)


def _table(demo: Demo) -> list[str]:
    """Models in rows: two errors of the fit, and for each shown design R and its error."""
    designs = demo.shown
    names = [textwrap.shorten(design.name, 21, placeholder="...") for design in designs]
    text = [f"{'':12}{'largest error':>17}  " + "".join(f"{name:>21}  " for name in names)]
    text.append(f"{'model':12}{'fitted':>8}{'6-fold':>9}  " + f"{'R':>10}{'error':>11}  " * len(designs))
    for model, (fitted, held_out), said in rows(demo):
        predicted = "".join(f"{value:>10}{error:>11}  " for value, error in said)
        text.append(f"{model:12}{fitted:>8}{held_out:>9}  {predicted}")
    text.append(f"{'simulated':12}{'':19}" + "".join(f"{cycles(d.runtime):>10}{'':11}  " for d in designs))
    text.append(f"{BRACKET:12}{'':19}" + "".join(f"{interval(d):>21}  " for d in designs))
    return [line.rstrip() for line in text]


# The page: one file with two pictures.


def html(demo: Demo) -> str:
    """The page as one file: style and pictures are in it, and it loads nothing."""
    about = demo.title, demo.provenance
    pictures = [
        (draw_errors(demo.errors, FOLDS, *about), "How wrong each model is on the layouts of this platform",
         f"Largest relative error of each model over {demo.fit.samples} layouts. Models without a diamond "
         "are defined by the runs with 4KB and 2MB pages: there is no cross validation of them."),
    ]  # fmt: skip
    if demo.shown:
        pictures.append(
            (draw_answers(demo.shown, demo.base, *about),
             "What the models and the bracket say about new designs",
             "Points are what the models predict; an arrow at the edge stands for a value beyond it. The "
             "bracket gives an interval or no answer. The solid line is R of the design by the timing "
             "simulator.")
        )  # fmt: skip
    return page_templates().get_template("demo.html").render(
        demo=demo, pictures=[_embedded(*picture) for picture in pictures], rows=rows(demo),
        style=(repo_root() / "report" / "assets" / "style.css").read_text(), folds=FOLDS, interval=interval,
        cycles=cycles, label=lambda model: style.model_look(model).label, levels=LEVELS, uncounted=UNCOUNTED,
        next=NEXT, bracket=BRACKET,
    )  # fmt: skip


def _embedded(figure, title: str, caption: str) -> dict:
    code = base64.b64encode(style.svg_text(figure, title=title, description=caption).encode()).decode()
    return {"title": title, "caption": caption, "source": f"data:image/svg+xml;base64,{code}"}


def write_demo(folder: Path, out: Path, workload: str = "", platform: str = "") -> tuple[Demo, Path]:
    """Make the demo of a pair, and write its page into ``out``.

    Raises:
        TesseraError: as :func:`make_demo`; or ``out`` cannot be written, before any work.
    """
    page = out / PAGE
    try:
        check_target(page)
    except TesseraError as error:
        raise TesseraError(error.asked, error.found, f"{error.remedy}: --out FOLDER") from None
    demo = make_demo(folder, workload, platform)
    write_text(page, html(demo))
    return demo, page
