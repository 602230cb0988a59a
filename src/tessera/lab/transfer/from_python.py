"""``tessera.predict``: the runtime of a design, or why there is none; ``tessera predict`` calls it, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path

import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.results.schema import NUMBER
from tessera.core.results.table_io import frame_of
from tessera.core.results.transfer_tables import DESIGN_ANSWERS
from tessera.core.results.tree import ResultsTree
from tessera.fit.predict import counts as by_counts
from tessera.fit.predict import processor as processors
from tessera.fit.predict.counts import (
    HITS_ARE,
    WALK_CYCLES_ARE,
    CountsTable,
    DesignPoint,
    Statement,
    read_design_points,
)
from tessera.fit.predict.decision import Decision
from tessera.fit.predict.processor import Processor
from tessera.lab.transfer.answer import TransferTables, answer_design
from tessera.lab.transfer.classes import GROUPS, IDEAL
from tessera.lab.transfer.own_design import OwnDesign, of_tree, read_own

RESULTS = Path("results/default")
CLASSES = tuple(group for group in GROUPS if group != IDEAL)
_EXAMPLE = "give --design FILE.yaml, --counts FILE.csv, or --point H,M,C"
_SOURCES = "give --results FOLDER with --workload and --platform, --samples FILE, or --fit FOLDER"


@dataclass(frozen=True)
class Answers:
    """``decisions`` in the order asked, ``table`` with a row for each, ``notes`` on files."""

    decisions: list[Decision]
    table: pd.DataFrame
    notes: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether every design has a runtime."""
        return all(one.answer is not None for one in self.decisions)


@dataclass(frozen=True)
class Known:
    """P, and the study of transfer if results are given."""

    processor: Processor
    study: TransferTables | None

    @property
    def pair(self) -> dict[str, str]:
        if self.study is not None:
            return {"workload": self.study.workload, "platform": self.study.platform}
        return {"workload": self.processor.workload, "platform": self.processor.platform}


def predict(
    design: str | Path | Mapping | OwnDesign | None = None,
    counts: str | Path | pd.DataFrame | None = None,
    *,
    results: str | Path | None = None,
    workload: str | None = None,
    platform: str | None = None,
    samples: str | Path | pd.DataFrame | None = None,
    fit: str | Path | None = None,
    clock: str | Path | None = None,
    hits_are: str | None = None,
    walk_cycles_are: str | None = None,
    classes: str | Sequence[str] = (),
    walkers: int | None = None,
    hit_cycles: float | None = None,
    miss_cycles: float = 0.0,
    only: str | None = None,
    cache: str | Path | None = None,
) -> pd.DataFrame:
    """The runtime of a design in cycles with an interval, its source and its level; or why there is none.

    Args:
        design: a YAML file, or a mapping with ``name, changes, mapping, layout``; simulated on the window of
            the study of ``results``.
        counts: a CSV file or data frame with ``design, layout, stlb_hits, stlb_misses, walk_cycles``, and
            perhaps ``runtime_cycles`` by the simulator that has the clock.
        results: folder of a run; P is that of its study of transfer. [results/default if a workload is given]
        samples, fit: P instead: its samples, or the folder of a fit to them; then the study has the clock S.
        clock: CSV with ``layout, runtime_cycles``: P by the simulator of ``counts``.
        hits_are: what H of ``counts`` is: ``latency`` or ``accesses``.
        walk_cycles_are: what C of ``counts`` is: ``busy`` or ``waited``.
        classes: of the designs of ``counts``, such as ``reach``.
        walkers: page walkers of the designs; hit_cycles: hit time of P's STLB. [those of the platform]
        miss_cycles: what look-ups of misses take more than on P, in total.
        only: the design of this name alone.
        cache: folder of finished simulations; None: nothing is kept.

    Returns:
        A row for each design (``tessera.core.results.transfer_tables``). Numbers that are absent are
        ``pandas.NA``. ``attrs["decisions"]`` has the decisions, with what each source said.

    Raises:
        TesseraError: the question is incomplete or ambiguous, a file cannot be read, the study lacks the
            pair, or the simulator rejects the design.
    """
    found = ask(
        design, counts, results=results, workload=workload, platform=platform, samples=samples, fit=fit,
        clock=clock, hits_are=hits_are, walk_cycles_are=walk_cycles_are, classes=classes, walkers=walkers,
        hit_cycles=hit_cycles, miss_cycles=miss_cycles, only=only, cache=cache,
    )  # fmt: skip
    found.table.attrs["decisions"] = found.decisions
    return found.table


def ask(
    design=None, counts=None, *, results=None, workload=None, platform=None, samples=None, fit=None,
    clock=None, hits_are=None, walk_cycles_are=None, classes=(), walkers=None, hit_cycles=None,
    miss_cycles=0.0, only=None, cache=None, progress: Callable[[str], None] = lambda line: None,
) -> Answers:  # fmt: skip
    """:func:`predict` with notes; ``counts`` may be a :class:`DesignPoint`, too."""
    if (design is None) == (counts is None):
        raise TesseraError(
            "tessera predict: the design", "nothing is asked about" if design is None else "two are given",
            _EXAMPLE, code="one-question",
        )  # fmt: skip
    _known_word("--hits-are", hits_are, HITS_ARE)
    _known_word("--walk-cycles-are", walk_cycles_are, WALK_CYCLES_ARE)
    groups = by_counts.check_groups([classes] if isinstance(classes, str) else classes or (), CLASSES)
    for name, value in (("walkers", walkers), ("hit_cycles", hit_cycles), ("miss_cycles", miss_cycles)):
        if not isinstance(value, Real | None):
            raise TesseraError(
                f"tessera.predict: {name}", f"{value!r} is no number", f"write {name}=1", code="no-number"
            )
    own = None if design is None else _own(design)
    known = known_of(results, workload, platform, samples, fit, clock)

    processor, study = known.processor, known.study
    if design is not None:
        stated = {
            "--hits-are": hits_are, "--walk-cycles-are": walk_cycles_are, "--design-class": groups or None,
            "--walkers": walkers, "--hit-cycles": hit_cycles, "--miss-cycles": miss_cycles or None,
            "--only": only,
        }  # fmt: skip
        if given := [name for name, value in stated.items() if value is not None]:
            raise TesseraError(
                f"tessera predict --design with {given[0]}", "the simulator knows this of a design",
                f"leave out {given[0]}, or give --counts", code="design-and-statement",
            )  # fmt: skip
        if study is None:
            raise TesseraError(
                "tessera predict --design", "a design is simulated on the window of a run, and none is given",
                "give --results FOLDER --workload NAME --platform NAME, or --counts",
                code="design-needs-results",
            )  # fmt: skip
        if clock is not None:
            raise TesseraError(
                "tessera predict --design with --clock", "S of the design is the timing engine's",
                "leave out --clock", code="two-clocks",
            )  # fmt: skip
        kept = None if cache is None else Path(cache)
        other = processor.with_hardware(study.hardware)
        of_study = processor if processor is study.processor else other
        decisions, notes = [answer_design(study, own, of_study, kept, progress)], list(processor.notes)
    else:
        table = counts
        if isinstance(counts, DesignPoint):
            table = CountsTable((counts,))
        elif not isinstance(counts, CountsTable):
            table = read_design_points(counts, only)
            only = None
        if only is not None:
            raise TesseraError(
                f"tessera predict --only {only}", "one design is given, without a table", "leave it out",
                code="only-of-a-table",
            )  # fmt: skip
        _one_workload(table, known)
        hardware = processor.of_known_platform(platform)
        processor = processor.with_hardware(hardware, hit_cycles=hit_cycles)
        statement = Statement(hits_are, walk_cycles_are, groups, walkers, miss_cycles)
        decisions = [by_counts.answer(row, statement, processor) for row in table.rows]
        notes = [*processor.notes, *table.notes]
    return Answers(decisions, _table(decisions, known), notes)


def _one_workload(table: CountsTable, known: Known) -> None:
    """Refuse counts of another workload than P's."""
    own = known.pair["workload"]
    if wrong := [name for name in table.workloads if own and name != own]:
        raise TesseraError(
            f"tessera predict: counts of {wrong[0]}", f"P runs {own}", "give counts of this workload",
            code="pair-differs",
        )  # fmt: skip
    if len(table.workloads) > 1:
        raise TesseraError(
            "tessera predict: counts", f"they are of {', '.join(table.workloads)}", "keep one workload",
            code="pair-differs",
        )  # fmt: skip


def _one_platform(processor: Processor, platform: str | None) -> None:
    """Refuse a platform beside samples of another known one: which hit time and walkers would be P's?"""
    if platform and processor.platform in platforms.platform_names() and processor.platform != platform:
        raise TesseraError(
            f"tessera predict --platform {platform}", f"the samples are of {processor.platform}",
            "give the platform of the samples, or none", code="pair-differs",
        )  # fmt: skip


def known_of(results=None, workload=None, platform=None, samples=None, fit=None, clock=None) -> Known:
    """P from one source; samples beside a study have the study's clock.

    Raises:
        TesseraError: no source, two sources, or two clocks.
    """
    if samples is not None and fit is not None:
        raise TesseraError(
            "tessera predict: P",
            "both --samples and --fit say what P is",
            "keep one",
            code="two-sources-of-p",
        )
    if results is None and workload is not None:
        results = RESULTS
    study = None
    if results is not None:
        if workload is None or platform is None:
            raise TesseraError(
                f"tessera predict --results {results}", "it has many workloads and platforms",
                "name one pair: --workload NAME --platform NAME", code="pair-unstated",
            )  # fmt: skip
        study = TransferTables(ResultsTree(Path(results)), workload, platform)
    if samples is None and fit is None:
        if study is None:
            raise TesseraError("tessera predict: P", "nothing says what P is", _SOURCES, code="no-p")
        processor = study.processor
        return Known(
            processor if clock is None else processor.with_clock(processors.read_clock(clock)), study
        )
    processor = processors.processor_of_folder(fit) if samples is None else processors.of_samples(samples)
    _one_platform(processor, platform)
    if study is not None:
        if clock is not None:
            raise TesseraError(
                "tessera predict: the clock S", "both --clock and the study of --results are one",
                "keep one", code="two-clocks",
            )  # fmt: skip
        if processor.workload and processor.workload != workload:
            raise TesseraError(
                f"tessera predict --workload {workload}", f"the samples are of {processor.workload}",
                "give the samples of this workload", code="pair-differs",
            )  # fmt: skip
        if not study.same_engine(processor):
            processor = processor.with_clock(study.clock, common=True)
    elif clock is not None:
        processor = processor.with_clock(processors.read_clock(clock))
    return Known(processor, study)


def removed(name: str):
    """What a name that is gone raises when it is used: the new call."""
    raise TesseraError(
        f"tessera.{name}", "it is gone", "call tessera.predict(design, workload=..., platform=...)",
        code="renamed",
    )  # fmt: skip


def _own(design) -> OwnDesign:
    if isinstance(design, OwnDesign):
        return design
    if isinstance(design, str | Path):
        if str(design).endswith(".csv"):
            raise TesseraError(
                f"design {design}", "a table, and a design is a YAML file", f"give --counts {design}",
                code="design-is-a-table",
            )  # fmt: skip
        return read_own(Path(design))
    tree = dict(design) if isinstance(design, Mapping) else design
    return of_tree(tree, "given in Python", "design")


def _known_word(option: str, word: str | None, known: Sequence[str]) -> None:
    if word is not None and word not in known:
        raise TesseraError(
            f"{option} {word}", "no such word", f"use {' or '.join(known)}", code="word-unknown"
        )


def _table(decisions: Sequence[Decision], known: Known) -> pd.DataFrame:
    rows = []
    for decision in decisions:
        entry = decision.as_dict()
        row = {name: entry[name] for name in DESIGN_ANSWERS.names if name in entry}
        row |= {
            "classes": " ".join(entry["classes"]), "codes": " ".join(decision.codes),
            "message": "; ".join(reason["text"] for reason in entry["reasons"]),
            "provenance": known.processor.origin,
        }  # fmt: skip
        rows.append(known.pair | row)
    table = frame_of(DESIGN_ANSWERS, rows)
    return table.astype(dict.fromkeys(DESIGN_ANSWERS.of_kind(NUMBER), "Float64"))
