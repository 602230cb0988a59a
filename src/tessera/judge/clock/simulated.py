"""Cycles of marks and programs in the simulator, from one recording of each.

A mark's region holds a round that warms and a round that counts, which are alike. So the accesses of the
first half warm caches, TLBs and predictors, and the clock runs over the rest (an interval file). A mark
without accesses is timed as a whole and halved. Programs are timed as a whole, after a pass over the whole
recording that warms: it stands for the preparation of the program, which a recording leaves out.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.paths import built
from tessera.core.units import GB, round_up
from tessera.judge.clock.native import layout_of
from tessera.judge.validation.synthetic.batch import Batch
from tessera.platforms import Platform
from tessera.record import traces

RECORDERS = 2  #: recordings at once


@dataclass(frozen=True)
class Recording:
    """A trace on disk, or why there is none."""

    trace: Path
    accesses: int = 0
    instructions: int = 0
    error: str = ""


def record_marks(names: Sequence[str], folder: Path) -> dict[str, Recording]:
    """Records each mark once; those that are in ``folder`` already are kept."""
    program = str(built("workloads", "clockmarks"))
    commands = {name: [program, "--marks", name, "--rounds", "1"] for name in names}
    return record_all(commands, folder)


def record_all(
    commands: dict[str, list[str]], folder: Path, paths: Sequence[Path] = ()
) -> dict[str, Recording]:
    """Records commands, a few at once: name -> recording."""
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(RECORDERS) as pool:
        jobs = {
            name: pool.submit(_record, argv, folder / f"{name}.tst", paths) for name, argv in commands.items()
        }
        return {name: job.result() for name, job in jobs.items()}


def _record(argv: list[str], trace: Path, paths: Sequence[Path]) -> Recording:
    try:
        if not trace.exists():
            traces.record(argv, trace, anon_pool=2 * GB, paths=paths)
        info = traces.info(trace)
    except TesseraError as error:
        return Recording(trace, error=f"{error.asked}: {error.found}")
    return Recording(trace, info["accesses"], info["instructions"])


def simulate_all(
    work: Batch, recordings: dict[str, Recording], platform: Platform, pages: str, *, halves: bool
) -> dict[str, float | str]:
    """Cycles of each recording on a platform, or why there are none (``halves``: marks, of two rounds)."""
    flat = work.add_platform(platform.flat())
    runs = {}
    for name, recording in recordings.items():
        if recording.error:
            continue
        pools = {pool["kind"]: pool["used_bytes"] for pool in traces.info(recording.trace)["pools"]}
        layout = layout_of(
            pages, round_up(max(pools.get("mmap", 0), 1), GB), round_up(max(pools.get("brk", 0), 1), GB)
        )
        layouts = work.add_layouts([layout])
        warm = recording.accesses // 2 if halves and recording.accesses > recording.instructions // 64 else 0
        options = {}
        if warm:
            intervals, units = (
                work.folder / f"{name}.intervals",
                work.folder / f"{name}-{platform.name}-{pages}.units",
            )
            intervals.write_text(
                "start_access,warmup_accesses,timed_instructions,weight\n"
                + f"0,{warm},{recording.instructions},1\n"
            )
            options = {"--interval-file": str(intervals), "--interval-out": str(units)}
        if not halves:
            options = {"--warm-passes": "1"}
        runs[name] = (work.add_run(recording.trace, flat, layouts, "timing", options=options), warm, options)
    work.run(sorted({recording.trace.parent for recording in recordings.values()}))
    found: dict[str, float | str] = {
        name: recording.error for name, recording in recordings.items() if recording.error
    }
    for name, (out, warm, options) in runs.items():
        rows = work.rows(out)
        if rows.error:
            found[name] = rows.error
        elif warm:
            with Path(options["--interval-out"]).open() as stream:
                found[name] = float(next(csv.DictReader(stream))["runtime_cycles"])
        else:
            whole = float(next(iter(rows.by_layout.values()))["runtime_cycles"])
            found[name] = whole / 2 if halves else whole
    return found
