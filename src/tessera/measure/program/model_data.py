"""What runtime models of a program take: samples under mosaics by this machine's counters, and known slopes.

Slopes say what a walk cycle has cost other programs in runtime: a hint and no bound.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core import reference
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.layouts import generation
from tessera.core.layouts.generation import Space
from tessera.core.layouts.layout import ALL_2MB, ALL_4KB, Layout, read_layout, write_layout
from tessera.core.results.cell_tables import MODELS_OF_RUN
from tessera.core.results.outcomes import ok_rows
from tessera.core.results.table_io import UnreadableTable, read_cells, read_tree_table
from tessera.core.results.tree import ResultsTree
from tessera.core.units import PAGE_2MB, round_up
from tessera.machine.counters import sysfs
from tessera.machine.counters.attributes import attributes, events_file
from tessera.machine.counters.event_table import CounterClass
from tessera.machine.counters.passes import counter_passes
from tessera.machine.reserve import reserve_huge_pages
from tessera.measure.bundles.cell_arithmetic import CountedPart, cell_of_run, counted_part, mean_count
from tessera.measure.counted.counted_run import Ended, RunCounters, launched
from tessera.measure.counted.host import MeasurementSite
from tessera.measure.counted.request import WHOLE, ReadyWorkload
from tessera.measure.launch import huge_pages_needed
from tessera.record.workloads.definition import Size
from tessera.record.workloads.kinds.program import verified
from tessera.record.workloads.program_run import HOST, ProgramRun

# H, M, C and R of a program under mosaics, by this machine's counters: samples for runtime models.
#
# The anchors (all 4KB, all 2MB) are made here, from the memory that the program used under 4KB pages; models
# need both. Each layout runs once a round for each pass of H, M and C; a sample is the mean over rounds. All
# of the program is counted, and no sample is kept.

LEAST_LAYOUTS = 6  #: mosaics beside the anchors; fewer fit no model with an interval
SAMPLE_COLUMNS = ("runtime_cycles", "stlb_hits", "stlb_misses", "walk_cycles")
_NAME = "program"


@dataclass(frozen=True)
class _Pass:
    counted: RunCounters
    roles: tuple[str, ...]


def mosaic_samples(
    program: Sequence[str],
    files: Sequence[Path],
    found: CounterClass,
    where: MeasurementSite,
    *,
    mode: str,
    rounds: int,
    say: Callable[[str], None] = lambda text: None,
) -> pd.DataFrame:
    """A row for each anchor and each layout file: ``layout`` and :data:`SAMPLE_COLUMNS` (counts, cycles).

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
            stack.enter_context(reserve_huge_pages(*huge_pages_needed(wanted), node=where.node))
        numbers: dict[str, list[dict]] = {one.name: [] for one in wanted}
        for number in range(rounds):
            for one in wanted:
                parts = [part for p in made for part in _parts(_run(row, one, work, where, p, binding), p)]
                label = f"{one.name}, round {number + 1}"
                numbers[one.name].append(cell_of_run(label, parts, found))
                say(f"{label}: R {numbers[one.name][-1]['runtime_cycles']:.4g} cycles")
    return pd.DataFrame(
        {
            "layout": name,
            **{column: float(mean_count([row[column] for row in rows])) for column in SAMPLE_COLUMNS},
        }
        for name, rows in numbers.items()
    )


def _row(program: Sequence[str]) -> ReadyWorkload:
    """The program in the caller's folder. Its exit status is its result, unless it prints one."""
    run = ProgramRun(
        tuple(program), folder=Path.cwd(), image=HOST, verify=lambda done: verified(program[0], done)
    )
    return ReadyWorkload(_NAME, Size(_NAME, (), 0, 0, 0), run, "")


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
    spans = {name: span for name, *span in generation.growing_windows(space)}
    return space.layout(ALL_2MB, *space.span(*spans[ALL_2MB]))


def _passes(found: CounterClass, where: MeasurementSite, mode: str, work: Path) -> list[_Pass]:
    made = []
    for one in counter_passes(found, sysfs.counting_machine(where.root)):
        if one.optional:
            continue
        path, wanted = work / f"{one.name}.events", attributes(one, found, where.root, mode=mode)
        path.write_text(events_file(one, found, where.root, mode=mode))
        counted = RunCounters(path, tuple(event.name for event in wanted), WHOLE)
        made.append(_Pass(counted, tuple(event.role for event in wanted)))
    return made


def _run(
    row: ReadyWorkload, layout: Layout, work: Path, where: MeasurementSite, one: _Pass, binding: Sequence[str]
) -> Ended:
    path = work / _NAME / f"{layout.name}.csv"
    write_layout(layout, path)
    ended = launched(row, path, work, where, one.counted, binding, pinned=False)
    if ended.message:
        raise TesseraError(
            f"{row.run.argv[0]} under {layout.name}", ended.message,
            "tessera measure counters check says which events this machine counts", exit_code=EXIT_FAILED,
        )  # fmt: skip
    return ended


def _parts(ended: Ended, one: _Pass) -> list[CountedPart]:
    events = ended.counts.events
    return [counted_part(role, event[1], event[0]) for role, event in zip(one.roles, events, strict=True)]


# What a walk cycle has cost in runtime elsewhere: slopes of other programs, as a hint and no bound.
#
# A slope is cycles of R per cycle of C. One run of a program bounds no gain, because nothing in it tells its
# own slope. The range of known slopes says how far programs differ.

SLOPE_MODEL, SLOPE_TERM = "poly1", "C"  #: the straight line in C, and its slope
PUBLISHED_TABLE = "table7_xalancbmk"  #: MICRO'20 Table 7: one program under 4KB and 2MB pages


@dataclass(frozen=True)
class Slopes:
    """``values``: slope of each pair; ``source``: where they come from, in words."""

    values: tuple[float, ...]
    source: str

    def __str__(self) -> str:
        low, high = min(self.values), max(self.values)
        shown = f"{low:.2g}" if len(self.values) == 1 else f"{low:.2g} to {high:.2g}"
        return f"{shown} ({self.source})"


def published_slopes() -> Slopes:
    """(R of 4KB - R of 2MB pages) / (C of 4KB - C of 2MB pages), as printed."""

    def difference(counter: str) -> float:
        where = {"agent": "program", "counter": counter}
        rows = reference.select_published(PUBLISHED_TABLE, where).set_index("page_size")["value"]
        return rows["4KB"] - rows["2MB"]

    slope = difference("runtime_cycles") / difference("walk_cycles")
    return Slopes((float(slope),), "published: MICRO'20 Table 7, xalancbmk on Broadwell")


def slopes_of_results(folder: Path) -> Slopes | None:
    """Slopes of the pairs of a results folder, with the provenance of their R; None without any."""
    tree = ResultsTree(folder)
    try:
        table, cells = read_tree_table(MODELS_OF_RUN["coefficients"], tree), read_cells(tree.cells)
    except UnreadableTable:
        return None
    rows = table[(table["model"] == SLOPE_MODEL) & (table["term"] == SLOPE_TERM)]
    if rows.empty:
        return None
    values = tuple(float(value) for value in rows["coefficient"])
    pair = ["workload", "platform"]
    kinds = sorted(set(rows[pair].merge(ok_rows(cells), on=pair)["runtime_provenance"]))
    return Slopes(values, f"{' and '.join(kinds)}: {len(values)} pairs of {folder}, model {SLOPE_MODEL}")


def known_slopes(folder: Path) -> Iterator[Slopes]:
    """The published slope, then those of our own pairs if there are any."""
    yield published_slopes()
    if found := slopes_of_results(folder):
        yield found
