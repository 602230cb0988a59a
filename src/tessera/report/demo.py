"""A first look without a simulator: archived samples, every published model, two designs (`tessera demo`).

All numbers are computed from the files of an archive, such as `notebooks/data`. The models are fitted to the
samples of one workload on one platform, and predict R of designs whose simulated R the archive has. The
source `bracket` is asked about each design, too. A pair has its designs in `designs/`, or in the study of
transfer; the page and the text show one that is answered and one that is refused (:func:`most_telling`).
"""

from __future__ import annotations

import base64
import math
import re
import tempfile
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.files import check_target, repo_root, write_text
from tessera.core.layouts.layout import ALL_4KB
from tessera.core.results.cell_tables import ARCHIVED_DESIGNS
from tessera.core.results.outcomes import note_sentence, ok_rows
from tessera.core.results.table_io import read_file
from tessera.core.results.transfer_tables import NEW_DESIGNS, POINTS, SAMPLES
from tessera.core.results.tree import ResultsTree
from tessera.fit.fit_folder import FitResult
from tessera.fit.fitting import fit_all
from tessera.fit.models.samples import SamplesTable
from tessera.fit.predict.bracket import SOURCE as BRACKET
from tessera.fit.predict.bracket import ChangedCounts
from tessera.fit.predict.decision import LEVELS, Decision, Question, cycles_text, decide_question
from tessera.lab.transfer import archived
from tessera.lab.transfer.answer import TransferTables
from tessera.lab.transfer.points import BUSY, COUNTED, LATENCY
from tessera.lab.transfer.predictions import predicted_cycles
from tessera.report.explore.designs import SHOWN_COUNTS, Design, answers
from tessera.report.explore.source import ARCHIVE, ResultsSource
from tessera.report.figures import style
from tessera.report.new_designs import ALL, TOTAL, of_scope
from tessera.report.results import Results
from tessera.report.templates import page_templates

#: Of the archive, the pair that shows most: a model that fits well gives an impossible runtime for a design
#: that is answered, and all models are wrong about a design that is refused (tests/report/test_demo.py).
DEFAULT = ("graph500-4gb", "haswell-sim")
FOLDS = 6
PAGE = "index.html"
COLUMNS = 80  #: of the text
IMPOSSIBLE, NO_NUMBER = "impossible", "no number"
UNCOUNTED = "No R was counted on a processor."
NEXT = "./run smoke"
_RUN = re.compile(r"^Run: commit (\w+)", re.MULTILINE)
Pair = tuple[str, str]


@dataclass(frozen=True)
class AskedDesign:
    """A design under 4KB pages: what the models see, what is said of it, and its simulated R.

    Args:
        changes: ``key=value`` of the platform that differ.
        counts: H, M (translations) and C (cycles).
        runtime: simulated R, in cycles.
        predictions: model -> R in cycles, of any sign; NaN if it gives no number.
    """

    name: str
    changes: str
    counts: tuple[float, float, float]
    runtime: float
    decision: Decision
    predictions: dict[str, float]

    @property
    def answered(self) -> bool:
        return self.decision.answer is not None

    @property
    def covered(self) -> bool:
        """Whether the interval of the answer contains R."""
        answer = self.decision.answer
        return answer is not None and answer.low <= self.runtime <= answer.high

    def error(self, model: str) -> float:
        """(predicted - R) / R."""
        return self.predictions[model] / self.runtime - 1

    @property
    def errors(self) -> list[float]:
        """Sizes of the models' errors, the least first; infinite without a number."""
        found = (abs(self.error(model)) for model in self.predictions)
        return sorted(math.inf if math.isnan(error) else error for error in found)

    @property
    def says(self) -> str:
        """The answer in words, or the reasons of the refusal."""
        if self.answered:
            where = "inside" if self.covered else "outside"
            remarks = "; ".join(reason.text for reason in self.decision.reasons)
            return f"{self.decision.sentence()} ({remarks}). The simulated R is {where} the interval."
        said = self.decision.others.get(BRACKET)
        reasons = self.decision.reasons if said is None else said.reasons
        return f"{self.name}: no answer: {'; '.join(reason.text for reason in reasons)}."


@dataclass(frozen=True)
class Demo:
    """What is shown of one pair; ``base`` is R of the platform as it is, in cycles, under 4KB pages."""

    workload: str
    platform: str
    where: str
    commit: str
    fit: FitResult
    base: float
    designs: tuple[AskedDesign, ...]
    study: str
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.workload} on {self.platform}"

    @property
    def shown(self) -> list[AskedDesign]:
        """One design that is answered and one that is refused, as far as there are such."""
        return most_telling(self.designs)

    @cached_property
    def errors(self) -> pd.DataFrame:
        """Model -> largest relative errors: ``fitted`` and ``held_out`` (NaN: the anchors define it)."""
        fitted = self.fit.errors[self.fit.errors["protocol"] == "all"].set_index("model")["max_error"]
        cv = self.fit.cv.set_index("model")["max_error"]
        order = [*self.fit.models, *self.fit.failures]
        return pd.DataFrame({"fitted": fitted, "held_out": cv}).reindex(order).astype(float)


def most_telling(designs: Iterable[AskedDesign]) -> list[AskedDesign]:
    """The answered design with the largest error of a model; the refused one that no model comes near to."""
    answered = [design for design in designs if design.answered]
    refused = [design for design in designs if not design.answered]
    return [
        *([max(answered, key=lambda design: design.errors[-1:])] if answered else []),
        *([max(refused, key=lambda design: design.errors[:1])] if refused else []),
    ]


# The data: pairs with designs, in `designs/` or in the study of transfer.


class _Study(TransferTables):
    """The study of an archive, whose large tables are compressed, or of a results folder."""

    def _table(self, table) -> pd.DataFrame:
        if archived.packed(table, self.tree).is_file():
            return archived.read_packed(table, self.tree)
        return super()._table(table)


def pairs(folder: Path) -> list[Pair]:
    """(workload, platform) that a demo can show, those with a file in `designs/` first.

    Raises:
        TesseraError: there is none.
    """
    tree, results = ResultsTree(folder), Results(folder)
    found = [pair for pair in _of_cells(results) if tree.archived_designs(*pair).is_file()]
    if archived.packed(SAMPLES, tree).is_file() or SAMPLES.place(tree).is_file():
        rows = _Study(tree, "", "")._table(SAMPLES)
        found += zip(rows["workload"], rows["platform"], strict=True)
    if not found:
        raise TesseraError(
            f"data {folder}", "; ".join(results.notes) or "no designs/ and no studies/transfer are in it",
            f"name a folder with them: --data {repo_root() / ARCHIVE}",
        )  # fmt: skip
    return list(dict.fromkeys(found))


def _of_cells(results: Results) -> list[Pair]:
    return ResultsSource(results, "").pairs if results.tree.cells.is_file() else []


def chosen_pair(folder: Path, workload: str = "", platform: str = "") -> Pair:
    """The first pair with these names; without any, :data:`DEFAULT` if the folder has it.

    Raises:
        TesseraError: no such pair; the message lists those that there are.
    """
    known = pairs(folder)
    if not (workload or platform) and DEFAULT in known:
        return DEFAULT
    found = [pair for pair in known if workload in ("", pair[0]) and platform in ("", pair[1])]
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
    workload, platform = chosen_pair(folder, workload, platform)
    tree = ResultsTree(folder)
    if tree.archived_designs(workload, platform).is_file():
        pair = ResultsSource(Results(folder), "").pair(workload, platform)
        table, note, asked = pair.table, pair.note, _archived_designs(pair)
    else:
        study = _Study(tree, workload, platform)
        table, note, asked = study.table, study.note, _studied_designs(study)
    fit = fit_all(table, folds=(FOLDS,))
    designs = tuple(
        AskedDesign(name, changes, counts, runtime, decision, {
            model: predicted_cycles(fitted, counts) for model, fitted in fit.models.items()
        })
        for name, changes, counts, runtime, decision in asked
    )  # fmt: skip
    readme = folder / "README.md"
    stated = _RUN.search(readme.read_text()) if readme.is_file() else None
    return Demo(
        workload, platform, _shown(folder), stated.group(1) if stated else "", fit, _base(table), designs,
        _study_sentence(tree), (*table.notes, *([note_sentence(note)] if note else [])),
    )  # fmt: skip


def _base(table: SamplesTable) -> float:
    return table.fitted.anchor(ALL_4KB)[3]


def _shown(folder: Path) -> str:
    """The folder as a reader of the checkout would name it."""
    folder, root = folder.resolve(), repo_root()
    return folder.relative_to(root).as_posix() if folder.is_relative_to(root) else str(folder)


def _archived_designs(pair) -> Iterable[tuple]:
    """Name, changes, counts, R and decision of each row of the pair's file in `designs/` that has an R."""
    rows = read_file(ARCHIVED_DESIGNS, pair.tree.archived_designs(pair.workload, pair.platform))
    rows = rows[rows["runtime_cycles"].notna()]
    designs = [_design(row.design, row.changes) for row in rows.itertuples()]
    decisions = answers(pair, designs, rows)
    for (_, row), decision in zip(rows.iterrows(), decisions, strict=True):
        counts = tuple(float(row[column]) for column in SHOWN_COUNTS)
        yield row["design"], row["changes"], counts, float(row["runtime_cycles"]), decision


def _design(name: str, changes: str) -> Design:
    """The design of a row: ``changes`` as :attr:`Design.text` writes them."""
    words = dict(word.split("=", 1) for word in str(changes).split())
    hot = float(words.pop("hot_share", 0))
    values = {key: int(value) if value.lstrip("-").isdigit() else value for key, value in words.items()}
    return Design(name, values, hot)


def _studied_designs(study: _Study) -> Iterable[tuple]:
    """The same of the variants that the study of transfer ran under 4KB pages."""
    points = ok_rows(study._table(POINTS))
    mine = (points["workload"] == study.workload) & (points["platform"] == study.platform)
    processor = study.processor
    for name, rows in points[mine & (points["layout"] == ALL_4KB)].groupby("variant", sort=False):
        of = rows.set_index("inputs")
        counted, hits, walks = of.loc[COUNTED], of.loc[LATENCY], of.loc[BUSY]
        question = Question(
            str(name), (str(counted["group"]),), base=processor.bases[ALL_4KB],
            asked=ChangedCounts(
                float(hits["stlb_hits"]), float(walks["walk_cycles"]), int(walks["walkers"]),
                float(walks["miss_cycles"]),
            ),
            simulated=True, layout=ALL_4KB,
        )  # fmt: skip
        decision = decide_question(question, processor.bracket, None)
        counts = tuple(float(counted[column]) for column in SHOWN_COUNTS)
        yield str(name), str(counted["changes"]), counts, float(counted["runtime_cycles"]), decision


def _study_sentence(tree: ResultsTree) -> str:
    """How often the bracket answers in the study of transfer, and how often it is right; empty if none."""
    if not NEW_DESIGNS.place(tree).is_file():
        return ""
    table = read_file(NEW_DESIGNS, NEW_DESIGNS.place(tree))
    said = []
    for platform in table["platform"].unique():
        rows = of_scope(table, ALL, platform)
        for row in rows[rows["group"] == TOTAL].itertuples():
            said.append(
                f"The study of transfer on {platform}, {int(row.workloads)} workloads: the bracket answers "
                f"{int(row.answered):,} of {int(row.judged):,} questions; R is in {int(row.covered):,} "
                "intervals."
            )
    return " ".join(said)


# The text of the terminal.


def cycles(value: float) -> str:
    """A runtime of any sign, such as -2.1e9; empty for none."""
    if math.isnan(value):
        return ""
    return "0" if value == 0 else f"{'-' if value < 0 else ''}{cycles_text(abs(value))}"


def judged(design: AskedDesign, model: str) -> str:
    """The error of a prediction; a runtime that is not above zero is called impossible."""
    value = design.predictions.get(model, math.nan)
    if math.isnan(value):
        return NO_NUMBER
    error = design.error(model)
    return IMPOSSIBLE if value <= 0 else f"{error:+.1%}" if abs(error) < 10 else f"{error:+.0%}"


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


def lines(demo: Demo, page: str) -> list[str]:
    """What the command prints, in lines of at most 80 columns; ``page``: where the page is."""
    of = f" (run of commit {demo.commit})" if demo.commit else ""
    distinct, designs = demo.fit.effective_n, len(demo.shown)
    layouts = f"{demo.fit.samples} layouts" + (
        f" ({distinct} distinct)" if distinct < demo.fit.samples else ""
    )
    text = [
        *_wrapped(f"{demo.title}, from {demo.where}{of}. Every R is {_provenance(demo)}. {UNCOUNTED} R is "
                  f"the runtime in cycles; P is the platform without a change, with R {cycles(demo.base)}. "
                  f"{len(demo.errors)} published models, fitted again to {layouts} of page sizes, and what "
                  f"they predict for {designs} design{'' if designs == 1 else 's'} of the archive:"),
        "",
        *_table(demo),
        "-: the runs with 4KB and 2MB pages define the model, so there is no fold.",
        "",
    ]  # fmt: skip
    for design in demo.shown:
        text += _wrapped(design.says, "  ")
    if not demo.designs:
        text += ["The data have no design of this pair with a simulated R."]
    if demo.study:
        text += _wrapped(demo.study, "  ")
    for note in demo.notes:
        text += _wrapped(f"note: {note}", "  ")
    return [*text, f"Two pictures: {page}", f"Next: {NEXT}, every step of the method on tiny inputs"]


def _provenance(demo: Demo) -> str:
    return demo.fit.table.runtime_provenance or "of an unknown source"


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, COLUMNS, subsequent_indent=indent, break_on_hyphens=False)


def _table(demo: Demo) -> list[str]:
    """Models in rows: two errors of the fit, and for each shown design R and its error."""
    designs = demo.shown
    names = [textwrap.shorten(design.name, 21, placeholder="...") for design in designs]
    text = [f"{'':12}{'largest error':>17}  " + "".join(f"{name:>21}  " for name in names)]
    text.append(f"{'model':12}{'fitted':>8}{'6-fold':>9}  " + f"{'R':>10}{'error':>11}  " * len(designs))
    for model in demo.errors.index:
        fitted, held_out = shares(demo, model)
        line = f"{model:12}{fitted:>8}{held_out:>9}  "
        for design in designs:
            predicted = design.predictions.get(model, math.nan)
            line += f"{cycles(predicted):>10}{judged(design, model):>11}  "
        text.append(line)
    text.append(f"{'simulated':12}{'':19}" + "".join(f"{cycles(d.runtime):>10}{'':11}  " for d in designs))
    text.append(f"{BRACKET:12}{'':19}" + "".join(f"{interval(d):>21}  " for d in designs))
    return [line.rstrip() for line in text]


# The page: one file with two pictures.


def draw_errors(demo: Demo):
    """Largest error of each model: on the layouts that it was fitted to, and on held-out ones."""
    errors = demo.errors.dropna(how="all")
    with style.context():
        figure, axes = style.panels(width=style.WIDTH, height=1.5 + 0.3 * len(errors))
        looks = (
            ("fitted", "o", style.BLUE, "layouts that it was fitted to"),
            ("held_out", "D", style.PAPER, f"held-out layouts, {FOLDS}-fold cross validation"),
        )
        for column, marker, face, words in looks:
            axes.plot(errors[column], range(len(errors)), marker, markerfacecolor=face,
                      markeredgecolor=style.BLUE, markersize=6.5, label=words, linestyle="")  # fmt: skip
        axes.set_xscale("log")
        style.percent_axis(axes.xaxis)
        axes.set_xlabel("largest relative error of R (log scale)")
        axes.set_yticks(range(len(errors)), [style.model_look(name).label for name in errors.index])
        axes.invert_yaxis()
        style.legend_below(figure, [axes], columns=1)
        style.headline(figure, demo.title, _provenance(demo))
    return figure


def draw_answers(demo: Demo):
    """Predictions of the models, interval of the bracket and simulated R, a panel for each design.

    The axis goes to twice the simulated R at most; an arrow at its edge stands for what is beyond it.
    """
    designs, models = demo.shown, list(demo.fit.models)
    with style.context():
        figure, axes = style.panels(
            len(designs), 1, width=style.WIDTH, height=0.9 + 2.9 * len(designs), squeeze=False
        )
        for panel, design in zip(axes[:, 0], designs, strict=True):
            scale, unit = style.count_unit(design.runtime)
            answer = design.decision.answer
            ends = [answer.low, answer.high] if answer else []
            inside = [v for v in design.predictions.values() if 0 < v <= 2 * design.runtime]
            low, high = _limits([*inside, *ends, design.runtime, demo.base])
            if answer:
                panel.axvspan(answer.low / scale, answer.high / scale, color=style.GREEN, alpha=0.18, lw=0,
                              label="interval of the bracket")  # fmt: skip
            panel.axvline(design.runtime / scale, color=style.INK, lw=1.6, label="simulated R of the design")
            panel.axvline(demo.base / scale, color=style.GREY, lw=1.2, ls="--",
                          label="simulated R without the change")  # fmt: skip
            for row, model in enumerate(models):
                _draw_prediction(panel, row, design.predictions[model], (low, high), scale)
            if answer:
                panel.plot([answer.centre / scale], [len(models)], "|", color=style.GREEN, markersize=11)
                panel.plot([end / scale for end in ends], [len(models)] * 2, color=style.GREEN, lw=2.4)
            else:
                panel.annotate("no answer", (high / scale, len(models)), xytext=(-4, 0), va="center",
                               ha="right", textcoords="offset points", color=style.INK)  # fmt: skip
            panel.set_xlim(low / scale, high / scale)
            panel.set_yticks(
                range(len(models) + 1), [*(style.model_look(name).label for name in models), BRACKET]
            )
            panel.set_ylim(len(models) + 0.6, -0.6)
            panel.set_xlabel(f"R (cycles, {unit})")
            panel.set_title(f"{design.name} ({'answered' if answer else 'refused'})")
        style.legend_below(figure, axes[:, 0], columns=1)
        style.headline(figure, demo.title, _provenance(demo))
    return figure


def _limits(values: list[float]) -> tuple[float, float]:
    margin = 0.08 * (max(values) - min(values)) or 0.08 * max(values)
    return min(values) - margin, max(values) + margin


def _draw_prediction(panel, row: int, value: float, limits: tuple[float, float], scale: float) -> None:
    """A point, or an arrow at the edge with the value beside it; nothing for no number."""
    if math.isnan(value):
        return
    if limits[0] <= value <= limits[1]:
        panel.plot([value / scale], [row], "o", color=style.BLUE, markersize=6)
        return
    left = value < limits[0]
    words = f"{cycles(value)}: {IMPOSSIBLE}" if value <= 0 else cycles(value)
    panel.plot([limits[0 if left else 1] / scale], [row], "<" if left else ">", color=style.VERMILLION,
               markersize=8, clip_on=False)  # fmt: skip
    panel.annotate(words, (limits[0 if left else 1] / scale, row), xytext=(9 if left else -9, 0),
                   textcoords="offset points", va="center", ha="left" if left else "right",
                   color=style.VERMILLION, bbox={"facecolor": style.PAPER, "lw": 0, "pad": 1})  # fmt: skip


def html(demo: Demo) -> str:
    """The page as one file: style and pictures are in it, and it loads nothing."""
    pictures = [
        (draw_errors(demo), "How wrong each model is on the layouts of this platform",
         f"Largest relative error of each model over {demo.fit.samples} layouts. Models without a diamond "
         "are defined by the runs with 4KB and 2MB pages: there is no cross validation of them."),
    ]  # fmt: skip
    if demo.shown:
        pictures.append(
            (draw_answers(demo), "What the models and the bracket say about new designs",
             "Points are what the models predict; an arrow at the edge stands for a value beyond it. The "
             "bracket gives an interval or no answer. The solid line is R of the design by the timing "
             "simulator.")
        )  # fmt: skip
    return page_templates().get_template("demo.html").render(
        demo=demo, pictures=[_embedded(*picture) for picture in pictures], provenance=_provenance(demo),
        style=(repo_root() / "report" / "assets" / "style.css").read_text(), folds=FOLDS,
        rows=[_page_row(demo, model) for model in demo.errors.index], interval=interval, cycles=cycles,
        levels=LEVELS, uncounted=UNCOUNTED, next=NEXT, bracket=BRACKET,
    )  # fmt: skip


def _page_row(demo: Demo, model: str) -> dict:
    return {
        "label": style.model_look(model).label,
        "shares": shares(demo, model),
        "said": [
            (cycles(design.predictions.get(model, math.nan)), judged(design, model)) for design in demo.shown
        ],
    }


def _embedded(figure, title: str, caption: str) -> dict:
    with tempfile.TemporaryDirectory(prefix="tessera-demo-") as folder:
        path = Path(folder) / "picture.svg"
        style.save_svg(figure, path, title=title, description=caption)
        code = base64.b64encode(path.read_bytes()).decode()
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
