"""Logs of ``perf stat`` that were recorded elsewhere, as measured cells (docs/reference/counters.md).

A log belongs to a run by its name, or by a table. The arithmetic from counts to rows of a cells file is that
of bundles.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.layouts.layout import canonical_name, name_notes
from tessera.core.results.outcomes import ok_rows
from tessera.core.results.table_io import read_cells
from tessera.core.table_file import read_table
from tessera.machine.counters.event_table import CounterClass
from tessera.measure.bundles import cell_arithmetic
from tessera.measure.bundles.cell_arithmetic import INSTRUCTIONS, cell_of_run
from tessera.measure.perf_log_counts import Total, mode_of, totals_of

# Which run a log belongs to: from its name, or from a table.
#
# ``LAYOUT.perf``, ``LAYOUT.PASS.perf`` or ``LAYOUT.PASS.REPEAT.perf``: the part before the first dot is the
# layout, a number before the suffix is the repeat. Logs of equal layout and repeat are passes of one run. A
# table ``file,layout[,repeat]`` names files of any other form.

_FORM = "name it LAYOUT.PASS.perf or LAYOUT.PASS.REPEAT.perf, or give --table with file,layout,repeat"
_REPEAT = re.compile(r"\d{1,9}", re.ASCII)
_COLUMNS = ("file", "layout", "repeat")


@dataclass(frozen=True)
class LogFile:
    """A log, and the run that it was recorded in; ``given`` is the name of the layout as it was written."""

    path: Path
    layout: str
    repeat: int = 0
    given: str = field(default="", compare=False)


def spelling_notes(files: Iterable[LogFile]) -> list[str]:
    """A note for the user on each layout that was written in another spelling."""
    return name_notes(log.given for log in files)


def logs_from_names(paths: Iterable[Path]) -> list[LogFile]:
    """Logs by their names; a folder stands for its files, sorted, without hidden ones.

    Raises:
        TesseraError: a file does not exist, its name has another form, or two layouts differ only in case.
    """
    files = []
    for path in paths:
        if _is(Path.is_dir, path):
            inside = sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith("."))
            if not inside:
                raise TesseraError(f"folder {path}", "it has no file", "name the folder with the logs")
            files += inside
        elif _is(Path.is_file, path):
            files.append(path)
        else:
            raise TesseraError(f"log {path}", "no such file", "check the path")
    return _one_case([_from_name(path) for path in files])


def _from_name(path: Path) -> LogFile:
    layout, *others = path.name.split(".")
    numbers = [part for part in others[:-1] if part.isdecimal() and part.isascii()]
    if not layout or not others or len(others) > 3 or len(numbers) > 1:
        raise TesseraError(f"log {path}", "its name does not say the layout", _FORM, code="log-name")
    if numbers and others[-2] != numbers[0]:
        raise TesseraError(f"log {path}", f"{numbers[0]} is not before the suffix", _FORM, code="log-name")
    return _log(path, layout, int(numbers[0]) if numbers else 0, f"log {path}")


def _log(path: Path, layout: str, repeat: int, where: str) -> LogFile:
    name = canonical_name(layout)
    if not name or not name.isprintable():
        raise TesseraError(where, f"the layout {layout!r} is no printable name", _FORM, code="log-name")
    return LogFile(path, name, repeat, layout)


def logs_from_table(table: Path) -> list[LogFile]:
    """Logs of a CSV file ``file,layout[,repeat]``; files are relative to its folder.

    Raises:
        TesseraError: the header or a row has another form, a file is missing or listed twice.
    """
    owner = f"table {table}"
    lines = read_table(table, owner, _COLUMNS).frame
    header = [name for name in _COLUMNS if name in lines.columns]
    if len(header) < len(lines.columns) or header[:2] != [*_COLUMNS[:2]]:
        found = f"header {','.join(lines.columns)}"
        raise TesseraError(owner, found, "use the header file,layout,repeat", code="table-header")
    found: dict[Path, LogFile] = {}
    for line, *words in lines[header].itertuples(name=None):
        repeat = words[2] if len(words) > 2 else "0"
        where = f"{owner} line {line}"
        if not all(words) or not _REPEAT.fullmatch(repeat):
            raise TesseraError(where, f"'{','.join(words)}'", "give file,layout,repeat (from 0)")
        path = table.parent / words[0]
        if not _is(Path.is_file, path):
            raise TesseraError(where, f"{path}: no such file", "check the path")
        log = _log(path, words[1], int(repeat), where)
        if found.setdefault(path.resolve(), log) is not log:
            raise TesseraError(where, f"{path} is listed twice", "list it once")
    if not found:
        raise TesseraError(f"table {table}", "it lists no file", "add rows file,layout,repeat")
    return _one_case(list(found.values()))


def _one_case(files: list[LogFile]) -> list[LogFile]:
    """Refuse layouts whose names differ only in their case: no fit would take both."""
    first: dict[str, LogFile] = {}
    for log in files:
        other = first.setdefault(log.layout.casefold(), log)
        if other.layout != log.layout:
            found = f"layout {log.layout}, and {other.layout} of {other.path}: they differ only in their case"
            raise TesseraError(
                f"log {log.path}", found, "write a layout's name alike in all logs", code="log-name"
            )
    return files


def _is(kind: Callable[[Path], bool], path: Path) -> bool:
    """``Path.is_file`` and ``is_dir``; a name that no file can have (too long) is none."""
    try:
        return kind(path)
    except OSError:
        return False


# ``tessera measure import``: logs in, rows of a cells file out.

#: Instructions of a program that does the same work under every layout differ by no more than this.
LARGEST_INSTRUCTIONS_SPREAD = Decimal("0.001")


@dataclass(frozen=True)
class ImportOptions:
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


def import_logs(files: Sequence[LogFile], request: ImportOptions) -> Imported:
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
    numbers: dict[str, dict[int, cell_arithmetic.Numbers]] = {}
    for (layout, repeat), totals in runs.items():
        run = f"layout {layout}, repeat {repeat}"
        try:
            numbers.setdefault(layout, {})[repeat] = cell_of_run(run, totals, request.found)
        except TesseraError as error:
            _keep(failed, layout, error, request)
    for layout in dict.fromkeys(log.layout for log in files):
        head = {"workload": request.workload, "platform": request.platform, "layout": layout, "repeat": 0}
        if layout in failed:
            message = f"{failed[layout].asked}: {failed[layout].found}"
            done.rows.append(cell_arithmetic.empty_row(head, message, engine=cell_arithmetic.PERF))
        else:
            done.rows += _rows(head, numbers[layout], mode, request)
    done.failures = list(failed.values())
    done.notes = _notes(done, numbers)
    return done


def _keep(failed: dict[str, TesseraError], layout: str, error: TesseraError, request: ImportOptions) -> None:
    if not request.keep_going:
        raise error
    failed.setdefault(layout, error)


def _rows(
    head: dict, repeats: dict[int, cell_arithmetic.Numbers], mode: str, request: ImportOptions
) -> list[dict]:
    def message(runs: int) -> str:
        return cell_arithmetic.row_note(f"imported: {runs} run{'s' if runs > 1 else ''}", request.found, mode)

    if request.keep_repeats:
        return [
            cell_arithmetic.mean_row(
                head | {"repeat": n}, [repeats[n]], message(1), engine=cell_arithmetic.PERF
            )
            for n in sorted(repeats)
        ]
    return [
        cell_arithmetic.mean_row(
            head, [repeats[n] for n in sorted(repeats)], message(len(repeats)), engine=cell_arithmetic.PERF
        )
    ]


def _notes(done: Imported, numbers: dict[str, dict[int, cell_arithmetic.Numbers]]) -> list[str]:
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


# M of one layout in a cells file: what an estimate of walk cycles multiplies.


def misses_of(path: Path, *, layout: str, workload: str | None = None, platform: str | None = None) -> int:
    """Mean M of the good rows of a layout that were measured; whole misses.

    Raises:
        TesseraError: no such row (``misses-absent``), rows of several workloads or platforms
            (``misses-several``), or M that was not measured (``misses-simulated``).
    """
    owner = f"M of layout {layout} in {path}"
    name = canonical_name(layout)
    rows = ok_rows(read_cells(path))
    rows = rows[rows["layout"].map(canonical_name) == name]
    for column, wanted in (("workload", workload), ("platform", platform)):
        if wanted is not None:
            rows = rows[rows[column] == wanted]
        elif rows[column].nunique() > 1:
            listed = ", ".join(sorted(set(rows[column])))
            raise TesseraError(
                owner, f"it has several of {column}: {listed}", f"give --{column}", code="misses-several"
            )
    rows = rows[rows["stlb_misses"].notna()]
    if rows.empty:
        raise TesseraError(
            owner, "no good row has M", "tessera measure import makes cells with M",
            exit_code=EXIT_FAILED, code="misses-absent",
        )  # fmt: skip
    if kinds := set(rows["tlb_provenance"]) - {"measured"}:
        raise TesseraError(
            owner,
            f"M is {', '.join(sorted(map(str, kinds)))}, not measured",
            "samples of a processor need M of the same processor",
            exit_code=EXIT_FAILED, code="misses-simulated",
        )  # fmt: skip
    return round(float(rows["stlb_misses"].mean()))
