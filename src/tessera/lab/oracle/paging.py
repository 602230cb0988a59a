"""Frames of a process's pages at several looks, as arrays: kept small in a recording, and compared.

A map is an array with a frame for each page of the region, :data:`ZERO` for a zero page, :data:`SWAPPED` for
a swapped one and :data:`NONE` for nothing. A recording keeps of each look what changed since the look before,
as runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tessera.lab.kernel.page_tables import FRAME, LARGE, PRESENT, GuestMemory, walk
from tessera.lab.oracle.imitation import Agreement, output_of, text_of_lines
from tessera.lab.oracle.process_faults import PAGE, REGION, WRITABLE, ZERO, with_root

NONE, SWAPPED = -2, -3
#: Pages of the region that maps cover: 2GB.
PAGES = 1 << 19
BYTES = PAGES * PAGE

#: First page, value and length of runs: values of frames ascend by one, others are constant. Differences to
#: the number before, in three columns, because these compress well.
Columns = tuple[list[int], list[int], list[int]]


@dataclass(frozen=True)
class Paging:
    """A process in the guest.

    Attributes:
        events: its calls and accesses, for ``tessera-vm``.
        state: of physical memory at its start.
        root: frame of its root table.
        looks: name -> frames by page, shape (PAGES,).
    """

    events: list[str]
    state: str
    root: int
    looks: dict[str, np.ndarray]

    def packed(self) -> dict:
        """Values that JSON can hold."""
        changes, before = {}, nothing()
        for name, frames in self.looks.items():
            changes[name] = changed_runs(before, frames)
            before = frames
        return {"events": self.events, "state": self.state, "root": self.root, "looks": changes}

    @classmethod
    def unpacked(cls, packed: dict) -> Paging:
        """The opposite of :meth:`packed`."""
        looks, frames = {}, nothing()
        for name, columns in packed["looks"].items():
            frames = map_after_changes(frames, columns)
            looks[name] = frames
        return cls(packed["events"], packed["state"], packed["root"], looks)


def nothing() -> np.ndarray:
    """A map without pages."""
    return np.full(PAGES, NONE, dtype=np.int64)


def walked_map(memory: GuestMemory, root: int) -> np.ndarray:
    """What the page tables below ``root`` (physical address) map in the region."""
    frames = nothing()
    for level, content in walk(memory, root).levels.items():
        for table in np.flatnonzero(_inside(content.virtual, level)).tolist():
            span = 1 << 9 * (level - 1)
            base = (int(content.virtual[table]) - REGION) // PAGE
            entries = content.entries[table]
            present = entries & PRESENT != 0
            if level == 1:
                frames[base + np.flatnonzero(~present & (entries != 0))] = SWAPPED
            for slot in np.flatnonzero(present & ((entries & LARGE != 0) | (level == 1))).tolist():
                entry, first = int(entries[slot]), base + slot * span
                frame = (entry & int(FRAME)) // PAGE & ~(span - 1)
                # Without fork, only zero pages are read-only.
                run = np.arange(frame, frame + span) if entry & WRITABLE else ZERO
                frames[first : first + span] = run
    return frames


def _inside(virtual: np.ndarray, level: int) -> np.ndarray:
    """Tables of levels that have leaves, for addresses of the region."""
    return (virtual >= REGION) & (virtual < REGION + BYTES) & (level <= 2)


def changed_runs(before: np.ndarray, now: np.ndarray) -> Columns:
    """Runs of the pages whose value is another one now."""
    pages = np.flatnonzero(before != now)
    if not len(pages):
        return [], [], []
    values = now[pages]
    steps = np.diff(values)
    goes_on = (np.diff(pages) == 1) & np.where(values[:-1] < 0, steps == 0, (steps == 1) & (values[1:] >= 0))
    starts = np.concatenate(([0], np.flatnonzero(~goes_on) + 1))
    counts = np.diff(np.concatenate((starts, [len(pages)])))
    first, value = pages[starts], values[starts]
    return np.diff(first, prepend=0).tolist(), np.diff(value, prepend=0).tolist(), counts.tolist()


def map_after_changes(before: np.ndarray, columns: Columns) -> np.ndarray:
    """The map after the changes of :func:`changed_runs`."""
    now = before.copy()
    firsts, values = np.cumsum(columns[0]).tolist(), np.cumsum(columns[1]).tolist()
    for first, value, count in zip(firsts, values, columns[2], strict=True):
        now[first : first + count] = value if value < 0 else np.arange(value, value + count)
    return now


def imitated_maps(program: Path, paging: Paging, options: list[str]) -> dict[str, np.ndarray]:
    """Look -> the map of the imitation's process. ``program`` is ``tessera-vm``; ``options`` are its own."""
    # A comment prints nothing, so a look becomes an access to memory that is not mapped, and the event that
    # prints the map.
    shown = ["touch 0x1000 r", "idle", f"pages {REGION:#x} {BYTES:#x}"]
    names = [line.split()[2] for line in paging.events if line.startswith("# look")]
    lines = [text for line in paging.events for text in (shown if line.startswith("# look") else [line])]
    words = ["replay", "events", "--snapshot", "state", "--root-order", "0", *options]
    files = {"state": with_root(paging.state, paging.root), "events": text_of_lines(lines)}
    output = output_of(program, words, files, "from a state of the guest")
    parts = re.split(r"^fault 0x1000 .*\n", output, flags=re.MULTILINE)[1:]
    return {name: _printed_map(part) for name, part in zip(names, parts, strict=True)}


def _printed_map(part: str) -> np.ndarray:
    frames = nothing()
    for address, kind, value, count in re.findall(
        r"^pages (\S+) (frame|zero|slot)(?:=(\d+))? count=(\d+)$", part, re.MULTILINE
    ):
        first, length = (int(address, 16) - REGION) // PAGE, int(count)
        run = (
            np.arange(int(value), int(value) + length)
            if kind == "frame"
            else {"zero": ZERO}.get(kind, SWAPPED)
        )
        frames[first : first + length] = run
    return frames


def page_differences(
    guest: dict[str, np.ndarray], mine: dict[str, np.ndarray], *, moved: bool, span: int = 1
) -> Agreement:
    """Pages that one of both mapped, or mapped elsewhere, since the look before.

    Args:
        moved: pages that both looks have, instead of those that are new.
        span: pages of one value, 512 for huge pages: only each span's first page counts.
    """
    found = Agreement()
    before, mine_before = nothing(), nothing()
    for look, theirs in guest.items():
        ours = mine[look]
        known = (before != NONE) & (theirs != NONE)
        changed = (theirs != before) | (ours != mine_before)
        at = changed & known if moved else changed & ~known & ((theirs != NONE) | (ours != NONE))
        at[np.arange(PAGES) % span != 0] = False
        other = np.flatnonzero(at & (theirs != ours))
        first = ""
        if len(other):
            page = other[0]
            where = f"look {look}, address {REGION + page * PAGE:#x}"
            first = f"{where}: guest {theirs[page]}, imitation {ours[page]}"
        found += Agreement(int(at.sum()), int(at.sum()) - len(other), first)
        before, mine_before = theirs, ours
    return found
