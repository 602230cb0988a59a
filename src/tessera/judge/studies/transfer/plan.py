"""Units of a window: intervals with equal numbers of instructions that follow each other without a gap.

Designs behind L3 reject plans that skip accesses, and all variants need the same plan, so all are simulated
in full. The first intervals only warm TLBs and caches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tessera.core.errors import TesseraError
from tessera.judge.studies.blocks import block_vectors
from tessera.record import traces
from tessera.simulate.plan import Intervals


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
            "give --units 20 --warm-units 2",
        )  # fmt: skip
    length = -(-traces.info(trace)["instructions"] // (units + warm_units))
    return units_of_length(trace, max(1, length), warm_units)


def units_of_length(trace: Path, length: int, warm_units: int) -> Units:
    """The same with intervals of ``length`` instructions; errors as of :func:`cut`."""
    vectors = block_vectors(trace, length)
    made = cut(vectors.start_access, vectors.instructions, traces.info(trace)["accesses"], warm_units)
    return replace(made, length=length)


def cut(start_access: np.ndarray, instructions: np.ndarray, accesses: int, warm_units: int) -> Units:
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
