"""P, the processor of a question: its samples, what it is under each layout, and perhaps a simulator's clock.

P comes from a table of samples, from a fit, or from the study of transfer (the judge reads that one). A
:class:`Processor` fits the two sources that learn from it, each once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import canonical_name
from tessera.core.platforms import Platform
from tessera.core.table_columns import is_missing, number_column, refuse_twice
from tessera.core.table_file import read_table
from tessera.fit import fit_folder
from tessera.fit.models.base import CannotFit
from tessera.fit.models.samples import Samples, SamplesTable, check_samples, read_samples
from tessera.fit.predict.bracket import Bracket, ProcessorCounts
from tessera.fit.predict.calibrated import SOURCE, Calibrated
from tessera.fit.predict.decision import EXIT_NO_ANSWER, REMEDIES

MEASURED, SIMULATED = "measured", "simulated"
HIT, WALKERS = "tlb.stlb.hit_cycles", "walker.count"
#: Codes of refused samples beside those of the decision -> why, and what mends it.
OF_SAMPLES = {
    "table-number": (
        "a number of the samples is empty, negative or not finite",
        "correct the number, or mark its row status=failed",
    ),
    "no-anchor": (
        "the 4KB or the 2MB run is missing",
        "add the runs of P under 4KB and 2MB pages (growing-0, growing-8)",
    ),
    "not-counted": (
        "the cells have no H, M or C",
        "give samples with H, M and C: cells of another plan than --sampling tlbs",
    ),
}
_CLOCK = ("layout", "runtime_cycles")


@dataclass(frozen=True)
class Processor:
    """P.

    Args:
        samples: R, H, M and C of P under mosaics; cycles and counts.
        origin: of R: `measured`, `simulated`, or another word, which counts as neither.
        bases: layout or mapping -> P under it.
        workload, platform: as the samples name them; empty if they do not.
        hit_cycles: hit time of P's STLB; None if nobody states it.
        walkers: of P; None if nobody states them.
        clock: layout -> S, the runtime in cycles by a simulator that is not the origin of R; None: no clock.
        common: `calibrated` learns from the layouts that P and the clock share; else they must be the same.
        engine: R comes from the timing engine, so that it may be asked, too.
    """

    samples: Samples
    origin: str
    bases: Mapping[str, ProcessorCounts]
    workload: str = ""
    platform: str = ""
    hit_cycles: float | None = None
    walkers: int | None = None
    clock: Mapping[str, float] | None = None
    common: bool = False
    engine: bool = False
    notes: list[str] = field(default_factory=list)

    @cached_property
    def bracket(self) -> Bracket | CannotFit:
        return _or_why(lambda: Bracket.fit(self.samples, hit_cycles=self.hit_cycles))

    @cached_property
    def calibrated(self) -> Calibrated | CannotFit | None:
        """None without a clock; learned from the fitted layouts only."""
        if self.clock is None:
            return None
        samples, clock = self.samples, dict(self.clock)
        shared = [
            (clock[name], R) for name, R in zip(samples.layouts, samples.R, strict=True) if name in clock
        ]
        if shared and all(S == R for S, R in shared):
            text = f"S equals R under all {len(shared)} layouts, so R of P comes from this clock"
            return CannotFit(SOURCE, text, REMEDIES["no-clock"], code="no-clock")
        if self.common:
            samples = samples.subset([i for i, name in enumerate(samples.layouts) if name in clock])
            clock = {name: clock[name] for name in samples.layouts}
        else:
            for name in set(self.bases) - set(samples.layouts):  # 1gb and mappings
                clock.pop(name, None)
        return _or_why(lambda: Calibrated.fit(samples, clock))

    def with_hardware(
        self, platform: Platform | None, walkers: int | None = None, hit_cycles: float | None = None
    ) -> Processor:
        """The same with what a platform file states of it; ``walkers`` and ``hit_cycles`` win."""
        known = {key: None if platform is None else int(platform.values[key].value) for key in (HIT, WALKERS)}
        return replace(
            self,
            hit_cycles=known[HIT] if hit_cycles is None else hit_cycles,
            walkers=known[WALKERS] if walkers is None else walkers,
        )

    def of_known_platform(self, name: str | None) -> Platform | None:
        """The platform ``name``, or the one that the samples name, if there is a file of it.

        Raises:
            TesseraError: there is no platform of this name.
        """
        if name:
            return platforms.load_platform(name)
        return platforms.load_platform(self.platform) if self.platform in platforms.platform_names() else None

    def with_clock(self, clock: Mapping[str, float], *, common: bool = False) -> Processor:
        """The same with the clock S of a simulator.

        Args:
            common: learn from the layouts that both have, with a note; else both must have the same.
        """
        notes = list(self.notes)
        shared = sum(name in clock for name in self.samples.layouts)
        if common and shared < len(self.samples):
            notes.append(f"clock: {shared} of the {len(self.samples)} layouts of P are simulated, too")
        return replace(self, clock=dict(clock), common=common, notes=notes)


def of_table(table: SamplesTable) -> Processor:
    """P from checked samples; R_0, H_0 and C_0 are theirs, that of `1gb` too."""
    parts = [table.fitted] if table.test is None else [table.fitted, table.test]
    bases = {
        name: ProcessorCounts(*map(float, (part.R[row], part.H[row], part.C[row])))
        for part in parts for row, name in enumerate(part.layouts)
    }  # fmt: skip
    workload, platform = (
        str(table.frame[name].iloc[0]) if name in table.frame.columns and len(table.frame) else ""
        for name in ("workload", "platform")
    )
    frame, origin = table.frame, table.runtime_provenance
    if "runtime_provenance" in frame.columns and frame["runtime_provenance"].map(is_missing).any():
        origin = ""  # rows that do not say it are not measured
    return Processor(table.fitted, origin, bases, workload, platform, notes=list(table.notes))


def of_samples(samples: str | Path | pd.DataFrame) -> Processor:
    """P from a CSV or data frame of samples or cells of one workload and platform.

    Raises:
        TesseraError: as `tessera models fit`. A table without R, H, M or C, or with a wrong number, has the
            exit status of a refusal, and a code of :data:`REMEDIES` or :data:`OF_SAMPLES`.
    """
    try:
        is_frame = isinstance(samples, pd.DataFrame)
        return of_table(check_samples(samples) if is_frame else read_samples(samples))
    except TesseraError as error:
        if error.code in REMEDIES or error.code in OF_SAMPLES:
            error.exit_code = EXIT_NO_ANSWER
        raise


def processor_of_folder(folder: str | Path) -> Processor:
    """P from the folder of `tessera models fit`; TesseraError if it is no fit, or one without samples."""
    return of_table(fit_folder.read_fit(folder).table)


def read_clock(path: str | Path) -> dict[str, float]:
    """Layout -> S in cycles, from a CSV with the columns ``layout,runtime_cycles``.

    Raises:
        TesseraError: no such table, a missing column, a layout that is there twice, a number that is not one.
    """
    owner = f"clock {path}"
    frame = read_table(path, owner, _CLOCK, ("runtime_cycles",)).frame
    if missing := [column for column in _CLOCK if column not in frame.columns]:
        raise TesseraError(
            f"{owner}: columns {', '.join(missing)}", f"found only {', '.join(map(str, frame))}",
            "give a CSV with the header layout,runtime_cycles: P by the simulator of the designs",
            code="clock-columns",
        )  # fmt: skip
    layouts = [canonical_name(str(name).strip()) for name in frame["layout"]]
    lines = frame.index if frame.index.name == "line" else None
    refuse_twice(owner, "layout", layouts, lines, "keep one row per layout")
    runtimes = number_column(frame, "runtime_cycles", owner, layouts, above=True)
    return dict(zip(layouts, map(float, runtimes), strict=True))


def _or_why(fit: Callable):
    try:
        return fit()
    except CannotFit as error:
        return error
