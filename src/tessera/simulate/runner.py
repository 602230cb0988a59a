"""Cells of a trace on platforms: from the cache of finished cells, otherwise from the simulator."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from tessera.core.errors import TesseraError
from tessera.core.files import built, making, sha256_of, with_names, write_text
from tessera.core.platforms import Platform
from tessera.core.results import outcomes, table_io
from tessera.core.results.outcomes import is_ok
from tessera.machine.container import RunOptions, toolchain
from tessera.record import traces
from tessera.simulate.inputs import LAYOUT, PageSource, file_bytes
from tessera.simulate.sampling import Plan
from tessera.simulate.simulator import (
    DRAM_ROWS,
    FAULT_TIMES,
    KERNEL,
    Keep,
    Progress,
    Simulation,
    died,
    run_simulator,
)

#: What units, and structures of the design, are called in a cached cell.
UNITS, STRUCTURES = "units", "structures"
PARTS = (UNITS, STRUCTURES, KERNEL, FAULT_TIMES, DRAM_ROWS)


def simulate_platform(
    trace: Path,
    platform: Platform,
    layouts: list[Path],
    *,
    units: list[dict] | None = None,
    structures: list[dict] | None = None,
    **options,
) -> list[dict]:
    """:func:`simulate_all` on one platform.

    Args:
        units: gets a row per layout and unit of the plan.
        structures: gets a row per layout and structure of the platform's design.
        options: those of :func:`simulate_all`.
    """
    of_all: list[list[dict] | None] = [None if asked is None else [] for asked in (units, structures)]
    (rows,) = simulate_all(trace, [platform], layouts, units=of_all[0], structures=of_all[1], **options)
    for asked, found in zip((units, structures), of_all, strict=True):
        if asked is not None and found is not None:
            asked += found[0]
    return rows


def simulate_each(
    trace: Path, platforms: Sequence[Platform], layouts: list[Path], **options
) -> list[list[dict] | TesseraError]:
    """:func:`simulate_all`, where a platform that stops the simulator does not stop the others.

    For each platform its rows, or why it has none. The platforms are simulated in one run; if that is
    refused or dies, ``progress`` says so, and they run one after the other, each in a run of its own.
    """
    try:
        return list(simulate_all(trace, platforms, layouts, **options))
    except TesseraError as error:
        if len(platforms) == 1:
            return [error]
        if progress := options.get("progress"):
            progress(f"{len(platforms)} platforms in one run: {error.found}; now one after the other")
    return [found for platform in platforms for found in simulate_each(trace, [platform], layouts, **options)]


def simulate_all(
    trace: Path,
    platforms: Sequence[Platform],
    layouts: list[Path],
    *,
    workload: str,
    engine: str,
    sampling: Plan,
    cache: CellCache,
    progress: Progress = lambda line: None,
    threads: int = 1,
    units: list | None = None,
    structures: list | None = None,
    kind: PageSource = LAYOUT,
    weave: bytes | None = None,
    check_tables: bool = False,
    kernel: list | None = None,
    fault_times: list | None = None,
    dram_rows: list | None = None,
) -> list[list[dict]]:
    """For each platform, rows of the cells table, one per layout, in the order of ``layouts``.

    The platforms share passes over the trace, and what their designs have in common
    (docs/reference/simulate.md, "Several designs in one run"); the rows are those of each platform alone.
    Finished cells of ``cache`` are not simulated again; new ones are put there one by one as their pass ends.
    A layout that can't be read, or that the simulator refuses, is a ``failed`` row. So are all rows of a
    platform that it refuses, if there are several. The ``message`` of an ok row says so if the trace has one
    of several threads, or accesses outside its pools (:mod:`tessera.core.results.outcomes`); the cache does
    not keep this.

    Args:
        threads: threads of the simulator; the result does not depend on it.
        units: gets a list for each platform, with a row per layout and unit of the plan: ``platform,layout,
            unit,start_access,instructions,accesses,stlb_misses,walk_cycles,runtime_cycles``, unscaled.
        structures: gets a list for each platform, with a row per layout and structure of the design:
            ``platform``, then ``simulator.DESIGN_COLUMNS``. A cached cell that was stored without structures
            is simulated again.
        kind: what ``layouts`` are; a mapping's cell has the name of the mapping in the column ``layout``.
        weave: templates of page faults that are woven into the stream of logs; None: faults take no time.
        check_tables: with ``weave``, a walk that reads an entry which no woven store has written is a failed
            row. Needs ``engine`` partial or timing, and ``sampling`` full.
        kernel: gets a list for each platform, with a row per log: ``platform``, then
            ``simulator.KERNEL_COLUMNS``. Empty without ``weave``.
        fault_times: gets a list for each platform, with a row per log and fault of a timed part:
            ``platform``, then ``simulator.FAULT_TIME_COLUMNS``. Needs ``weave``, and an engine with R. A
            cached cell that was stored without them is simulated again.
        dram_rows: gets a list for each platform, with a row per layout and kind of load: ``platform``, then
            ``simulator.DRAM_ROW_COLUMNS``. Empty if the platform has no row buffers. Needs an engine with R
            and a plan with units. A cached cell that was stored without them is simulated again.

    Raises:
        TesseraError: the trace or the only platform is refused, or the simulator died (what it had
            finished is in the cache).
        SystemExit: a signal ended the run; finished cells are in the cache.
    """
    simulator = built("simulator", "tessera-sim")
    contents, unreadable = _contents(layouts, kind)
    before = [trace_identity(trace)]
    after: list[str | bytes] = [engine, sampling.argument(), sha256_of(simulator)]
    after += [] if kind == LAYOUT else [kind.word]
    after += [] if weave is None else ["weave", weave, *(["check-tables"] if check_tables else [])]
    keys = [
        {path: content_key(*before, platform.flat(), *after, content) for path, content in contents.items()}
        for platform in platforms
    ]
    needed = {
        part
        for part, asked in ((STRUCTURES, structures), (FAULT_TIMES, fault_times), (DRAM_ROWS, dram_rows))
        if asked is not None
    }
    found = _cached(cache, keys, needed)
    cells_asked = len(layouts) * len(platforms)
    what = f"{kind.word}s" if len(platforms) == 1 else "cells"
    if found:
        kept = sum(key in found for of_platform in keys for key in of_platform.values())
        progress(f"{kept} of {cells_asked} {what} are in the cache")
    simulated: dict[str, Path] = {}

    def keep(place: int, path: Path, row: dict, counted: list[dict], of_design: list[dict]) -> None:
        key, cell = keys[place][path], row | {UNITS: counted, STRUCTURES: of_design}
        if is_ok(row):
            cache.put(key, cell)
        found[key] = cell

    try:
        for places, paths in _missing(keys, found):
            simulated |= {keys[place][path]: path for place in places for path in paths}
            job = Simulation(
                simulator, trace, tuple(platforms[i] for i in places), engine, sampling, threads, kind, weave,
                check_tables, fault_times is not None, dram_rows is not None,
            )  # fmt: skip
            _run(job, {path: contents[path] for path in paths}, _at(places, keep), progress)
    except (SystemExit, TesseraError) as stop:
        done = sum(key in found for of_platform in keys for key in of_platform.values())
        _say_what_is_kept(stop, f"{done} of {cells_asked} {what}", done, cache)
        raise
    names = {path: kind.name_of(path) for path in layouts}
    note = trace_note(trace)
    tables = []
    for platform, of_platform in zip(platforms, keys, strict=True):
        made = {path: _named(found[key], simulated.get(key), path) for path, key in of_platform.items()}
        rows = unreadable | made
        parts = (
            (units, UNITS), (structures, STRUCTURES), (kernel, KERNEL), (fault_times, FAULT_TIMES),
            (dram_rows, DRAM_ROWS),
        )  # fmt: skip
        for asked, part in parts:
            if asked is not None:
                asked.append(_parts(rows, layouts, names, part, platform.name))
        tables.append(
            [_cell(rows[path], workload, platform.name, names[path], engine, note) for path in layouts]
        )
    return tables


def miss_profile(trace: Path, platform: Platform, out: Path) -> Path:
    """STLB misses under 4KB pages per 2MB region: CSV ``pool,offset_bytes,stlb_misses``."""
    simulator = built("simulator", "tessera-sim")
    with making(out) as made, tempfile.TemporaryDirectory(prefix="tessera-profile-") as name:
        flat = Path(name) / "platform.txt"
        flat.write_text(platform.flat())
        argv = [simulator, "profile", "--trace", trace.resolve(), "--platform", flat, "--out", made]
        paths, options = [trace.resolve(), flat.parent], RunOptions(writes=(made.parent,))
        done = toolchain().run(
            [str(a) for a in argv], paths=paths, capture=True, check=False, options=options
        )
        if done.returncode:
            raise died(done.returncode, with_names(done.stderr, {made: out, flat: platform.name}))
    return out


def trace_identity(trace: Path) -> str:
    """The checksum of a trace's content, on which its numbers depend (name and compression don't matter)."""
    info = traces.trace_info(trace)
    return json.dumps([info["checksum"], info["pools"]], sort_keys=True)


def trace_note(trace: Path) -> str:
    """The notes on a trace (:mod:`tessera.core.results.outcomes`); empty if it has all of its program."""
    return outcomes.note_of(traces.trace_info(trace))


#: The simulator itself; tests put a recorder of calls in its place.
_run = run_simulator


def _contents(layouts: list[Path], kind: PageSource) -> tuple[dict[Path, bytes], dict[Path, dict]]:
    """What the files have in them, and failed rows of those that can't be read."""
    contents: dict[Path, bytes] = {}
    unreadable: dict[Path, dict] = {}
    for path in layouts:
        try:
            contents[path] = file_bytes(path, kind)
        except TesseraError as error:
            unreadable[path] = {"status": "failed", "message": _one_line(error)}
    return contents, unreadable


def _cached(cache: CellCache, keys: list[dict[Path, str]], needed: set[str]) -> dict[str, dict]:
    asked = {key for of_platform in keys for key in of_platform.values()}
    cached = {key: row for key in asked if (row := cache.get(key)) is not None}
    return {key: row for key, row in cached.items() if needed <= set(row)}


def _missing(keys: list[dict[Path, str]], found: dict[str, dict]) -> Iterator[tuple[list[int], list[Path]]]:
    """Runs that simulate what is missing, each content once: places of platforms that lack the same files."""
    lacking: dict[tuple[Path, ...], list[int]] = {}
    asked = set(found)
    for place, of_platform in enumerate(keys):
        todo = {key: path for path, key in of_platform.items() if key not in asked}
        asked |= set(todo)
        if todo:
            lacking.setdefault(tuple(todo.values()), []).append(place)
    for paths, places in lacking.items():
        yield places, list(paths)


def _at(places: list[int], keep: Keep) -> Keep:
    return lambda place, *of_cell: keep(places[place], *of_cell)


def _parts(rows: dict, layouts: list[Path], names: dict[Path, str], part: str, platform: str) -> list[dict]:
    return [
        {"platform": platform, "layout": names[path]} | line
        for path in layouts
        for line in rows[path].get(part, [])
    ]


def _say_what_is_kept(stop: BaseException, share: str, done: int, cache: CellCache) -> None:
    if cache.folder is None or (isinstance(stop, TesseraError) and done == 0):
        return
    click.echo(
        f"{share} are finished and kept in {cache.folder}; the same command goes on there",
        err=True,
    )


def _one_line(error: TesseraError) -> str:
    return f"{error.problem}; what to do: {error.remedy}"


def _named(row: dict, simulated: Path | None, path: Path) -> dict:
    """The row for another file with the content of the one that was simulated: the message names this one."""
    if simulated is None or simulated == path or is_ok(row):
        return row
    return row | {"message": row["message"].replace(str(simulated), str(path))}


def _cell(row: dict, workload: str, platform: str, layout: str, engine: str, note: str) -> dict:
    ok = is_ok(row)
    timed = ok and row.get("runtime_cycles") is not None
    cell = dict.fromkeys(table_io.CELL_COLUMNS)
    cell.update({key: value for key, value in row.items() if key not in PARTS})
    cell.update(workload=workload, platform=platform, layout=layout, repeat=0, engine=engine)
    if ok:
        cell["message"] = outcomes.joined_notes(note, row["message"])
    cell["tlb_provenance"] = "simulated" if ok else ""
    cell["runtime_provenance"] = "simulated" if timed else ""
    return cell


# The cache of finished cells, from which a killed run resumes.
#
# A cell's key is a hash of everything its numbers depend on. Each cell is one small JSON file, written
# atomically. It is not synced to the disk: a file that a power failure damaged counts as absent.


def content_key(*parts: str | bytes) -> str:
    """SHA-256 over length-prefixed parts (no two part lists collide by concatenation); text as UTF-8."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(f"{len(data)}:".encode() + data)
    return digest.hexdigest()


class CellCache:
    """A folder of cells; ``get`` and ``put`` by key. ``None`` as folder: nothing is kept."""

    def __init__(self, folder: Path | None):
        self.folder = folder

    def get(self, key: str) -> dict | None:
        """The cell of this key; a file that is not readable JSON counts as absent."""
        if self.folder is None:
            return None
        try:
            return json.loads(self._path(key).read_text())
        except (OSError, ValueError):
            return None

    def put(self, key: str, cell: dict) -> None:
        """Keep a finished cell."""
        if self.folder is None:
            return
        write_text(self._path(key), json.dumps(cell, sort_keys=True), sync=False)

    def _path(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / key[:2] / f"{key}.json"
