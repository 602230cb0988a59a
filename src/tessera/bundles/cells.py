"""Cells of a bundle from its runs and counts: the same arithmetic for measuring and for verifying.

A round of a layout is one run of a cell: its passes are put together (:mod:`tessera.bundles.numbers`). A cell
is the mean over rounds, with 95% intervals. Every number is computed exactly and rounded once; half-widths
are rounded up to whole numbers, so that all digits are the same on every machine.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tessera.bundles import rows
from tessera.bundles.model import REGION, Bundle, Run, software_quantities
from tessera.bundles.numbers import of_run
from tessera.bundles.wrong import wrong
from tessera.core.errors import TesseraError
from tessera.core.stats import mean_interval
from tessera.counters.classes import CounterClass
from tessera.results.pair import workload_order
from tessera.results.schema.cells import CELLS

if TYPE_CHECKING:
    import pandas as pd


class Part(NamedTuple):
    """A count of a run, as :mod:`tessera.bundles.numbers` takes it."""

    quantity: str
    value: Decimal
    where: str
    software: bool


def compute(bundle: Bundle) -> pd.DataFrame:
    """The table of ``cells.csv``.

    Raises:
        TesseraError: the class that the bundle names is not that of its processor.
    """
    from tessera.results.write import frame_of  # pandas: half of the memory that checks need

    return frame_of(CELLS, list(rows_of(bundle)))


@lru_cache(maxsize=1)
def rows_of(bundle: Bundle) -> tuple[dict, ...]:
    """Rows of ``cells.csv``, by workload and layout; keys that a row lacks are empty columns.

    A layout with a run that is not ok has no numbers. Raises as :func:`compute`.
    """
    found = found_class(bundle)
    return tuple(_cell(bundle, found, *place) for place in places(bundle))


def found_class(bundle: Bundle) -> CounterClass:
    """The class of the bundle; TesseraError if its processor is of another one."""
    found = bundle.counter_class
    if found is None:
        raise wrong("machine.json", f"{bundle.machine.cpu} is no {bundle.about.class_name}", "class")
    return found


def places(bundle: Bundle) -> list[tuple[str, str]]:
    """(workload, layout) of every cell; numbers in names count by value."""
    by_workload: dict[str, set[str]] = {}
    for workload, layout in bundle.rounds:
        by_workload.setdefault(workload, set()).add(layout)
    return [(w, layout) for w in workload_order(by_workload) for layout in workload_order(by_workload[w])]


def text(rows: Iterable[dict]) -> str:
    """The content of ``cells.csv``, as :func:`tessera.results.cells.write_cells` would write it."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(CELLS.names)
    writer.writerows([row.get(name, "") for name in CELLS.names] for row in rows)
    return stream.getvalue()


def parts(bundle: Bundle, runs: list[Run]) -> list[Part]:
    """Every event of these runs, with its role."""
    named = bundle.counts.names
    return [
        part(bundle.roles[run.pass_name, named[event]], value, f"{named[event]} in pass {run.pass_name}")
        for run in runs
        for event, value in bundle.counts.values_of(run.run)
        if named[event] != REGION
    ]


def part(role: str, value: int, where: str) -> Part:
    """The count of one event; ``role`` is our name of the quantity, ``where`` is for messages."""
    return Part(role, Decimal(value), where, role in software_quantities())


def _cell(bundle: Bundle, found: CounterClass, workload: str, layout: str) -> dict:
    about = bundle.about
    engine = rows.PERF if about.counter == "perf" else rows.LAUNCHER
    head = {"workload": workload, "platform": about.platform, "layout": layout, "repeat": 0}
    by_round = bundle.rounds[workload, layout]
    bad = [run for runs in by_round.values() for run in runs if not run.good]
    if bad:
        return rows.empty_row(head, bad[-1].message, engine=engine, status=bad[-1].status)
    try:
        numbers = []
        for number, runs in by_round.items():
            name = f"{workload}, {layout}, round {number}"
            numbers.append(of_run(name, parts(bundle, runs), found))
    except TesseraError as error:
        return rows.empty_row(head, f"{error.asked}: {error.found}", engine=engine)
    most = max(len(runs) for runs in by_round.values())
    how = f"{len(by_round)} rounds of {most} {'passes' if most > 1 else 'pass'}"
    provenance = "simulated" if about.rehearsal else "measured"
    row = rows.row(head, numbers, rows.note(how, found, about.mode), engine=engine, provenance=provenance)
    return row | _clock([[run.roi_ns for run in runs] for runs in by_round.values()])


def _clock(times: list[list[int]]) -> dict:
    """Mean time of the region over rounds, in ns, and the half-width of its interval."""
    means = [Fraction(sum(round_times), len(round_times)) for round_times in times]
    found = {"runtime_ns": float(sum(means) / len(means))}
    if len(means) > 1:
        found["runtime_ns_ci95"] = float(math.ceil(mean_interval([float(mean) for mean in means]).half_width))
    return found
