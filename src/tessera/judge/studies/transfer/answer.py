"""The runtime of a design with its source: a model that survived its classes, else the timing engine.

Counts from elsewhere have no timing engine behind them. If no model may answer, the answer is the bound by
twins and no runtime.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.fit.models.registry import create
from tessera.fit.models.samples import Samples, check_table
from tessera.fit.predict.design import DesignCounts
from tessera.judge.studies.transfer import coverage, own_design
from tessera.judge.studies.transfer.declared import COUNTED, INPUTS, Point
from tessera.judge.studies.transfer.fits import predicted
from tessera.judge.studies.transfer.hull import Hull, inputs_used
from tessera.judge.studies.transfer.own_design import OwnDesign, Progress, Window
from tessera.judge.studies.transfer.trusted import Decision, decide
from tessera.results.read import read_file
from tessera.results.recordings import recorded
from tessera.results.schema import transfer as schema
from tessera.results.schema.table import NUMBER
from tessera.results.schema.transfer import ANSWERS, ASKED
from tessera.results.status import ok_rows
from tessera.results.trace_notes import joined, note_of
from tessera.results.tree import Tree
from tessera.results.write import frame_of

ENGINE, BOUND = "timing engine", "none"


@dataclass(frozen=True)
class Study:
    """The tables of a study of transfer, asked about one workload on one platform."""

    tree: Tree
    workload: str
    platform: str

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        return self._table(schema.VERDICTS)

    def _table(self, table) -> pd.DataFrame:
        return read_file(table, table.place(self.tree), "predict-design: the study of transfer")

    @cached_property
    def note(self) -> str:
        """The note on a recording that lacks a part of its program; else empty, as without an info.json."""
        info = self.tree.info(self.workload)
        return note_of(recorded(info)[0]) if info.is_file() else ""

    @cached_property
    def samples_table(self) -> pd.DataFrame:
        """Rows of P for this pair.

        Raises:
            TesseraError: the study has no models of this pair.
        """
        rows = self._table(schema.SAMPLES)
        mine = rows[(rows["workload"] == self.workload) & (rows["platform"] == self.platform)]
        if mine.empty:
            pairs = ", ".join(f"{w} on {p}" for w, p in dict.fromkeys(zip(rows["workload"], rows["platform"],
                                                                          strict=True)))  # fmt: skip
            raise TesseraError(
                f"models of {self.workload} on {self.platform}",
                f"the study of transfer has: {pairs or 'no pair'}",
                "name one of them, or add the pair to studies.transfer of a configuration",
            )
        return mine

    @cached_property
    def samples(self) -> Samples:
        """What the models are fitted to."""
        rows = self.samples_table
        return check_table(rows[rows["fitted"].astype(bool)], "samples of the study of transfer").fitted

    @cached_property
    def models(self) -> dict:
        """The models of the study, fitted again to the same samples."""
        fits = ok_rows(self._table(schema.FITS))
        names = fits[(fits["workload"] == self.workload) & (fits["platform"] == self.platform)]["model"]
        return {name: create(name).fit(self.samples) for name in names}

    def decide(self, groups: Sequence[str], inputs: Sequence[str]) -> Decision:
        """Errors as of :attr:`samples_table` and :func:`decide`."""
        _ = self.samples_table  # names a pair that the study lacks before anything of the class
        widths = self._table(schema.WIDTHS)
        return decide(self.verdicts, widths, self.platform, self.workload, groups, inputs)

    def base_runtime(self, pages: str) -> float:
        """R_0 under a layout or mapping of the study; NaN if it is not among them."""
        rows = self.samples_table
        found = rows[rows["layout"] == pages]["runtime_cycles"]
        return float(found.iloc[0]) if len(found) else float("nan")


@dataclass(frozen=True)
class Answers:
    """``answers``: a row per design; ``asked``: a row per design, input and model."""

    answers: pd.DataFrame
    asked: pd.DataFrame


def answer_design(
    results: Path, design: OwnDesign, workload: str, platform: str, cache: Path | None = None,
    progress: Progress = lambda line: None,
) -> Answers:  # fmt: skip
    """Simulate a design, and answer.

    Raises:
        TesseraError: the study lacks the pair or a class, or the simulator rejects the design.
    """
    study = Study(Tree(results), workload, platform)
    groups, unknown = own_design.classes(design, platform)
    window = Window.of(study.tree, study.samples_table, workload, platform)
    if unknown or not groups:
        why = f"these belong to no class of the study: {', '.join(unknown)}"
        decision = Decision(None, why, float("nan"))
    else:
        decision = study.decide(groups, INPUTS)
    timed = decision.trusted is None
    counted = own_design.simulate_own(design, window, platform, cache, timed=timed, progress=progress)
    head = {"design": design.name, "pages": design.pages, "groups": " ".join(groups)}
    base = study.base_runtime(design.pages)
    return _answers(study, [(head, counted.x, decision, counted.runtime, base)], groups)


def answer_counts(
    results: Path, counts: DesignCounts, workload: str, platform: str, group: str, inputs: str = COUNTED
) -> Answers:
    """Answer for counts of another simulator, as one of the declared inputs; errors as above."""
    study = Study(Tree(results), workload, platform)
    decision = study.decide([group], [inputs])
    rows = []
    for i, name in enumerate(counts.names):
        x = {inputs: Point(float(counts.H[i]), float(counts.M[i]), float(counts.C[i]))}
        rows.append(({"design": name, "groups": group}, x, decision, float("nan"), float("nan")))
    return _answers(study, rows, [group])


def _answers(study: Study, rows: list, groups: Sequence[str]) -> Answers:
    pair = {"workload": study.workload, "platform": study.platform, "provenance": "simulated"}
    answers, asked = [], []
    for head, x, decision, runtime, base in rows:
        answer = _answer(study, x, decision, runtime)
        answer |= {"base_runtime_cycles": base, "message": joined(answer["message"], study.note)}
        answers.append(pair | head | answer)
        asked += [pair | {"design": head["design"]} | row for row in _asked(study, x, groups)]
    table = frame_of(ANSWERS, answers)
    table = table.astype(dict.fromkeys(ANSWERS.of_kind(NUMBER), float))  # None in a whole column is NaN, too
    return Answers(table, frame_of(ASKED, asked))


def _answer(study: Study, x: dict[str, Point], decision: Decision, runtime: float) -> dict:
    trusted = decision.trusted
    inputs = trusted.inputs if trusted else next(iter(x))
    H, M, C = x[inputs]
    row = {
        "inputs": inputs, "stlb_hits": H, "stlb_misses": M, "walk_cycles": C,
        "least_error": decision.least_error,
    }  # fmt: skip
    if trusted is None:
        known = runtime == runtime
        return row | {
            "source": ENGINE if known else BOUND, "runtime_cycles": runtime if known else None,
            "message": f"no model is trusted: {decision.reason}",
        }  # fmt: skip
    guess = predicted(study.models[trusted.model], x[inputs])
    low, high = coverage.interval(guess, trusted.half_width)
    return row | {
        "source": trusted.model, "runtime_cycles": guess, "low_cycles": low, "high_cycles": high,
        "points": trusted.points, "coverage": trusted.coverage, "message": decision.reason,
    }  # fmt: skip


def _asked(study: Study, x: dict[str, Point], groups: Sequence[str]) -> list[dict]:
    """What every model says, and how it fared in the classes of the design."""
    hull, found = Hull(study.samples), []
    mine = study.verdicts[study.verdicts["platform"] == study.platform]
    for inputs, point in x.items():
        for name, model in study.models.items():
            rows = mine[(mine["inputs"] == inputs) & (mine["model"] == name) & mine["group"].isin(groups)]
            found.append(
                {
                    "inputs": inputs, "model": name, "predicted_cycles": predicted(model, point),
                    "hull_distance": hull.distance(point, inputs_used(model)),
                    "verdicts": " ".join(f"{r.group}={r.verdict}" for r in rows.itertuples()),
                    "judged": int(rows["judged"].sum()), "passing": int(rows["passing"].sum()),
                }
            )  # fmt: skip
    return found
