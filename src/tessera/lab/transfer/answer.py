"""A design asked of the study of transfer: P, its window, its clock, and which classes are open.

The decision itself is :mod:`tessera.fit.predict.decision`; here it gets what a results folder has.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.platforms import Platform
from tessera.core.results import transfer_tables as schema
from tessera.core.results.outcomes import note_of, read_recording
from tessera.core.results.table_io import ABSENT_CODE, UnreadableTable, read_file
from tessera.core.results.tree import ResultsTree
from tessera.fit.models.base import CannotFit
from tessera.fit.models.samples import SamplesTable, check_samples
from tessera.fit.predict.answers import Answer
from tessera.fit.predict.bracket import SOURCE, Bracket, ChangedCounts, ProcessorCounts
from tessera.fit.predict.calibrated import Clocks
from tessera.fit.predict.counts import layout_absent
from tessera.fit.predict.decision import Decision, Question, decide_question, refused_question
from tessera.fit.predict.processor import MEASURED, SIMULATED, Processor, of_table
from tessera.lab.transfer import own_design
from tessera.lab.transfer.bracket_answers import family_openness
from tessera.lab.transfer.classes import families_of
from tessera.lab.transfer.own_design import OwnDesign, Progress, TraceWindow


@dataclass(frozen=True)
class TransferTables:
    """The tables of a study of transfer, asked about one workload on one platform."""

    tree: ResultsTree
    workload: str
    platform: str

    def _table(self, table) -> pd.DataFrame:
        """A table of the study.

        Raises:
            TesseraError: the results have no study of transfer, or one that other code has written.
        """
        place = table.place(self.tree)
        try:
            return read_file(table, place)
        except UnreadableTable as error:
            if error.code == ABSENT_CODE and not schema.SAMPLES.place(self.tree).is_file():
                raise TesseraError(
                    f"study of transfer in {self.tree.root}", f"there is no {place}",
                    "run ./run reproduce, which makes it; or give P by --samples", code="no-study",
                ) from None  # fmt: skip
            raise TesseraError(
                f"study of transfer in {self.tree.root}",
                f"{error.problem}; {_written_by(self.tree)}, and this version needs it",
                "make the study again: ./run reproduce; or use the version that wrote it",
                code="results-of-another-commit",
            ) from None

    @cached_property
    def hardware(self) -> Platform:
        return platforms.load_platform(self.platform)

    @cached_property
    def note(self) -> str:
        """The note on a recording that lacks a part of its program; else empty, as without an info.json."""
        info = self.tree.info(self.workload)
        return note_of(read_recording(info)[0]) if info.is_file() else ""

    @cached_property
    def samples_table(self) -> pd.DataFrame:
        """Rows of P for this pair.

        Raises:
            TesseraError: as for any table; the study has no such pair.
        """
        rows = self._table(schema.SAMPLES)
        mine = rows[(rows["workload"] == self.workload) & (rows["platform"] == self.platform)]
        if mine.empty:
            pairs = dict.fromkeys(zip(rows["workload"], rows["platform"], strict=True))
            known = ", ".join(f"{workload} on {platform}" for workload, platform in pairs)
            raise TesseraError(
                f"{self.workload} on {self.platform}", f"the study of transfer has: {known or 'no pair'}",
                "name one of them, or add the pair to studies.transfer of a configuration", code="no-pair",
            )  # fmt: skip
        return mine

    @cached_property
    def table(self) -> SamplesTable:
        """The samples of P that models are fitted to."""
        rows = self.samples_table
        fitted = rows[rows["fitted"].astype(bool)].assign(runtime_provenance=SIMULATED)
        return check_samples(fitted, "samples of the study of transfer")

    @cached_property
    def processor(self) -> Processor:
        """P of the study: simulated, with R_0, H_0 and C_0 also under its mappings."""
        rows, found = self.samples_table, of_table(self.table)
        counts = rows[["layout", "runtime_cycles", "stlb_hits", "walk_cycles"]]
        bases = {
            name: ProcessorCounts(float(R), float(H), float(C))
            for name, R, H, C in counts.itertuples(index=False)
        }
        notes = [self.note] if self.note else []
        return replace(found, bases=bases, engine=True, notes=notes).with_hardware(self.hardware)

    @property
    def clock(self) -> dict[str, float]:
        """Layout or mapping -> R of P in cycles by the timing engine."""
        return {name: float(base.runtime) for name, base in self.processor.bases.items()}

    def open(self, groups: Sequence[str], families: Iterable[str]) -> dict[str, tuple[bool, str]]:
        """Class -> (are it and these families in it open for the bracket, why), without this workload."""
        answered, pair = self._table(schema.ANSWERED), (self.platform, self.workload)
        found = {group: family_openness(answered, pair[0], group, pair[1], families) for group in groups}
        return {group: (one.open, one.reason) for group, one in found.items()}

    def same_engine(self, processor: Processor) -> bool:
        """Whether R of other samples comes from the engine of this study, so that it is no other clock."""
        return processor.origin == SIMULATED and processor.platform == self.platform

    def window(self) -> TraceWindow:
        """Errors as of :meth:`TraceWindow.of`."""
        return TraceWindow.of(self.tree, self.samples_table, self.workload, self.platform)


def answer_design(
    study: TransferTables, design: OwnDesign, processor: Processor | None = None, cache: Path | None = None,
    progress: Progress = lambda line: None,
) -> Decision:  # fmt: skip
    """Simulate a design with time on the window of the study, and decide.

    Args:
        processor: P by other samples, with the clock of the study; None: P of the study.
        cache: folder of finished simulations; None: nothing is kept.

    Raises:
        TesseraError: the study lacks the pair or its window, the simulator rejects the design, or there is
            no such layout or mapping.
    """
    own = study.processor if processor is None else processor
    groups, unknown = own_design.classes(design, study.hardware)
    families = families_of(study.hardware, design.changes)
    base = own.bases.get(design.pages)
    question = Question(
        design.name, tuple(groups), tuple(unknown), base, simulated=own.origin == SIMULATED,
        measured=own.origin == MEASURED, layout=design.pages,
    )  # fmt: skip
    if base is None and not own.engine:
        return refused_question(question, [layout_absent(design.pages, own)])
    window = study.window()

    def simulated(one: OwnDesign) -> own_design.SimulatedDesign:
        return own_design.simulate_own(one, window, study.hardware, cache, progress)

    counted = simulated(design)
    if base is None:  # the same engine knows P under this layout, too
        p = simulated(replace(design, name=study.platform, changes={}))
        base = ProcessorCounts(p.runtime, p.asked.hits, p.asked.walk_cycles)
    bracket = own.bracket
    if not own.engine and isinstance(bracket, Bracket):
        bracket = _same_counts(bracket, base, study.processor, design.pages) or bracket
    S_0 = None if own.clock is None else own.clock.get(design.pages)
    question = replace(
        question, base=base, asked=counted.asked, engine=counted.runtime if own.engine else None,
        clocks=Clocks(base.runtime, S_0, counted.runtime),
        open=study.open(groups, families) if own.origin == MEASURED and groups else {},
    )  # fmt: skip
    return decide_question(question, bracket, own.calibrated)


def _same_counts(
    bracket: Bracket, base: ProcessorCounts, simulated: Processor, pages: str
) -> CannotFit | None:
    """Why the simulator's counts cannot be compared with P's: no change at all would look like one."""
    theirs = simulated.bases.get(pages)
    if theirs is None:
        text = f"the study has no run of its own P under {pages}, so its counts cannot be compared"
        return CannotFit(SOURCE, text, "ask about a layout of the study", code="counts-differ")
    found = bracket.answer(base, ChangedCounts(theirs.hits, theirs.walk_cycles, simulated.walkers or 1))
    if isinstance(found, Answer) and not found.differs:
        return None
    text = (
        f"by the simulator, P under {pages} has {theirs.walk_cycles:.4g} walk cycles, and by the samples "
        f"{base.walk_cycles:.4g}: no change at all would look like one"
    )
    return CannotFit(SOURCE, text, "give samples of the same part of the program", code="counts-differ")


def _written_by(tree: ResultsTree) -> str:
    """Which commit made a results folder, if it says so."""
    try:
        commit = json.loads(tree.provenance("git").read_text()).get("commit")
    except (OSError, ValueError, AttributeError):
        commit = None
    return f"commit {commit} wrote the folder" if commit else "an unknown commit wrote the folder"
