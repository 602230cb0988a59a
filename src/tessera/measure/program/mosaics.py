"""H, M, C and R of a program under mosaics, by this machine's counters: samples for runtime models.

The anchors (all 4KB, all 2MB) are made here, from the memory that the program used under 4KB pages; models
need both. Each layout runs once a round for each pass of H, M and C; a sample is the mean over rounds. All of
the program is counted, and no sample is kept.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.bundles.cells import Part, part
from tessera.bundles.numbers import of_run
from tessera.bundles.rows import mean
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.units import PAGE_2MB, round_up
from tessera.counters import sysfs
from tessera.counters.attributes import attributes, events_file
from tessera.counters.classes import CounterClass
from tessera.counters.passes import passes
from tessera.layouts import heuristics
from tessera.layouts.model import Layout, read_layout, write_layout
from tessera.layouts.names import ALL_2MB, ALL_4KB
from tessera.layouts.space import Space
from tessera.machine.reserve import reserve_huge_pages
from tessera.measure.counted.here import Here
from tessera.measure.counted.launched import Counted, Ended, launched
from tessera.measure.counted.request import WHOLE
from tessera.measure.counted.rows import Row
from tessera.measure.start import pages_needed
from tessera.record.workloads.kinds.program import verified
from tessera.record.workloads.model import Size
from tessera.record.workloads.run import HOST
from tessera.record.workloads.run import Run as ProgramRun

LEAST = 6  #: mosaics beside the anchors; fewer fit no model with an interval
COLUMNS = ("runtime_cycles", "stlb_hits", "stlb_misses", "walk_cycles")
_NAME = "program"


@dataclass(frozen=True)
class _Pass:
    counted: Counted
    roles: tuple[str, ...]


def samples(
    program: Sequence[str],
    files: Sequence[Path],
    found: CounterClass,
    where: Here,
    *,
    mode: str,
    rounds: int,
    say: Callable[[str], None] = lambda text: None,
) -> pd.DataFrame:
    """A row for each anchor and each layout file: ``layout`` and :data:`COLUMNS` (counts, cycles).

    Raises:
        TesseraError: the class does not count C; layouts have different pools or one name; a run fails.
    """
    if not found.sides("C"):
        raise TesseraError(
            f"models of {program[0]}", f"{found.name} has no event of C, which models need", "use --try alone"
        )
    layouts = _read(files)
    row = _row(program)
    with tempfile.TemporaryDirectory(prefix="tessera-mosaics-") as name, ExitStack() as stack:
        work = Path(name)
        small = Layout(ALL_4KB, layouts[0].pool_bytes)
        made = _passes(found, where, mode, work)
        binding = where.binding(found)
        used = _run(row, small, work, where, made[0], binding).used_bytes  # its counts are not used
        wanted = [small, _all_2mb(used, small.pool_bytes), *layouts]
        if not where.rehearsal:
            stack.enter_context(reserve_huge_pages(*pages_needed(wanted), node=where.node))
        numbers: dict[str, list[dict]] = {one.name: [] for one in wanted}
        for number in range(rounds):
            for one in wanted:
                parts = [part for p in made for part in _parts(_run(row, one, work, where, p, binding), p)]
                label = f"{one.name}, round {number + 1}"
                numbers[one.name].append(of_run(label, parts, found))
                say(f"{label}: R {numbers[one.name][-1]['runtime_cycles']:.4g} cycles")
    return pd.DataFrame(
        {"layout": name, **{column: float(mean([row[column] for row in rows])) for column in COLUMNS}}
        for name, rows in numbers.items()
    )


def _row(program: Sequence[str]) -> Row:
    """The program in the caller's folder. Its exit status is its result, unless it prints one."""
    run = ProgramRun(
        tuple(program), folder=Path.cwd(), image=HOST, verify=lambda done: verified(program[0], done)
    )
    return Row(_NAME, Size(_NAME, (), 0, 0, 0), run, "")


def _read(files: Sequence[Path]) -> list[Layout]:
    layouts = [read_layout(path) for path in files]
    names = [one.name for one in layouts]
    if twice := [name for name in names if names.count(name) > 1 or name in (ALL_4KB, ALL_2MB)]:
        raise TesseraError(
            f"layout {twice[0]}", "another sample has this name (all 4KB and all 2MB are made)", "rename it"
        )
    if other := [one.name for one in layouts if one.pool_bytes != layouts[0].pool_bytes]:
        raise TesseraError(
            f"layout {other[0]}", f"its pools differ from those of {names[0]}", "make them equal"
        )
    return layouts


def _all_2mb(used: dict[str, int], pools: dict[str, int]) -> Layout:
    """2MB pages for all memory that the program used."""
    space = Space({pool: round_up(used.get(pool, 0), PAGE_2MB) for pool in pools}, pools)
    spans = {name: span for name, *span in heuristics.growing(space)}
    return space.layout(ALL_2MB, *space.span(*spans[ALL_2MB]))


def _passes(found: CounterClass, where: Here, mode: str, work: Path) -> list[_Pass]:
    made = []
    for one in passes(found, sysfs.machine(where.root)):
        if one.optional:
            continue
        path, wanted = work / f"{one.name}.events", attributes(one, found, where.root, mode=mode)
        path.write_text(events_file(one, found, where.root, mode=mode))
        counted = Counted(path, tuple(event.name for event in wanted), WHOLE)
        made.append(_Pass(counted, tuple(event.role for event in wanted)))
    return made


def _run(row: Row, layout: Layout, work: Path, where: Here, one: _Pass, binding: Sequence[str]) -> Ended:
    path = work / _NAME / f"{layout.name}.csv"
    write_layout(layout, path)
    ended = launched(row, path, work, where, one.counted, binding, pinned=False)
    if ended.message:
        raise TesseraError(
            f"{row.run.argv[0]} under {layout.name}", ended.message,
            "tessera counters check says which events this machine counts", exit_code=EXIT_FAILED,
        )  # fmt: skip
    return ended


def _parts(ended: Ended, one: _Pass) -> list[Part]:
    events = ended.counts.events
    return [part(role, event[1], event[0]) for role, event in zip(one.roles, events, strict=True)]
