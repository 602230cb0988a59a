"""One run: the counts of its passes as the numbers of a cell.

R and instructions are counted in each pass; their means are taken, and R must agree. Everything else is
counted once. Logs of perf (:mod:`tessera.measure.imported`) and bundles use the same arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Protocol

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.counters.classes import INPUTS, CounterClass

R, INSTRUCTIONS = "R cycles", "instructions"
REPEATED = (R, INSTRUCTIONS, "R reference cycles")
#: Largest difference of R between the passes of a run, of their mean (MICRO'20 section VI: 5%).
LARGEST_SPREAD = Decimal("0.05")

#: Further columns of a cell, and what counts them.
COLUMNS = {
    "instructions": (INSTRUCTIONS,),
    "instruction_stlb_hits": ("instruction H",),
    "instruction_stlb_misses": ("instruction M",),
    "instruction_walk_cycles": ("instruction C",),
    "program_l1d_loads": ("program L1d loads",),
    "program_l2_loads": ("program L2 loads",),
    "program_l3_loads": ("program L3 loads",),
    "walker_l1d_loads": ("walker loads L1", "walker loads L2", "walker loads L3", "walker loads memory"),
    "walker_l2_loads": ("walker loads L2", "walker loads L3", "walker loads memory"),
    "walker_l3_loads": ("walker loads L3", "walker loads memory"),
    "walker_dram_loads": ("walker loads memory",),
}
_OF_INPUT = {"H": "stlb_hits", "M": "stlb_misses", "C": "walk_cycles"}


class Counted(Protocol):
    """One event of one pass: our name of it, its count, and where the count stands (for messages)."""

    quantity: str
    value: Decimal
    where: str
    software: bool


def of_run(run: str, totals: Iterable[Counted], found: CounterClass) -> dict[str, Decimal | None]:
    """Columns of the cell of one run from all counts of its passes; ``run`` names it in messages.

    Raises:
        TesseraError: as :func:`counts_of` and :func:`numbers_of`.
    """
    return numbers_of(run, counts_of(run, totals), found)


def counts_of(run: str, totals: Iterable[Counted]) -> dict[str, Decimal]:
    """Quantity -> count of one run.

    Raises:
        TesseraError: R differs by more than 5% between passes; another event was counted twice.
    """
    found: dict[str, list[Counted]] = {}
    for total in totals:
        if not total.software:
            found.setdefault(total.quantity, []).append(total)
    counts = {}
    for quantity, parts in found.items():
        values = [part.value for part in parts]
        mean = sum(values, Decimal(0)) / len(values)
        if len(parts) > 1 and quantity not in REPEATED:
            files = ", ".join(part.where for part in parts)
            raise TesseraError(
                f"{run}: {quantity}",
                f"counted more than once: {files}",
                "keep one log, or one pass, that counts it",
                code="measure-counted-twice",
            )
        if quantity == R and mean and (max(values) - min(values)) / mean > LARGEST_SPREAD:
            raise TesseraError(
                f"{run}: {quantity}",
                f"{min(values):.6g} to {max(values):.6g} in its passes: more than {LARGEST_SPREAD:.0%}",
                "record this run again on an idle machine",
                exit_code=EXIT_FAILED,
                code="measure-passes-disagree",
            )
        counts[quantity] = mean
    return counts


def numbers_of(run: str, counts: dict[str, Decimal], found: CounterClass) -> dict[str, Decimal | None]:
    """Columns of the run's cell; None where the class does not count an input, or nobody counted the rest.

    Raises:
        TesseraError: R, or a part of H, M or C that the class counts, is missing; C exceeds walkers x R.
    """
    if not counts.get(R):
        raise _missing(run, R, found)
    numbers: dict[str, Decimal | None] = {"runtime_cycles": counts[R]}
    for symbol in INPUTS:
        wanted = [f"{symbol} {side}" for side in found.sides(symbol)]
        for quantity in wanted:
            if quantity not in counts:
                raise _missing(run, quantity, found)
        numbers[_OF_INPUT[symbol]] = sum((counts[q] for q in wanted), Decimal(0)) if wanted else None
    for column, quantities in COLUMNS.items():
        known = all(quantity in counts for quantity in quantities)
        numbers[column] = sum((counts[q] for q in quantities), Decimal(0)) if known else None
    _check_bound(run, numbers, found)
    return numbers


def _check_bound(run: str, numbers: dict[str, Decimal | None], found: CounterClass) -> None:
    cycles, walkers = numbers["walk_cycles"], found.walkers
    if cycles is not None and walkers and cycles > walkers * numbers["runtime_cycles"]:
        raise TesseraError(
            f"{run}: C of {cycles} cycles",
            f"R is {numbers['runtime_cycles']:.0f} cycles, and {found.name} has {walkers} page walkers: C <= "
            f"{walkers} x R",
            "check the class, and that all passes counted the same program",
            exit_code=EXIT_FAILED,
            code="measure-bound",
        )


def _missing(run: str, quantity: str, found: CounterClass) -> TesseraError:
    return TesseraError(
        f"{run}: {quantity}",
        f"no pass of this run counts it, and {found.name} can",
        f"add its pass; tessera counters show {found.name} has the command",
        code="measure-role-missing",
    )
