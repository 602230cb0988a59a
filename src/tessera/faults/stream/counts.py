"""Counts of recorded faults: instructions, loads, stores, lines, and lines by structure.

A line is 64 bytes of physical memory, and counts once in a fault and structure, however often it is accessed.
A repeated string instruction counts as one instruction, and each of its runs of bytes as one load or store.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tessera.faults.stream.format import Fault


@dataclass(frozen=True)
class Count:
    """Counts of one fault; ``number`` is its place among the faults of its kind, dropped ones included."""

    number: int
    instructions: int
    loads: int
    stores: int
    string_bytes: int
    lines: int
    interrupts: int


def count(fault: Fault, number: int) -> Count:
    """Count one fault."""
    stores = sum(access.store for access in fault.accesses)
    lines: set[int] = set()
    for access in fault.accesses:
        lines.update(access.lines)
    return Count(
        number, fault.instructions, len(fault.accesses) - stores, stores,
        sum(access.bytes_ for access in fault.accesses if access.string), len(lines), fault.interrupts,
    )  # fmt: skip


def lines_by_structure(fault: Fault) -> dict[str, tuple[int, int, int]]:
    """Structure -> its lines that the fault loads, stores, or either."""
    loads, stores = defaultdict(set), defaultdict(set)
    for access in fault.accesses:
        (stores if access.store else loads)[access.structure].update(access.lines)
    return {
        name: (len(loads[name]), len(stores[name]), len(loads[name] | stores[name]))
        for name in dict.fromkeys([*loads, *stores])
    }


def ordinary(found: Sequence[Fault]) -> Fault:
    """The first fault with the most common number of instructions."""
    common, _ = Counter(fault.instructions for fault in found).most_common(1)[0]
    return next(fault for fault in found if fault.instructions == common)


def largest(found: Sequence[Fault]) -> Fault:
    """The first fault with the most instructions."""
    return max(found, key=lambda fault: fault.instructions)


def in_order(counts: Sequence[Count]) -> np.ndarray:
    """Instructions by the fault's number; dropped faults get the median."""
    made = np.full(max(one.number for one in counts) + 1, np.median([one.instructions for one in counts]))
    made[[one.number for one in counts]] = [one.instructions for one in counts]
    return made


@dataclass(frozen=True)
class Summary:
    """Counts of a kind: medians, and instructions at some quantiles."""

    faults: int
    instructions: tuple[float, float, float]  # least, median, largest
    loads: float
    stores: float
    string_bytes: float
    lines: float


def summary(counts: Iterable[Count]) -> Summary:
    """Of at least one fault."""
    rows = list(counts)
    instructions = np.array([row.instructions for row in rows])
    medians = [
        float(np.median([getattr(row, name) for row in rows]))
        for name in ("loads", "stores", "string_bytes", "lines")
    ]
    ends = float(instructions.min()), float(np.median(instructions)), float(instructions.max())
    return Summary(len(rows), ends, *medians)
