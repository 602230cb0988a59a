"""Calibrate the core, simulate marks and programs beside what was measured, write the tables."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import built, sha256_of
from tessera.core.platforms import Platform, load_platform
from tessera.core.results.machine_tables import CLOCK_KEYS, CLOCK_MARKS, CLOCK_PROGRAMS
from tessera.core.results.table_io import frame_of
from tessera.core.units import GB, round_up
from tessera.lab.chase.explain import write_platform
from tessera.lab.clock import calibrate, marks
from tessera.lab.clock.marks import CALIBRATE, NATIVE, PAGES, Cycles, layout_of, marks_of
from tessera.lab.clock.measured import (
    MARK,
    PROGRAM,
    TimedProgram,
    measure_marks_and_programs,
    programs_of,
    read_measured,
    row_of,
)
from tessera.lab.study import Amount, NewFile, Run, study
from tessera.lab.validation.synthetic import Batch, batch
from tessera.record import traces
from tessera.simulate.runner import content_key

# Cycles of marks and programs in the simulator, from one recording of each.
#
# A mark's region holds a round that warms and a round that counts, which are alike. So the accesses of the
# first half warm caches, TLBs and predictors, and the clock runs over the rest (an interval file). A mark
# without accesses is timed as a whole and halved. Programs are timed as a whole, after a pass over the whole
# recording that warms: it stands for the preparation of the program, which a recording leaves out.

RECORDERS = 2  #: recordings at once


@dataclass(frozen=True)
class MarkTrace:
    """A trace on disk, or why there is none."""

    trace: Path
    accesses: int = 0
    instructions: int = 0
    error: str = ""


def record_marks(names: Sequence[str], folder: Path) -> dict[str, MarkTrace]:
    """Records each mark once; those that are in ``folder`` already are kept."""
    program = str(built("workloads", "clockmarks"))
    commands = {name: [program, "--marks", name, "--rounds", "1"] for name in names}
    return record_commands(commands, folder)


def record_commands(
    commands: dict[str, list[str]], folder: Path, paths: Sequence[Path] = ()
) -> dict[str, MarkTrace]:
    """Records commands, a few at once: name -> recording."""
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(RECORDERS) as pool:
        jobs = {
            name: pool.submit(_record, argv, folder / f"{name}.tst", paths) for name, argv in commands.items()
        }
        return {name: job.result() for name, job in jobs.items()}


def _record(argv: list[str], trace: Path, paths: Sequence[Path]) -> MarkTrace:
    try:
        if not trace.exists():
            traces.record_program(argv, trace, anon_pool=2 * GB, paths=paths)
        info = traces.trace_info(trace)
    except TesseraError as error:
        return MarkTrace(trace, error=error.problem)
    return MarkTrace(trace, info["accesses"], info["instructions"])


def simulate_recordings(
    work: Batch, recordings: dict[str, MarkTrace], platform: Platform, pages: str, *, halves: bool
) -> dict[str, float | str]:
    """Cycles of each recording on a platform, or why there are none (``halves``: marks, of two rounds)."""
    flat = work.add_platform(platform.flat())
    runs = {}
    for name, recording in recordings.items():
        if recording.error:
            continue
        pools = {pool["kind"]: pool["used_bytes"] for pool in traces.trace_info(recording.trace)["pools"]}
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


# From what was measured to a calibrated platform and the tables.

RANDOM = "branch-random"


@study(CLOCK_MARKS, CLOCK_PROGRAMS, CLOCK_KEYS)
def clock(
    run: Run, platform: Path, calibrated: NewFile, amount: Amount = "full", measured: Path | None = None
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Compare micro-benchmarks and programs on this machine's clock with the simulated core.

    One half of the micro-benchmarks sets keys of the core; the other half and the programs judge. Without
    reserved pages, the rows with 2MB pages are skipped.

    Example: ./run tessera lab run clock platform=host-sim.yaml calibrated=core.yaml --out /tmp/clock

    Args:
        platform: file of this machine, with sizes and latencies from the pointer chases (explain-chase).
        calibrated: platform file to write.
        amount: that of `measured`; quick has a few marks and programs.
        measured: table of `tessera lab run clock-measure`; default: measure first.
    """
    base = load_platform(platform)
    found = read_measured(measured) if measured else measure_marks_and_programs(amount, run.say)
    chosen, programs = marks_of(amount), programs_of(amount)
    names = [mark.name for mark in chosen]
    folder = run.folder / "clock-recordings" / _built_key(programs)
    run.say(f"clock: recording {len(names)} micro-benchmarks and {len(programs)} programs")
    recordings = record_marks(names, folder)
    recorded = record_commands({p.name: p.argv() for p in programs}, folder)
    with batch() as work:
        run.say("clock: calibrating the core")
        keys = _keys(work, base, found[MARK]["4KB"], recordings)
        after = calibrate.with_keys(base, base.name, keys)
        run.say("clock: simulating")
        cells = {
            pages: simulate_recordings(work, recordings, after, pages, halves=True)
            | simulate_recordings(work, recorded, after, pages, halves=False)
            for pages in PAGES
        }
    write_platform(after, platform, calibrated)
    heads = [(mark.name, {"mark": mark.name, "family": mark.family, "half": mark.half}) for mark in chosen]
    of_marks = _rows(heads, found[MARK], cells, after.name)
    heads = [(program.name, {"program": program.name}) for program in programs]
    of_programs = _rows(heads, found[PROGRAM], cells, after.name)
    shutil.rmtree(folder.parent)  # until here an interrupted run keeps what it recorded
    return (
        frame_of(CLOCK_MARKS, of_marks),
        frame_of(CLOCK_PROGRAMS, of_programs),
        frame_of(CLOCK_KEYS, [_key_row(base, after, one) for one in keys]),
    )


def _built_key(programs: list[TimedProgram]) -> str:
    """Names the programs as they are built: recordings of others are not used."""
    names = sorted({"clockmarks", *(program.command[0] for program in programs)})
    return content_key(*[sha256_of(built("workloads", name)) for name in names])[:16]


def _keys(
    work: Batch, base: Platform, measured: Mapping[str, object], recordings: dict[str, MarkTrace]
) -> list[calibrate.Set]:
    """Keys from the marks that calibrate and were measured. The refill time is last: it needs the others."""
    halves = {mark.name for mark in marks_of("full") if mark.half == CALIBRATE}
    usable = {n: c for n, c in measured.items() if n in halves and isinstance(c, Cycles)}
    units = marks.units()
    if nop := recordings.get(calibrate.ALL_SHARE):
        units[calibrate.ALL_SHARE] = nop.instructions // 2  # two rounds
        if nop.error:
            usable.pop(calibrate.ALL_SHARE, None)
    keys = calibrate.from_marks(usable, units)
    if RANDOM not in usable or recordings[RANDOM].error or base.values["branch.predictor"].value == "perfect":
        return keys

    def simulate(refill: int) -> float:
        tried = calibrate.Set(calibrate.REFILL, refill, (), "tried")
        platform = calibrate.with_keys(base, f"refill-{refill}", [*keys, tried])
        only = {RANDOM: recordings[RANDOM]}
        cycles = simulate_recordings(work, only, platform, "4KB", halves=True)[RANDOM]
        if isinstance(cycles, str):
            raise TesseraError(
                "calibrate branch.refill_cycles", cycles, "report it as a bug", exit_code=EXIT_FAILED
            )
        return cycles

    return [*keys, calibrate.refill(usable[RANDOM], simulate)]


def _key_row(before: Platform, after: Platform, one: calibrate.Set) -> tuple[str, ...]:
    values = [str(platform.values[one.key].value) for platform in (before, after)]
    return (one.key, *values, ", ".join(one.marks), one.measured)


def _rows(heads, measured, cells, platform: str) -> list[dict]:
    """A native and a simulated row of each name and page size."""
    rows = []
    for name, head in heads:
        for pages in PAGES:
            rows.append(
                head
                | {"pages": pages, "source": NATIVE, "provenance": "measured"}
                | row_of(measured[pages].get(name))
            )
            found = cells[pages].get(name, "it was not recorded")
            numbers = {"status": "failed", "message": found} if isinstance(found, str) else _simulated(found)
            rows.append(head | {"pages": pages, "source": platform, "provenance": "simulated"} | numbers)
    return rows


def _simulated(cycles: float) -> dict:
    bounds = {"cycles": cycles, "low_cycles": cycles, "high_cycles": cycles}
    return bounds | {"runs": 1, "status": "ok", "message": ""}
