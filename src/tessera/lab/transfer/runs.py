"""The runs of the study: platforms under layouts or mappings of one window, all with the same units."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.platforms import Platform
from tessera.core.results.outcomes import FAILED, is_ok
from tessera.lab.studies.intervals import Estimate, block_vectors, ratio_estimate
from tessera.record import traces
from tessera.simulate.inputs import LAYOUT, PageSource
from tessera.simulate.runner import CellCache, simulate_platform
from tessera.simulate.sampling import Intervals

# Units of a window: intervals with equal numbers of instructions that follow each other without a gap.
#
# Designs behind L3 reject plans that skip accesses, and all variants need the same plan, so all are
# simulated in full. The first intervals only warm TLBs and caches.


@dataclass(frozen=True)
class Units:
    """The plan, and what it leaves to the warm-up; ``length`` instructions are an interval."""

    plan: Intervals
    count: int
    accesses: int
    warm_accesses: int
    warm_count: int = 0
    length: int = 0


def units_of(trace: Path, units: int, warm_units: int) -> Units:
    """``units`` intervals after ``warm_units`` equal ones.

    Raises:
        TesseraError: fewer than two units, or the trace has fewer instructions than intervals.
    """
    if units < 2 or warm_units < 0:
        raise TesseraError(
            f"{units} units, {warm_units} of them before", "an interval over units needs at least 2 units",
            "give units=20 warm_units=2",
        )  # fmt: skip
    length = -(-traces.trace_info(trace)["instructions"] // (units + warm_units))
    return units_of_length(trace, max(1, length), warm_units)


def units_of_length(trace: Path, length: int, warm_units: int) -> Units:
    """The same with intervals of ``length`` instructions; errors as of :func:`cut_into_units`."""
    vectors = block_vectors(trace, length)
    made = cut_into_units(
        vectors.start_access, vectors.instructions, traces.trace_info(trace)["accesses"], warm_units
    )
    return replace(made, length=length)


def cut_into_units(
    start_access: np.ndarray, instructions: np.ndarray, accesses: int, warm_units: int
) -> Units:
    """The plan from intervals that cover a trace of ``accesses`` accesses."""
    count = len(start_access) - warm_units
    if count < 2:
        raise TesseraError(
            f"units of a window of {accesses} accesses",
            f"it has {len(start_access)} intervals, and {warm_units} of them are warm-up",
            "use a longer window, or fewer units",
        )
    warm = int(start_access[warm_units])
    rows = [(0, warm, int(instructions[warm_units]), 1)]
    for start, length in zip(start_access[warm_units + 1 :], instructions[warm_units + 1 :], strict=True):
        rows.append((int(start), 0, int(length), 1))
    return Units(Intervals.of(rows), count, accesses, warm, warm_units)


# Cells of platforms under layouts or mappings.

TIMING, PARTIAL = "timing", "partial"
REFUSED = "refused"
_WRONG_REQUEST = 2  #: exit status, if the simulator rejects its input


@dataclass(frozen=True)
class Cell:
    """A row of the simulator with its units and structures; ``status`` ok, failed or refused."""

    layout: str
    status: str
    message: str
    row: dict = field(default_factory=dict)
    units: pd.DataFrame = field(default_factory=pd.DataFrame)
    structures: tuple[dict, ...] = ()

    @property
    def runtime(self) -> float:
        """R in cycles; NaN if there is none."""
        value = self.row.get("runtime_cycles")
        return float("nan") if value is None else float(value)

    @property
    def x(self) -> tuple[float, float, float]:
        return tuple(float(self.row[name]) for name in ("stlb_hits", "stlb_misses", "walk_cycles"))


def difference(a: Cell, b: Cell) -> Estimate:
    """R of ``a`` minus R of ``b`` in cycles of the window, with its paired 95% interval over units."""
    if list(a.units["unit"]) != list(b.units["unit"]):
        raise ValueError(f"units of {a.layout} and {b.layout} differ")  # a mistake in the program
    counts = a.units["runtime_cycles"].to_numpy() - b.units["runtime_cycles"].to_numpy()
    return ratio_estimate(counts, a.units["instructions"], float(a.row["instructions"]))


@dataclass(frozen=True)
class Runs:
    """Simulates one window; ``jobs`` platforms at the same time."""

    workload: str
    trace: Path
    units: Units
    cache: CellCache
    jobs: int = 1
    progress: Callable[[str], None] = lambda line: None

    def cells(
        self, platform: Platform, files: Sequence[Path], kind: PageSource = LAYOUT, engine: str = TIMING
    ) -> dict[str, Cell]:
        """Name of a layout or mapping -> cell. A rejected one does not stop the others."""
        try:
            return self._simulated(platform, files, kind, engine)
        except TesseraError as error:
            if len(files) == 1:
                return {kind.name_of(files[0]): _stopped(kind.name_of(files[0]), error)}
        found: dict[str, Cell] = {}  # one process for each, so that the others go on
        for file in files:
            found |= self.cells(platform, [file], kind, engine)
        return found

    def each(self, work: Iterable[Callable[[], object]]) -> list:
        """Results of ``work`` in order, ``jobs`` at a time; if one raises, the rest is cancelled."""
        tasks = list(work)
        if self.jobs == 1:  # in the main thread, where an interrupt stops the simulator at once
            return [task() for task in tasks]
        with ThreadPoolExecutor(max_workers=self.jobs) as pool:
            try:
                return list(pool.map(lambda task: task(), tasks))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _simulated(self, platform, files, kind, engine) -> dict[str, Cell]:
        units: list[dict] = []
        parts: list[dict] = []
        rows = simulate_platform(
            self.trace, platform, list(files), workload=self.workload, engine=engine,
            sampling=self.units.plan, cache=self.cache, progress=self.progress, units=units,
            structures=parts, kind=kind,
        )  # fmt: skip
        found = {}
        for row in rows:
            name = row["layout"]
            if not is_ok(row):
                found[name] = Cell(name, REFUSED, row["message"])
                continue
            table = pd.DataFrame([u for u in units if u["layout"] == name])
            own = tuple(part for part in parts if part["layout"] == name)
            found[name] = Cell(name, row["status"], row["message"], row, table, own)
        return found


def needed(cells: dict[str, Cell], what: str) -> dict[str, Cell]:
    """The cells, all of which must be ok.

    Raises:
        TesseraError: one is not.
    """
    for cell in cells.values():
        if not is_ok(cell.status):
            raise TesseraError(f"{what} under {cell.layout}", cell.message, "correct the layout or mapping")
    return cells


def _stopped(name: str, error: TesseraError) -> Cell:
    status = REFUSED if error.exit_code == _WRONG_REQUEST else FAILED
    return Cell(name, status, error.one_line)
