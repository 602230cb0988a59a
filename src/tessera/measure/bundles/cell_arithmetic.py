"""From counts of runs to rows of a cells file: one arithmetic for measuring, verifying, imported logs."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.results.cell_tables import CELLS
from tessera.core.results.loader import workload_order
from tessera.core.results.outcomes import FAILED, OK
from tessera.core.statistics import mean_interval
from tessera.machine.counters.event_table import INPUTS, CounterClass
from tessera.measure.bundles.bundle import REGION, Bundle, MeasuredRun, software_quantities
from tessera.measure.bundles.file_format import wrong

if TYPE_CHECKING:
    import pandas as pd


# One run: the counts of its passes as the numbers of a cell.
#
# R and instructions are counted in each pass; their means are taken, and R must agree. Everything else is
# counted once. Logs of perf (:mod:`tessera.measure.perf_log_import`) and bundles use the same arithmetic.

R, INSTRUCTIONS = "R cycles", "instructions"
REPEATED = (R, INSTRUCTIONS, "R reference cycles")
#: Largest difference of R between the passes of a run, of their mean (MICRO'20 section VI: 5%).
LARGEST_SPREAD = Decimal("0.05")

#: Further columns of a cell, and what counts them.
COLUMN_QUANTITIES = {
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


class LocatedCount(Protocol):
    """One event of one pass: our name of it, its count, and where the count stands (for messages)."""

    quantity: str
    value: Decimal
    where: str
    software: bool


def cell_of_run(run: str, totals: Iterable[LocatedCount], found: CounterClass) -> dict[str, Decimal | None]:
    """Columns of the cell of one run from all counts of its passes; ``run`` names it in messages.

    Raises:
        TesseraError: as :func:`counts_of` and :func:`numbers_of`.
    """
    return numbers_of(run, counts_of(run, totals), found)


def counts_of(run: str, totals: Iterable[LocatedCount]) -> dict[str, Decimal]:
    """Quantity -> count of one run.

    Raises:
        TesseraError: R differs by more than 5% between passes; another event was counted twice.
    """
    found: dict[str, list[LocatedCount]] = {}
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
    for column, quantities in COLUMN_QUANTITIES.items():
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
        f"add its pass; tessera measure counters show {found.name} has the command",
        code="measure-role-missing",
    )


# Rows of a cells file from the numbers of runs: one for each layout, or one for each run.

PERF, LAUNCHER = "perf", "launcher"  #: engines of measured cells
_WITH_INTERVAL = {"runtime_cycles": "runtime_cycles_ci95", "walk_cycles": "walk_cycles_ci95"}
Numbers = dict[str, Decimal | None]


def row_note(how: str, found: CounterClass, mode: str) -> str:
    """The message of a row: how the numbers came about, and what the class does not count."""
    absent = [symbol for symbol in INPUTS if not found.sides(symbol)]
    return f"{how}, mode {mode}" + "".join(f"; {found.name} does not count {symbol}" for symbol in absent)


def mean_count(values: Sequence[Decimal]) -> Decimal:
    """The mean of a count over the runs of a layout, not rounded."""
    return sum(values, Decimal(0)) / len(values)


def mean_row(
    head: dict, runs: list[Numbers], message: str, *, engine: str, provenance: str = "measured"
) -> dict:
    """The mean of runs of one layout, with 95% intervals of R and C if there are several."""
    cell = head | {"status": OK, "message": message, "engine": engine}
    for column in runs[0]:
        values = [numbers[column] for numbers in runs]
        if any(value is None for value in values):
            continue
        cell[column] = _whole(mean_count(values))
        if column in _WITH_INTERVAL and len(values) > 1:
            half_width = mean_interval([float(value) for value in values]).half_width
            cell[_WITH_INTERVAL[column]] = math.ceil(half_width)
    return cell | {"runtime_provenance": provenance, "tlb_provenance": provenance}


def empty_row(head: dict, message: str, *, engine: str, status: str = FAILED) -> dict:
    """A row without numbers."""
    return head | {"status": status, "message": message, "engine": engine}


def _whole(value: Decimal) -> int:
    return int(value.to_integral_value(rounding=ROUND_HALF_EVEN))


# Cells of a bundle from its runs and counts: the same arithmetic for measuring and for verifying.
#
# A round of a layout is one run of a cell: its passes are put together (:func:`cell_of_run`). A cell is the
# mean over rounds, with 95% intervals. Every number is computed exactly and rounded once; half-widths are
# rounded up to whole numbers, so that all digits are the same on every machine.


class CountedPart(NamedTuple):
    """A count of a run: a :class:`LocatedCount`."""

    quantity: str
    value: Decimal
    where: str
    software: bool


def compute_cells(bundle: Bundle) -> pd.DataFrame:
    """The table of ``cells.csv``.

    Raises:
        TesseraError: the class that the bundle names is not that of its processor.
    """
    from tessera.core.results.table_io import frame_of  # pandas: half of the memory that checks need

    return frame_of(CELLS, list(rows_of_bundle(bundle)))


@lru_cache(maxsize=1)
def rows_of_bundle(bundle: Bundle) -> tuple[dict, ...]:
    """Rows of ``cells.csv``, by workload and layout; keys that a row lacks are empty columns.

    A layout with a run that is not ok has no numbers. Raises as :func:`compute_cells`.
    """
    found = found_class(bundle)
    return tuple(_cell(bundle, found, *place) for place in cell_places(bundle))


def found_class(bundle: Bundle) -> CounterClass:
    """The class of the bundle; TesseraError if its processor is of another one."""
    found = bundle.counter_class
    if found is None:
        raise wrong("machine.json", f"{bundle.machine.cpu} is no {bundle.about.class_name}", "class")
    return found


def cell_places(bundle: Bundle) -> list[tuple[str, str]]:
    """(workload, layout) of every cell; numbers in names count by value."""
    by_workload: dict[str, set[str]] = {}
    for workload, layout in bundle.rounds:
        by_workload.setdefault(workload, set()).add(layout)
    return [(w, layout) for w in workload_order(by_workload) for layout in workload_order(by_workload[w])]


def cells_text(rows: Iterable[dict]) -> str:
    """The content of ``cells.csv``, as :func:`tessera.core.results.table_io.write_cells` would write it."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(CELLS.names)
    writer.writerows([row.get(name, "") for name in CELLS.names] for row in rows)
    return stream.getvalue()


def counted_parts(bundle: Bundle, runs: list[MeasuredRun]) -> list[CountedPart]:
    """Every event of these runs, with its role."""
    named = bundle.counts.names
    return [
        counted_part(
            bundle.roles[run.pass_name, named[event]], value, f"{named[event]} in pass {run.pass_name}"
        )
        for run in runs
        for event, value in bundle.counts.values_of(run.run)
        if named[event] != REGION
    ]


def counted_part(role: str, value: int, where: str) -> CountedPart:
    """The count of one event; ``role`` is our name of the quantity, ``where`` is for messages."""
    return CountedPart(role, Decimal(value), where, role in software_quantities())


def _cell(bundle: Bundle, found: CounterClass, workload: str, layout: str) -> dict:
    about = bundle.about
    engine = PERF if about.counter == "perf" else LAUNCHER
    head = {"workload": workload, "platform": about.platform, "layout": layout, "repeat": 0}
    by_round = bundle.rounds[workload, layout]
    bad = [run for runs in by_round.values() for run in runs if not run.good]
    if bad:
        return empty_row(head, bad[-1].message, engine=engine, status=bad[-1].status)
    try:
        numbers = []
        for number, runs in by_round.items():
            name = f"{workload}, {layout}, round {number}"
            numbers.append(cell_of_run(name, counted_parts(bundle, runs), found))
    except TesseraError as error:
        return empty_row(head, error.problem, engine=engine)
    most = max(len(runs) for runs in by_round.values())
    how = f"{len(by_round)} rounds of {most} {'passes' if most > 1 else 'pass'}"
    provenance = "simulated" if about.rehearsal else "measured"
    row = mean_row(head, numbers, row_note(how, found, about.mode), engine=engine, provenance=provenance)
    return row | _clock([[run.roi_ns for run in runs] for runs in by_round.values()])


def _clock(times: list[list[int]]) -> dict:
    """Mean time of the region over rounds, in ns, and the half-width of its interval."""
    means = [Fraction(sum(round_times), len(round_times)) for round_times in times]
    found = {"runtime_ns": float(sum(means) / len(means))}
    if len(means) > 1:
        found["runtime_ns_ci95"] = float(math.ceil(mean_interval([float(mean) for mean in means]).half_width))
    return found
