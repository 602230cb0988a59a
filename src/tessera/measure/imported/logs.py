"""``tessera measure import``: logs in, rows of a cells file out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from tessera.bundles import rows
from tessera.bundles.numbers import INSTRUCTIONS, of_run
from tessera.core.errors import TesseraError
from tessera.counters.classes import CounterClass
from tessera.measure.imported.files import LogFile
from tessera.measure.imported.mode import mode_of
from tessera.measure.imported.totals import Total, totals_of

#: Instructions of a program that does the same work under every layout differ by no more than this.
LARGEST_INSTRUCTIONS_SPREAD = Decimal("0.001")


@dataclass(frozen=True)
class Request:
    """What to import. ``platform`` begins with the class, so that claims know the generation."""

    workload: str
    platform: str
    found: CounterClass
    mode: str | None = None
    ignore: Collection[str] = ()
    sum_parts: bool = False
    keep_repeats: bool = False
    keep_going: bool = False


@dataclass
class Imported:
    """``rows`` of a cells file; ``totals``: (log, total) of every counted event; ``notes`` for the user."""

    rows: list[dict] = field(default_factory=list)
    totals: list[tuple[LogFile, Total]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failures: list[TesseraError] = field(default_factory=list)


def import_logs(files: Sequence[LogFile], request: Request) -> Imported:
    """Read, check and add up logs.

    Raises:
        TesseraError: a log or a run is wrong (with ``keep_going`` its layout gets a failed row instead); the
            modes of the events differ or are not known.
    """
    done = Imported()
    runs: dict[tuple[str, int], list[Total]] = {}
    failed: dict[str, TesseraError] = {}
    for log in files:
        try:
            totals = totals_of(log.path, request.found, ignore=request.ignore, sum_parts=request.sum_parts)
        except TesseraError as error:
            _keep(failed, log.layout, error, request)
            continue
        runs.setdefault((log.layout, log.repeat), []).extend(totals)
        done.totals += [(log, total) for total in totals]
    mode = mode_of((total for _, total in done.totals), request.mode) if done.totals else ""
    numbers: dict[str, dict[int, rows.Numbers]] = {}
    for (layout, repeat), totals in runs.items():
        run = f"layout {layout}, repeat {repeat}"
        try:
            numbers.setdefault(layout, {})[repeat] = of_run(run, totals, request.found)
        except TesseraError as error:
            _keep(failed, layout, error, request)
    for layout in dict.fromkeys(log.layout for log in files):
        head = {"workload": request.workload, "platform": request.platform, "layout": layout, "repeat": 0}
        if layout in failed:
            message = f"{failed[layout].asked}: {failed[layout].found}"
            done.rows.append(rows.empty_row(head, message, engine=rows.PERF))
        else:
            done.rows += _rows(head, numbers[layout], mode, request)
    done.failures = list(failed.values())
    done.notes = _notes(done, numbers)
    return done


def _keep(failed: dict[str, TesseraError], layout: str, error: TesseraError, request: Request) -> None:
    if not request.keep_going:
        raise error
    failed.setdefault(layout, error)


def _rows(head: dict, repeats: dict[int, rows.Numbers], mode: str, request: Request) -> list[dict]:
    def message(runs: int) -> str:
        return rows.note(f"imported: {runs} run{'s' if runs > 1 else ''}", request.found, mode)

    if request.keep_repeats:
        return [
            rows.row(head | {"repeat": n}, [repeats[n]], message(1), engine=rows.PERF)
            for n in sorted(repeats)
        ]
    return [rows.row(head, [repeats[n] for n in sorted(repeats)], message(len(repeats)), engine=rows.PERF)]


def _notes(done: Imported, numbers: dict[str, dict[int, rows.Numbers]]) -> list[str]:
    """What the user should know although nothing is wrong."""
    notes = []
    found = [n[INSTRUCTIONS] for repeats in numbers.values() for n in repeats.values() if n[INSTRUCTIONS]]
    if found and (max(found) - min(found)) / max(found) > LARGEST_INSTRUCTIONS_SPREAD:
        share = (max(found) - min(found)) / max(found)
        notes.append(f"instructions differ by {share:.2%} between runs (0.1% is normal): other work in some")
    scaled = [total for _, total in done.totals if not total.named.software and total.percent < 100]
    if scaled:
        least = min(scaled, key=lambda total: total.percent)
        notes.append(
            f"perf scaled {len(scaled)} counts by less than 0.1% or 10 us: {least.text} in {least.path.name}"
            f" ran {least.percent}% of the time"
        )
    means = [total for _, total in done.totals if total.spread_percent is not None]
    if means:
        widest = max(means, key=lambda total: total.spread_percent)
        notes.append(
            f"{len(means)} counts are means of perf -r: standard error up to {widest.spread_percent}%"
            f" ({widest.text} in {widest.path.name})"
        )
    apart = sorted({total.quantity for _, total in done.totals if total.quantity.startswith("C active")})
    if apart:
        notes.append(f"{', '.join(apart)}: no column of a cell; --counts-out keeps them")
    return notes
