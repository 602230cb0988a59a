"""Calibrate the core on the calibrating half of what was measured, simulate all, write the tables."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import sha256_of
from tessera.core.paths import built
from tessera.judge.clock import calibrate, native, simulated
from tessera.judge.clock.marks import CALIBRATE, marks_of
from tessera.judge.clock.measured import MARK, PROGRAM, Measured, row_of
from tessera.judge.clock.native import PAGES, Cycles, Progress
from tessera.judge.clock.programs import Program, programs_of
from tessera.judge.validation.chase.explain import write_platform
from tessera.judge.validation.synthetic.batch import Batch, batch
from tessera.platforms import Platform, load
from tessera.results.schema.clock import CLOCK_KEYS, CLOCK_MARKS, CLOCK_PROGRAMS
from tessera.results.write import frame_of, write
from tessera.simulate.cache import content_key

NATIVE = "native"
RANDOM = "branch-random"


def against_this_machine(
    platform: Path,
    calibrated: Path,
    out: Path,
    scale: str,
    measured: Measured,
    progress: Progress = lambda text: None,
) -> None:
    """Write ``calibrated`` (a platform file) and the tables of marks, programs and keys below ``out``.

    Args:
        platform: this machine, with sizes and latencies from the pointer chases.
        scale: ``default`` or ``smoke``: that of ``measured`` (:mod:`tessera.judge.clock.measured`).
    """
    marks, programs = marks_of(scale), programs_of(scale)
    names = [mark.name for mark in marks]
    folder = out / "clock-recordings" / _built_key(programs)
    progress(f"clock: recording {len(names)} micro-benchmarks and {len(programs)} programs")
    recordings = simulated.record_marks(names, folder)
    recorded = simulated.record_all({p.name: p.argv() for p in programs}, folder)
    base = load(platform)
    with batch() as work:
        progress("clock: calibrating the core")
        keys = _keys(work, base, measured[MARK]["4KB"], recordings)
        after = calibrate.with_keys(base, base.name, keys)
        progress("clock: simulating")
        cells = {
            pages: simulated.simulate_all(work, recordings, after, pages, halves=True)
            | simulated.simulate_all(work, recorded, after, pages, halves=False)
            for pages in PAGES
        }
    write_platform(after, platform, calibrated)
    write(
        CLOCK_KEYS, frame_of(CLOCK_KEYS, [_key_row(base, after, one) for one in keys]), out / CLOCK_KEYS.file
    )
    heads = [(mark.name, {"mark": mark.name, "family": mark.family, "half": mark.half}) for mark in marks]
    rows = _rows(heads, measured[MARK], cells, after.name)
    write(CLOCK_MARKS, frame_of(CLOCK_MARKS, rows), out / CLOCK_MARKS.file)
    heads = [(program.name, {"program": program.name}) for program in programs]
    rows = _rows(heads, measured[PROGRAM], cells, after.name)
    write(CLOCK_PROGRAMS, frame_of(CLOCK_PROGRAMS, rows), out / CLOCK_PROGRAMS.file)
    shutil.rmtree(folder.parent)  # until here an interrupted run keeps what it recorded


def _built_key(programs: list[Program]) -> str:
    """Names the programs as they are built: recordings of others are not used."""
    names = sorted({"clockmarks", *(program.command[0] for program in programs)})
    return content_key(*[sha256_of(built("workloads", name)) for name in names])[:16]


def _keys(
    work: Batch, base: Platform, measured: Mapping[str, object], recordings: dict[str, simulated.Recording]
) -> list[calibrate.Set]:
    """Keys from the marks that calibrate and were measured. The refill time is last: it needs the others."""
    halves = {mark.name for mark in marks_of("default") if mark.half == CALIBRATE}
    usable = {n: c for n, c in measured.items() if n in halves and isinstance(c, Cycles)}
    units = native.units()
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
        cycles = simulated.simulate_all(work, only, platform, "4KB", halves=True)[RANDOM]
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
