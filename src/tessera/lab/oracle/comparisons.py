"""The table of comparisons: what was compared, how much of it is equal, and the first difference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from tessera.core.files import built
from tessera.core.results.schema import Table, columns
from tessera.core.results.table_io import frame_of
from tessera.lab.oracle import allocator, collapse, paging, process_faults, readahead, scenes
from tessera.lab.oracle.imitation import Agreement
from tessera.lab.oracle.recording import GuestHistory, read_history
from tessera.lab.oracle.scenes import SCENES
from tessera.lab.study import Count, Run, printed, study

#: Other unmovable memory of the kernel, slabs for example, comes from the same lists; the imitation has none.
TABLES = "frames of the process's tables"
RECORDING = "tests/oracle/recording"
COMPARISONS = Table(
    "oracle-comparisons", lambda tree: Path("comparisons.csv"), "tessera lab run oracle-compare", "none",
    "decisions of Linux 6.12 in a guest beside the imitation's", columns("""
    compared          text   -        values that are compared
    number            count  1        how many
    equal             count  1        equal ones of them
    share             text   percent  share of equal ones, or - if there are none to compare
    first_difference  text   -        the first one that differs; empty if none does
    """),
)  # fmt: skip


@dataclass(frozen=True)
class Programs:
    """The imitation's programs."""

    phys: Path
    collapse: Path
    vm: Path


def comparison_rows(recording: GuestHistory, events, programs: Programs) -> list[Agreement]:
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


def event_rows(recording: GuestHistory, events, phys: Path) -> list[Agreement]:
    """Mixed events: free-running, and each kept block from the guest's own lists."""
    done = allocator.replay_events(phys, recording.states[0], events)
    free = allocator.free_running(events, recording.frames, done)
    found = [
        Agreement(free.decisions, free.equal, str(free.first or ""), f"{free.events} events, free-running")
    ]
    if len(events) in recording.states:
        end = recording.states[len(events)]
        same = end == done.state
        first = "" if same else allocator.first_divergence(end, done.state)
        found.append(Agreement(1, int(same), first, "whole state after all events"))
    blocks = allocator.Comparison()
    size = recording.facts["block"]
    for start in sorted(recording.states):
        stop = start + size
        if stop in recording.states and stop <= len(events):
            before, after = recording.states[start], recording.states[stop]
            at = slice(start, stop)
            allocator.compare_block(blocks, phys, (before, after), events, at, recording.frames[:stop])
    name = f"{blocks.blocks} blocks of {size} events from the guest's lists"
    found.append(Agreement(blocks.decisions, blocks.equal, str(blocks.first or ""), f"{name}: requests"))
    first = blocks.state_differences[0] if blocks.state_differences else ""
    found.append(Agreement(blocks.blocks, blocks.equal_states, first, f"{name}: whole states"))
    return found


def count_rows(recording: GuestHistory, phys: Path) -> list[Agreement]:
    """The kernel's own counts and indices, over all moments."""
    checked = [allocator.check_counts(phys, state, text) for state, text in recording.counts.values()]
    return [
        sum((one[file] for one in checked if file in one), Agreement()).named(
            f"{file}, {len(checked)} moments"
        )
        for file in sorted({file for one in checked for file in one})
    ]


def collapse_rows(recording: GuestHistory, program: Path) -> list[Agreement]:
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
        found.append(Agreement(len(guest), len(guest) - len(wrong), wrong[0] if wrong else "", name))
    return found


def fault_rows(recording: GuestHistory, program: Path) -> list[Agreement]:
    """Frames of a process: pages that are new at a look, and the tables at the last one."""
    process = recording.faults
    mine = process_faults.imitated_frames(
        program, process_faults.with_root(process.state, process.root), process.events
    )
    looks = process_faults.compare_frames(process.looks, mine)
    accesses = sum(event.startswith("touch") for event in process.events)
    pages = sum((pages for pages, _ in looks.values()), Agreement())
    missing = next((look for look, (_, one) in looks.items() if one.equal < one.compared), "")
    _, tables = list(looks.values())[-1]
    return [
        pages.named(f"{accesses} accesses of a process: frames of pages, {len(looks)} looks"),
        replace(tables, first=f"since look {missing}" if missing else "", what=TABLES),
    ]


def file_rows(recording: GuestHistory, program: Path) -> list[Agreement]:
    """Readahead of reads; readahead and fault-around of accesses to a mapping."""
    lines, printed = recording.files
    found = readahead.compare_file_steps(
        lines, readahead.guest_file_steps(printed), readahead.imitated_file_steps(program, lines)
    )
    names = {
        "read": "reads: pages that readahead added",
        "touch": "accesses to a mapped file: pages added and mapped",
    }
    return [one.named(names[kind]) for kind, one in found.items()]


def copy_row(recording: GuestHistory, program: Path) -> Agreement:
    """Copy on write."""
    lines, letters = recording.copies
    found = process_faults.compare_copies(lines, letters, process_faults.imitated_copies(program, lines))
    return found.named(f"accesses after fork, {letters.count('o')} of them copies: copy or reuse")


def swap_rows(recording: GuestHistory, program: Path) -> list[Agreement]:
    """Slots of swap, and what swap faults read."""
    lines, printed = recording.swaps
    slots, steps = readahead.compare_swaps(
        lines, readahead.guest_swap_run(printed), readahead.imitated_swap_run(program, lines)
    )
    return [
        slots.named("pages that went to swap: their slots"),
        steps.named("accesses to swapped memory: pages that readahead added"),
    ]


def _both(recording: GuestHistory, program: Path, name: str):
    """Maps of a process in the guest and in the imitation."""
    process, scene = recording.pagings[name], SCENES[name]
    replayed = replace(process, events=scene.replayed(process.events))
    return process.looks, paging.imitated_maps(program, replayed, scene.options)


def move_rows(recording: GuestHistory, program: Path) -> list[Agreement]:
    """Compaction: pages that moved, and new pages of faults that compacted. Pages of a pool of huge pages."""
    found = []
    for name, what in (("compact", "compact_memory"), ("direct", "compaction for faults of 2MB")):
        guest, mine = _both(recording, program, name)
        for moved, which in ((True, "pages that moved"), (False, "new pages")):
            one = paging.page_differences(guest, mine, moved=moved)
            found.append(one.named(f"{what}: frames of {which}"))
    guest, mine = _both(recording, program, "pool")
    parts = [paging.page_differences(guest, mine, moved=moved, span=512) for moved in (True, False)]
    return [*found, sum(parts, Agreement()).named("a pool of huge pages: frames of pages of 2MB")]


def list_rows(recording: GuestHistory, program: Path) -> list[Agreement]:
    """Pages that reclaim took: by request, and kswapd."""
    guest, mine = _both(recording, program, "reclaim")
    by_request = scenes.compare_reclaimed(guest, mine)
    guest, mine = _both(recording, program, "kswapd")
    return [
        by_request.named("reclaim by request, free-running: pages taken"),
        scenes.compare_reclaimed(guest, mine).named("kswapd, free-running: pages taken between two looks"),
        scenes.compare_reclaim_order(guest, mine).named("kswapd, free-running: pages taken first"),
    ]


def disagreements(found: list[Agreement]) -> list[Agreement]:
    """Rows below 99.9%. The free-running replay and the frames of tables may diverge: they never fail."""
    free = [row for row in found if "free-running" in row.what or row.what == TABLES]
    return [row for row in found if row not in free and row.equal < 0.999 * row.compared]


def built_programs() -> Programs:
    """Raises: TesseraError: the imitation is not built."""
    return Programs(*(built("imitation", f"tessera-{name}") for name in ("phys", "collapse", "vm")))


@study(COMPARISONS, show=printed())
def compare(run: Run, recording: Path = Path(RECORDING), events: Count | None = None) -> pd.DataFrame:
    """Replay a recording of the guest in the imitation; compare their decisions.

    The exit status is 1 if less than 99.9% of the decisions from the guest's own lists, or of the other
    values, are equal.

    Example: ./run tessera lab run oracle-compare events=50000 --out /tmp/comparisons.csv

    Args:
        recording: folder that `tessera lab oracle record` wrote.
        events: replay the first events only; default: all.

    Raises:
        TesseraError: no recording, or the imitation is not built.
    """
    loaded, made = read_history(recording, events)
    found = comparison_rows(loaded, made, built_programs())
    run.wrong.extend(
        f"{row.what}: {row.share}% are equal; first: {row.first}" for row in disagreements(found)
    )
    return frame_of(COMPARISONS, [(row.what, row.compared, row.equal, row.share, row.first) for row in found])
