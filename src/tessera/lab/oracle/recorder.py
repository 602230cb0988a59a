"""Everything that a recording has: mixed events block by block, counts and indices, khugepaged's table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np

from tessera.lab.oracle import allocator, collapse, process_faults, readahead
from tessera.lab.oracle.comparisons import Programs
from tessera.lab.oracle.guest_runs import (
    MACHINE,
    Oracle,
    run_collapse,
    run_copies,
    run_counts,
    run_events,
    run_faults,
    run_files,
    run_swaps,
)
from tessera.lab.oracle.imitation import FREE, NONE, Mix, mixed_events
from tessera.lab.oracle.recording import Faults, GuestHistory
from tessera.lab.oracle.scenes import SCENES

#: Frames of the machine: fill levels of the mix are shares of them.
FRAMES = 225_000
#: Blocks whose states are kept for the tests.
KEPT_BLOCKS = 10
#: Cells of one process in the guest: 128 MB, and as much again when all collapse.
BATCH = 64


def record_history(
    oracle: Oracle,
    programs: Programs,
    out: Path,
    logs: Path,
    *,
    events: int,
    block: int,
    seed: int,
    say: Callable[[str], None],
) -> str:
    """Run the guest for each part and save the recording; returns the result block by block.

    Args:
        out: folder of the recording.
        logs: folder for the files that the guest leaves.
    """
    mix = Mix(seed, events, FRAMES)
    say(f"{events} events in the guest, its lists before each {block}")
    all_events = mixed_events(mix)
    result, states, frames, release = _events(oracle, programs, all_events, block, logs)
    say("counts and indices of the guest")
    counts = {
        moment: (_without_lru(state), text)
        for moment, (state, text) in run_counts(oracle, logs / "counts").items()
    }
    say("khugepaged's table")
    cells = collapse.range_cells()
    printed = run_collapse(oracle, cells, list(collapse.LIMITS), BATCH, logs / "collapse")
    decisions = collapse.guest_decisions(printed, cells)
    say("faults of a process")
    calls = process_faults.fault_events()
    state, looks, root = run_faults(oracle, calls, logs / "faults")
    process = Faults(calls, state, root, looks)
    say("reads and faults of files")
    accesses = readahead.file_events()
    printed_files = run_files(oracle, accesses, logs / "files")
    say("copy on write")
    forks = process_faults.copy_events()
    letters = run_copies(oracle, forks, logs / "copies")
    say("slots of swap and pages read ahead")
    swapped = readahead.swap_events()
    printed_swaps = run_swaps(oracle, swapped, logs / "swaps")
    pagings = {}
    for name, scene in SCENES.items():
        say(f"maps of a process: {name}")
        pagings[name] = scene.record(oracle, logs / name)
    facts = {
        "kernel": release,
        "configuration": "artifacts/kernel/config: base, oracle",
        "machine": asdict(MACHINE),
        "mix": asdict(mix),
        "block": block,
        "block_by_block": {
            "events": result.events,
            "requests": result.decisions,
            "requests_refused": result.refused,
            "requests_equal": result.equal,
            "first_difference": str(result.first) if result.first else None,
            "blocks": result.blocks,
            "blocks_with_equal_state": result.equal_states,
            "state_differences": result.state_differences,
        },
    }
    recording = GuestHistory(
        facts,
        mix,
        frames,
        states,
        counts,
        cells,
        decisions,
        process,
        (accesses, printed_files),
        (forks, letters),
        (swapped, printed_swaps),
        pagings,
    )
    recording.save(out, all_events)
    return (
        f"{result.events} events, {result.decisions} requests, {result.refused} refused; "
        f"equal {result.equal} ({100 * result.share:.4f}%); "
        f"{result.equal_states} of {result.blocks} states equal; first difference: {result.first or 'none'}"
    )


def _events(oracle: Oracle, programs: Programs, events: np.ndarray, block: int, logs: Path):
    """Result, kept states, frames by event, and the kernel's version."""
    result = allocator.Comparison()
    blocks = -(-len(events) // block)
    every = max(1, blocks // KEPT_BLOCKS)
    kept: dict[int, str] = {}
    last: tuple[int, str] | None = None
    frames = np.full(len(events), NONE, dtype=np.int64)

    def on_state(done: int, state: str, so_far: np.ndarray) -> None:
        nonlocal last
        frames[:done] = np.where(events[:done] & FREE != 0, NONE, so_far)
        if last is not None:
            start, before = last
            at = slice(start, done)
            allocator.compare_block(result, programs.phys, (before, state), events, at, frames[:done])
        last = (done, state)
        if done // block % every in (0, 1) or done == len(events):
            kept[done] = state

    run = run_events(oracle, events, block, logs / "events", on_state)
    return result, kept, frames, run.release


def _without_lru(state: str) -> str:
    """A state without the frames on LRU lists, which no count needs."""
    return "".join(line for line in state.splitlines(keepends=True) if not line.startswith("lru "))
