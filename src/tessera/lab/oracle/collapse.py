"""khugepaged's decisions in the guest beside the imitation's, over a table of ranges.

A cell is the text of ``tessera-collapse``: rights, then runs of the 512 entries of a range. The guest's
decision is the status that its tracepoint mm_khugepaged_scan_pmd (include/trace/events/huge_memory.h)
prints. Compared are the decision and the counts of empty, swapped and young entries up to the entry where
the scan ended.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.lab.oracle.imitation import SplitMix64, output_of, text_of_lines

ENTRIES = 512
#: max_ptes_none:max_ptes_swap of the passes over the table: the defaults, and lower ones.
LIMITS = ("511:64", "255:8", "0:0")
NONE, SWAP, YOUNG = (
    (0, 1, 254, 255, 256, 510, 511, 512),
    (0, 1, 8, 9, 63, 64, 65),
    (0, 1, 255, 256, 257, ENTRIES),
)
RANDOM_CELLS = 120

STATUS = {
    "succeeded": "collapsed",
    "exceed_none_pte": "many-none",
    "exceed_swap_pte": "many-swap",
    "no_writable_page": "read-only",
    "lack_referenced_page": "not-young",
}
TRACED = re.compile(
    r"^trace (\S+) (\d+) .*referenced=(\d+), none_or_zero=(\d+), status=(\w+), unmapped=(\d+)$", re.MULTILINE
)
BUILT = re.compile(r"^cell (\S+) (\d+) (\d+) (\d+) (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class ScanOutcome:
    """A decision and the counts of entries that the scan read."""

    name: str
    none: int
    swap: int
    young: int


def range_cells(seed: int = 1) -> list[str]:
    """The table: all combinations of the values above that fit in a range, and random orders of runs."""
    return list(dict.fromkeys([*_grid(), *_random(SplitMix64(seed))]))


def _grid() -> Iterator[str]:
    for rights, none, swap, young in itertools.product(("rw", "r"), NONE, SWAP, YOUNG):
        present = ENTRIES - none - swap
        if present < 0 or (young > present and young != ENTRIES):
            continue
        young = min(young, present)
        runs = (("n", none), ("s", swap), ("o", present - young), ("y", young))
        yield " ".join([rights, *(f"{kind}{count}" for kind, count in runs if count)])


def _random(random: SplitMix64) -> Iterator[str]:
    """Runs in any order, zero pages among them; few are swapped, so that the other rules decide, too."""
    for _ in range(RANDOM_CELLS):
        left, runs = ENTRIES, []
        while left:
            kind = "nzsyo"[random.below(5)]
            count = min(left, 1 + random.below(6 if kind == "s" else 120))
            runs.append(f"{kind}{count}")
            left -= count
            if len(runs) == 30:
                runs.append(f"y{left}")
                left = 0
        yield " ".join(["rw" if random.below(8) else "r", *runs])


def guest_decisions(output: str, table: Sequence[str]) -> dict[str, list[ScanOutcome]]:
    """Decisions by limits, from what the guest printed.

    Raises:
        TesseraError: the guest built other entries than a cell asks for, or did not decide on each cell once.
    """
    for limits, cell, present, swapped, _ in BUILT.findall(output):
        kinds = entries_of(table[int(cell)])
        wanted = (sum(kinds[kind] for kind in "yoz"), kinds["s"])
        # The zero page may count as present in pagemap.
        if (int(present), int(swapped)) != wanted:
            raise _failed(
                f"cell {cell} of the guest ({table[int(cell)]})",
                f"{present} entries are present and {swapped} swapped, under limits {limits}",
            )
    found: dict[str, list[ScanOutcome]] = {}
    for limits, _, young, none, status, swap in TRACED.findall(output):
        name = STATUS.get(status, status)
        found.setdefault(limits, []).append(ScanOutcome(name, int(none), int(swap), int(young)))
    for limits in {limits for limits, *_ in BUILT.findall(output)} | found.keys():
        decisions = len(found.get(limits, []))
        if decisions != len(table):
            raise _failed(f"limits {limits}", f"{decisions} decisions on {len(table)} cells")
    return found


def entries_of(cell: str) -> dict[str, int]:
    """Entries of each kind of a cell."""
    counts = dict.fromkeys("nzsyo", 0)
    for run in cell.split()[1:]:
        counts[run[0]] += int(run[1:])
    return counts


def imitated(program: Path, table: Sequence[str], limits: str) -> list[ScanOutcome]:
    """The imitation's decisions; ``program`` is ``tessera-collapse``."""
    none, swap = limits.split(":")
    words = ["cells", "--max-ptes-none", none, "--max-ptes-swap", swap]
    output = output_of(program, words, {"cells": text_of_lines(table)}, "of khugepaged's table")
    decisions = []
    for line in output.splitlines():
        _, name, *counts = line.split()
        numbers = dict(count.split("=") for count in counts)
        decisions.append(ScanOutcome(name, *(int(numbers[key]) for key in ("none", "swap", "young"))))
    return decisions


def _failed(asked: str, found: str) -> TesseraError:
    return TesseraError(
        asked, found, "run it again: ./run tessera lab oracle record", exit_code=EXIT_FAILED, code="collapse"
    )
