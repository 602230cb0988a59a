"""The table of comparisons: what was compared, how much of it is equal, and the first difference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from tessera.lab.oracle import allocator, collapse, paging, process_faults, readahead, scenes
from tessera.lab.oracle.recording import Recording
from tessera.lab.oracle.scenes import SCENES

#: Other unmovable memory of the kernel, slabs for example, comes from the same lists; the imitation has none.
TABLES = "frames of the process's tables"


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Attributes:
        what: what was compared.
        compared, equal: numbers of values.
        first: the first difference; empty if there is none.
    """

    what: str
    compared: int
    equal: int
    first: str = ""

    @property
    def share(self) -> str:
        """Share of equal values, in per cent."""
        return f"{100 * self.equal / self.compared:.4f}" if self.compared else "-"


@dataclass(frozen=True)
class Programs:
    """The imitation's programs."""

    phys: Path
    collapse: Path
    vm: Path


def comparison_rows(recording: Recording, events, programs: Programs) -> list[Row]:
    """All comparisons that a recording allows without a guest."""
    return [
        *event_rows(recording, events, programs.phys),
        *count_rows(recording, programs.phys),
        *collapse_rows(recording, programs.collapse),
        *fault_rows(recording, programs.vm),
        *file_rows(recording, programs.vm),
        copy_row(recording, programs.vm),
        *swap_rows(recording, programs.vm),
        *move_rows(recording, programs.vm),
        *list_rows(recording, programs.vm),
    ]


def event_rows(recording: Recording, events, phys: Path) -> list[Row]:
    """Mixed events: free-running, and each kept block from the guest's own lists."""
    done = allocator.replay_events(phys, recording.states[0], events)
    free = allocator.free_running(events, recording.frames, done)
    found = [Row(f"{free.events} events, free-running", free.decisions, free.equal, _text(free.first))]
    if len(events) in recording.states:
        end = recording.states[len(events)]
        same = end == done.state
        first = "" if same else allocator.first_difference(end, done.state)
        found.append(Row("whole state after all events", 1, int(same), first))
    blocks = allocator.Comparison()
    size = recording.facts["block"]
    for start in sorted(recording.states):
        stop = start + size
        if stop in recording.states and stop <= len(events):
            before, after = recording.states[start], recording.states[stop]
            at = slice(start, stop)
            allocator.compare_block(blocks, phys, (before, after), events, at, recording.frames[:stop])
    name = f"{blocks.blocks} blocks of {size} events from the guest's lists"
    found.append(Row(f"{name}: requests", blocks.decisions, blocks.equal, _text(blocks.first)))
    first = blocks.state_differences[0] if blocks.state_differences else ""
    found.append(Row(f"{name}: whole states", blocks.blocks, blocks.equal_states, first))
    return found


def count_rows(recording: Recording, phys: Path) -> list[Row]:
    """The kernel's own counts and indices, over all moments."""
    checked = [allocator.check_counts(phys, state, text) for state, text in recording.counts.values()]
    files = sorted({file for one in checked for file in one.compared})
    return [
        Row(
            f"{file}, {len(checked)} moments",
            sum(one.compared[file] for one in checked),
            sum(one.equal[file] for one in checked),
            next((one.first[file] for one in checked if file in one.first), ""),
        )
        for file in files
    ]


def collapse_rows(recording: Recording, program: Path) -> list[Row]:
    """khugepaged's table, by limits."""
    found = []
    for limits, guest in recording.decisions.items():
        mine = collapse.imitated(program, recording.cells, limits)
        wrong = [
            f"{cell}: the guest {theirs}, the imitation {ours}"
            for cell, theirs, ours in zip(recording.cells, guest, mine, strict=True)
            if theirs != ours
        ]
        none, swap = limits.split(":")
        name = f"khugepaged, max_ptes_none {none}, max_ptes_swap {swap}: ranges"
        found.append(Row(name, len(guest), len(guest) - len(wrong), wrong[0] if wrong else ""))
    return found


def fault_rows(recording: Recording, program: Path) -> list[Row]:
    """Frames of a process: pages that are new at a look, and the tables at the last one."""
    process = recording.faults
    mine = process_faults.imitated_frames(
        program, process_faults.with_root(process.state, process.root), process.events
    )
    looks = process_faults.compare_frames(process.looks, mine)
    accesses = sum(event.startswith("touch") for event in process.events)
    first = next((f"look {one.look}: {one.first}" for one in looks if one.first), "")
    pages = (sum(one.pages for one in looks), sum(one.equal_pages for one in looks))
    missing = next((one.look for one in looks if one.equal_tables < one.tables), "")
    last = looks[-1]
    return [
        Row(f"{accesses} accesses of a process: frames of pages, {len(looks)} looks", *pages, first),
        Row(TABLES, last.tables, last.equal_tables, f"since look {missing}" if missing else ""),
    ]


def file_rows(recording: Recording, program: Path) -> list[Row]:
    """Readahead of reads; readahead and fault-around of accesses to a mapping."""
    lines, printed = recording.files
    found = readahead.compare_file_steps(
        lines, readahead.guest_file_steps(printed), readahead.imitated_file_steps(program, lines)
    )
    names = {
        "read": "reads: pages that readahead added",
        "touch": "accesses to a mapped file: pages added and mapped",
    }
    return [Row(names[kind], one.events, one.equal, one.first) for kind, one in found.items()]


def copy_row(recording: Recording, program: Path) -> Row:
    """Copy on write."""
    lines, letters = recording.copies
    found = process_faults.compare_copies(lines, letters, process_faults.imitated_copies(program, lines))
    return Row(
        f"accesses after fork, {found.copies} of them copies: copy or reuse",
        found.accesses,
        found.equal,
        found.first,
    )


def swap_rows(recording: Recording, program: Path) -> list[Row]:
    """Slots of swap, and what swap faults read."""
    lines, printed = recording.swaps
    slots, steps = readahead.compare_swaps(
        lines, readahead.guest_swap_run(printed), readahead.imitated_swap_run(program, lines)
    )
    return [
        Row("pages that went to swap: their slots", slots.values, slots.equal, slots.first),
        Row("accesses to swapped memory: pages that readahead added", steps.values, steps.equal, steps.first),
    ]


def _both(recording: Recording, program: Path, name: str):
    """Maps of a process in the guest and in the imitation."""
    process, scene = recording.pagings[name], SCENES[name]
    replayed = replace(process, events=scene.replayed(process.events))
    return process.looks, paging.imitated_maps(program, replayed, scene.options)


def move_rows(recording: Recording, program: Path) -> list[Row]:
    """Compaction: pages that moved, and new pages of faults that compacted. Pages of a pool of huge pages."""
    found = []
    for name, what in (("compact", "compact_memory"), ("direct", "compaction for faults of 2MB")):
        guest, mine = _both(recording, program, name)
        for moved, which in ((True, "pages that moved"), (False, "new pages")):
            one = paging.compare_maps(guest, mine, moved=moved)
            found.append(Row(f"{what}: frames of {which}", one.pages, one.equal, one.first))
    guest, mine = _both(recording, program, "pool")
    parts = [paging.compare_maps(guest, mine, moved=moved, span=512) for moved in (True, False)]
    first = next((one.first for one in parts if one.first), "")
    counts_ = (sum(one.pages for one in parts), sum(one.equal for one in parts))
    return [*found, Row("a pool of huge pages: frames of pages of 2MB", *counts_, first)]


def list_rows(recording: Recording, program: Path) -> list[Row]:
    """Pages that reclaim took: by request, and kswapd."""
    guest, mine = _both(recording, program, "reclaim")
    found = [("reclaim by request, free-running: pages taken", scenes.compare_reclaimed(guest, mine))]
    guest, mine = _both(recording, program, "kswapd")
    found.append(
        ("kswapd, free-running: pages taken between two looks", scenes.compare_reclaimed(guest, mine))
    )
    found.append(("kswapd, free-running: pages taken first", scenes.compare_reclaim_order(guest, mine)))
    return [Row(what, one.pages, one.equal, one.first) for what, one in found]


def _text(difference) -> str:
    return str(difference) if difference else ""


def failed_rows(found: list[Row]) -> list[Row]:
    """Rows below 99.9%. The free-running replay and the frames of tables may diverge: they never fail."""
    free = [row for row in found if "free-running" in row.what or row.what == TABLES]
    return [row for row in found if row not in free and row.equal < 0.999 * row.compared]
