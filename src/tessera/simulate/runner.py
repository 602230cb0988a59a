"""Cells of a trace on a platform: from the cache if possible, otherwise from the simulator."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import click

from tessera.core.errors import TesseraError
from tessera.core.files import making, sha256_of, with_names
from tessera.core.paths import built
from tessera.machine.container import toolchain
from tessera.platforms import Platform
from tessera.results import cells
from tessera.results.status import is_ok
from tessera.simulate.cache import CellCache, content_key
from tessera.simulate.inputs import LAYOUT, Kind, file_bytes
from tessera.simulate.plan import Plan
from tessera.simulate.process import Job, Progress, died, run_simulator

__all__ = ["Progress", "miss_profile", "simulate", "trace_identity"]

#: What units, and structures of the design, are called in a cached cell.
UNITS, STRUCTURES = "units", "structures"


def simulate(
    trace: Path,
    platform: Platform,
    layouts: list[Path],
    *,
    workload: str,
    engine: str,
    sampling: Plan,
    cache: CellCache,
    progress: Progress = lambda line: None,
    threads: int = 1,
    units: list[dict] | None = None,
    structures: list[dict] | None = None,
    kind: Kind = LAYOUT,
) -> list[dict]:
    """Rows of the cells table, one per layout, in the order of ``layouts``.

    Finished cells of ``cache`` are not simulated again; new ones are put there one by one as their
    group of layouts ends. A layout that can't be read, or that the simulator refuses, is a ``failed`` row.

    Args:
        threads: threads of the simulator; the result does not depend on it.
        units: gets a row per layout and unit of the plan: ``platform,layout,unit,start_access,instructions,
            accesses,stlb_misses,walk_cycles,runtime_cycles``, unscaled.
        structures: gets a row per layout and structure of the platform's design: ``platform``, then
            ``rows.DESIGN_COLUMNS``. A cached cell that was stored without structures is simulated again.
        kind: what ``layouts`` are; a mapping's cell has the name of the mapping in the column ``layout``.

    Raises:
        TesseraError: the trace or the platform is refused, or the simulator died (what it had
            finished is in the cache).
        SystemExit: a signal ended the run; finished cells are in the cache.
    """
    simulator = built("simulator", "tessera-sim")
    base = [
        trace_identity(trace),
        platform.flat(),
        engine,
        sampling.argument(),
        sha256_of(simulator),
        *([] if kind == LAYOUT else [kind.word]),
    ]
    contents: dict[Path, bytes] = {}
    unreadable: dict[Path, dict] = {}
    for path in layouts:
        try:
            contents[path] = file_bytes(path, kind)
        except TesseraError as error:
            unreadable[path] = {"status": "failed", "message": _one_line(error)}
    keys = {path: content_key(*base, content) for path, content in contents.items()}
    needed = {STRUCTURES} if structures is not None else set()
    cached = {key: row for key in set(keys.values()) if (row := cache.get(key)) is not None}
    found = {key: row for key, row in cached.items() if needed <= set(row)}
    todo = {keys[path]: path for path in keys if keys[path] not in found}
    if found:
        progress(f"{len(keys) - len(todo)} of {len(layouts)} {kind.word}s are in the cache")
    if todo:
        path_keys = {path: key for key, path in todo.items()}

        def keep(path: Path, row: dict, counted: list[dict], of_design: list[dict]) -> None:
            key, cell = path_keys[path], row | {UNITS: counted, STRUCTURES: of_design}
            if is_ok(row):
                cache.put(key, cell)
            found[key] = cell

        job = Job(simulator, trace, platform, engine, sampling, threads, kind)
        try:
            _run(job, {path: contents[path] for path in path_keys}, keep, progress)
        except (SystemExit, TesseraError) as stop:
            done = sum(key in found for key in keys.values())
            _say_what_is_kept(stop, f"{done} of {len(layouts)} {kind.word}s", done, cache)
            raise
    rows = unreadable | {path: _named(found[key], todo.get(key), path) for path, key in keys.items()}
    names = {path: kind.name_of(path) for path in layouts}
    for asked, key in ((units, UNITS), (structures, STRUCTURES)):
        for path in layouts if asked is not None else ():
            head = {"platform": platform.name, "layout": names[path]}
            asked += [head | part for part in rows[path].get(key, [])]
    return [_cell(rows[path], workload, platform.name, names[path], engine) for path in layouts]


def miss_profile(trace: Path, platform: Platform, out: Path) -> Path:
    """STLB misses under 4KB pages per 2MB region: CSV ``pool,offset_bytes,stlb_misses``."""
    simulator = built("simulator", "tessera-sim")
    with making(out) as made, tempfile.TemporaryDirectory(prefix="tessera-profile-") as name:
        flat = Path(name) / "platform.txt"
        flat.write_text(platform.flat())
        argv = [simulator, "profile", "--trace", trace.resolve(), "--platform", flat, "--out", made]
        paths = [trace.resolve(), flat.parent, made.parent]
        done = toolchain().run([str(a) for a in argv], paths=paths, capture=True, check=False)
        if done.returncode:
            raise died(done.returncode, with_names(done.stderr, {made: out, flat: platform.name}))
    return out


def trace_identity(trace: Path) -> str:
    """The checksum of a trace's content, on which its numbers depend (name and compression don't matter)."""
    from tessera.record import traces

    info = traces.info(trace)
    return json.dumps([info["checksum"], info["pools"]], sort_keys=True)


#: The simulator itself; tests put a recorder of calls in its place.
_run = run_simulator


def _say_what_is_kept(stop: BaseException, share: str, done: int, cache: CellCache) -> None:
    if cache.folder is None or (isinstance(stop, TesseraError) and done == 0):
        return
    click.echo(
        f"{share} are finished and kept in {cache.folder}; the same command goes on there",
        err=True,
    )


def _one_line(error: TesseraError) -> str:
    return f"{error.asked}: {error.found}; what to do: {error.remedy}"


def _named(row: dict, simulated: Path | None, path: Path) -> dict:
    """The row for another file with the content of the one that was simulated: the message names this one."""
    if simulated is None or simulated == path or is_ok(row):
        return row
    return row | {"message": row["message"].replace(str(simulated), str(path))}


def _cell(row: dict, workload: str, platform: str, layout: str, engine: str) -> dict:
    ok = is_ok(row)
    timed = ok and row.get("runtime_cycles") is not None
    cell = dict.fromkeys(cells.COLUMNS)
    cell.update({key: value for key, value in row.items() if key not in (UNITS, STRUCTURES)})
    cell.update(workload=workload, platform=platform, layout=layout, repeat=0, engine=engine)
    cell["tlb_provenance"] = "simulated" if ok else ""
    cell["runtime_provenance"] = "simulated" if timed else ""
    return cell
