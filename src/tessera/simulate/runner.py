"""Cells of a trace on a platform: from the cache what is there, from the simulator what is not."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tessera.core.errors import TesseraError
from tessera.core.paths import built
from tessera.layouts.model import canonical_name
from tessera.machine.container import toolchain
from tessera.platforms import Platform
from tessera.results import cells
from tessera.simulate.cache import CellCache, content_key, file_sha256
from tessera.simulate.plan import Plan
from tessera.simulate.process import Job, Progress, died, run

__all__ = ["Progress", "miss_profile", "simulate", "trace_identity"]

#: What units are called in a cached cell.
UNITS = "units"


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
) -> list[dict]:
    """Rows of the cells table, one per layout, in the order of ``layouts``.

    Finished cells of ``cache`` are not simulated again; new ones are put there one by one as their
    group of layouts ends. A layout that the simulator refuses is a ``failed`` row.

    Args:
        threads: threads of the simulator; the result does not depend on it.
        units: gets a row per layout and unit of the plan: ``platform,layout,unit,start_access,instructions,
            accesses,stlb_misses,walk_cycles,runtime_cycles``, unscaled.

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
        file_sha256(simulator),
    ]
    keys = {path: content_key(*base, path.read_text()) for path in layouts}
    found = {key: row for key in set(keys.values()) if (row := cache.get(key)) is not None}
    todo = {keys[path]: path for path in layouts if keys[path] not in found}
    if found:
        progress(f"{len(layouts) - len(todo)} of {len(layouts)} layouts are in the cache")
    if todo:
        path_keys = {path: key for key, path in todo.items()}

        def keep(path: Path, row: dict, counted: list[dict]) -> None:
            key = path_keys[path]
            found[key] = row | {UNITS: counted}
            if row["status"] == "ok":
                cache.put(key, found[key])

        job = Job(simulator, trace, platform, engine, sampling, threads)
        try:
            _run(job, list(path_keys), keep, progress)
        except (SystemExit, TesseraError) as stop:
            _say_what_is_kept(stop, sum(keys[path] in found for path in layouts), len(layouts), cache)
            raise
    names = {path: canonical_name(path.stem) for path in layouts}
    if units is not None:
        for path in layouts:
            head = {"platform": platform.name, "layout": names[path]}
            units += [head | unit for unit in found[keys[path]].get(UNITS, [])]
    return [_cell(found[keys[path]], workload, platform.name, names[path], engine) for path in layouts]


def miss_profile(trace: Path, platform: Platform, out: Path) -> Path:
    """STLB misses under 4KB pages per 2MB region: CSV ``pool,offset_bytes,stlb_misses``."""
    simulator = built("simulator", "tessera-sim")
    flat = out.with_suffix(".platform")
    flat.write_text(platform.flat())
    argv = [simulator, "profile", "--trace", trace.resolve(), "--platform", flat, "--out", out]
    paths = [trace.resolve(), out.parent]
    done = toolchain().run([str(a) for a in argv], paths=paths, capture=True, check=False)
    if done.returncode:
        raise died(done.returncode, done.stderr)
    return out


def trace_identity(trace: Path) -> str:
    """What a trace's numbers depend on: its content checksum (name and compression don't matter)."""
    from tessera.record import traces

    info = traces.info(trace)
    return json.dumps([info["checksum"], info["pools"]], sort_keys=True)


#: The simulator itself; tests put a recorder of calls in its place.
_run = run


def _say_what_is_kept(stop: BaseException, done: int, all_layouts: int, cache: CellCache) -> None:
    if cache.folder is None or (isinstance(stop, TesseraError) and done == 0):
        return
    click.echo(
        f"{done} of {all_layouts} layouts are finished and kept in {cache.folder}; "
        "the same command goes on there",
        err=True,
    )


def _cell(row: dict, workload: str, platform: str, layout: str, engine: str) -> dict:
    ok = row["status"] == "ok"
    timed = ok and row.get("runtime_cycles") is not None
    cell = dict.fromkeys(cells.COLUMNS)
    cell.update({key: value for key, value in row.items() if key != UNITS})
    cell.update(workload=workload, platform=platform, layout=layout, repeat=0, engine=engine)
    cell["tlb_provenance"] = "simulated" if ok else ""
    cell["runtime_provenance"] = "simulated" if timed else ""
    return cell
