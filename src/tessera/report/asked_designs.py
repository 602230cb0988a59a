"""Designs of an archive that have a simulated R: what the models predict, and what `bracket` says.

A pair has its designs in `designs/`, or in the study of transfer, all under 4KB pages. The models are fitted
to the samples of the pair.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.layouts.layout import ALL_4KB
from tessera.core.results.cell_tables import ARCHIVED_DESIGNS
from tessera.core.results.loader import Pair
from tessera.core.results.outcomes import ok_rows
from tessera.core.results.table_io import read_file
from tessera.core.results.transfer_tables import POINTS, SAMPLES
from tessera.core.results.tree import ResultsTree
from tessera.fit.fit_folder import FitResult
from tessera.fit.fitting import fit_all
from tessera.fit.predict.answers import Refused
from tessera.fit.predict.bracket import SOURCE as BRACKET
from tessera.fit.predict.decision import Decision, Question, decide_question
from tessera.lab.transfer import archived
from tessera.lab.transfer.answer import TransferTables
from tessera.lab.transfer.bracket_answers import asked_point
from tessera.lab.transfer.points import COUNTED
from tessera.lab.transfer.predictions import predicted_cycles
from tessera.report.explore.designs import SHOWN_COUNTS, Design, answers
from tessera.report.explore.source import ARCHIVE, PairSamples, ResultsSource
from tessera.report.results import Results

FOLDS = 6
#: What a run says of a design: name, changes, row with R and the counts, decision.
Asked = tuple[str, str, pd.Series, Decision]


@dataclass(frozen=True)
class AskedDesign:
    """A design under 4KB pages: what is said of it, and its simulated R.

    Args:
        changes: ``key=value`` of the platform that differ.
        runtime: simulated R, in cycles.
        predictions: model -> R in cycles, of any sign; NaN if it gives no number.
    """

    name: str
    changes: str
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
        """(predicted - R) / R; NaN without a number."""
        return self.predictions.get(model, math.nan) / self.runtime - 1

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
        reasons = said.reasons if isinstance(said, Refused) else self.decision.reasons
        return f"{self.name}: no answer: {'; '.join(reason.text for reason in reasons)}."


def pairs_with_designs(folder: Path) -> list[Pair]:
    """Those with a file in `designs/` first, then those of the study of transfer.

    Raises:
        TesseraError: there is none.
    """
    tree, results = ResultsTree(folder), Results(folder)
    of_cells = ResultsSource(results, "").pairs if tree.cells.is_file() else []
    found = [Pair(*pair) for pair in of_cells if tree.archived_designs(*pair).is_file()]
    if archived.packed(SAMPLES, tree).is_file() or SAMPLES.place(tree).is_file():
        rows = _Study(tree, "", "")._table(SAMPLES)
        found += [Pair(*names) for names in zip(rows["workload"], rows["platform"], strict=True)]
    if not found:
        raise TesseraError(
            f"data {folder}", "; ".join(results.notes) or "no designs/ and no studies/transfer are in it",
            f"name a folder with them: --data {repo_root() / ARCHIVE}",
        )  # fmt: skip
    return list(dict.fromkeys(found))


def ask_pair(folder: Path, pair: Pair) -> tuple[FitResult, list[AskedDesign], str]:
    """Fit the models to a pair and ask its designs; seconds.

    Returns:
        the fit; the designs with an R; the note on a recording that lacks a part of its program, or nothing.

    Raises:
        TesseraError: samples that no model can be fitted to.
    """
    tree = ResultsTree(folder)
    samples: PairSamples | _Study
    if tree.archived_designs(*pair).is_file():
        samples = ResultsSource(Results(folder), "").pair(*pair)
        asked = _archived_designs(samples)
    else:
        samples = _Study(tree, *pair)
        asked = _studied_designs(samples)
    fit = fit_all(samples.table, folds=(FOLDS,))
    designs = []
    for name, changes, row, decision in asked:
        counts = [float(row[column]) for column in SHOWN_COUNTS]
        predictions = {model: predicted_cycles(fitted, counts) for model, fitted in fit.models.items()}
        designs.append(AskedDesign(name, changes, float(row["runtime_cycles"]), decision, predictions))
    return fit, designs, samples.note


class _Study(TransferTables):
    """The study of an archive, whose large tables are compressed, or of a results folder."""

    def _table(self, table) -> pd.DataFrame:
        if archived.packed(table, self.tree).is_file():
            return archived.read_packed(table, self.tree)
        return super()._table(table)


def _archived_designs(pair: PairSamples) -> Iterator[Asked]:
    """Each row of the pair's file in `designs/` that has an R."""
    rows = read_file(ARCHIVED_DESIGNS, pair.tree.archived_designs(pair.workload, pair.platform))
    rows = rows[rows["runtime_cycles"].notna()]
    designs = [_design(row.design, row.changes) for row in rows.itertuples()]
    for (_, row), decision in zip(rows.iterrows(), answers(pair, designs, rows), strict=True):
        yield row["design"], row["changes"], row, decision


def _design(name: str, changes: str) -> Design:
    """The design of a row: ``changes`` as :attr:`Design.text` writes them."""
    words = dict(word.split("=", 1) for word in str(changes).split())
    hot = float(words.pop("hot_share", 0))
    values = {key: int(value) if value.lstrip("-").isdigit() else value for key, value in words.items()}
    return Design(name, values, hot)


def _studied_designs(study: _Study) -> Iterator[Asked]:
    """The variants that the study of transfer ran under 4KB pages."""
    points = Pair(study.workload, study.platform).rows(ok_rows(study._table(POINTS)))
    processor = study.processor
    for name, rows in points[points["layout"] == ALL_4KB].groupby("variant", sort=False):
        inputs = {row["inputs"]: row for _, row in rows.iterrows()}
        counted = inputs[COUNTED]
        question = Question(
            str(name), (str(counted["group"]),), base=processor.bases[ALL_4KB], asked=asked_point(inputs),
            simulated=True, layout=ALL_4KB,
        )  # fmt: skip
        decision = decide_question(question, processor.bracket, None)
        yield str(name), str(counted["changes"]), counted, decision
