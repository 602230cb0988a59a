"""Faults of processes in the guest beside ``tessera-vm``: frames that they get, and copies on write after
fork.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.lab.kernel.page_tables import FRAME, LARGE, PRESENT, GuestMemory, walk
from tessera.lab.oracle.imitation import Agreement, SplitMix64, output_of, text_of_lines

# Frames that faults of a process get in the guest beside those of ``tessera-vm``.
#
# The events are in the format of ``tessera-vm``. ``# look start`` is the start: the state of physical memory
# there, with the frame of the process's root table first in the per-CPU list of its kind, so that the
# imitation's process gets the same root. At each later look, the frames of all pages that the process maps
# in the region are compared, and the frames of their tables.

#: The region: one slot of the root table, which nothing else uses.
REGION = 0x1000_0000_0000
HUGE, PAGE = 2 << 20, 4096
WRITABLE = 1 << 1
#: Frames of the zero pages are the kernel's own, so only their kind is compared.
ZERO = -1
#: Pieces that are unmapped and mapped again, at the end.
UNMAPS = 6
#: Page -> frame of its mapping; for pages of 2MB the frame of this part.
Frames = dict[int, int]


@dataclass(frozen=True)
class ProcessMap:
    """What a process maps in the region.

    Attributes:
        pages: page number -> frame; :data:`ZERO` for a zero page.
        tables: frames of the tables in use; of the imitation, of all tables so far, deposited ones included.
    """

    pages: Frames
    tables: set[int]


def fault_events(seed: int = 1) -> list[str]:
    """Maps, accesses, advice and unmaps: small, huge and zero pages, copies, memory that is given back."""
    random = SplitMix64(seed)
    small, huge, mixed = REGION, REGION + (1 << 30), REGION + (2 << 30)
    lines = [
        f"mmap {base:#x} {size:#x} rw"
        for base, size in ((small, 48 << 20), (huge, 96 << 20), (mixed, 64 << 20))
    ]
    lines += [f"madvise {small:#x} {48 << 20:#x} nohugepage", "# look start"]
    lines += _touches(random, small, 48 << 20, 8000) + ["# look small"]
    lines += [f"touch {huge + HUGE * index:#x} {'rw'[random.below(4) > 0]}" for index in range(48)] + [
        "# look huge"
    ]
    lines += _touches(random, mixed, 64 << 20, 600) + ["# look mixed"]
    for index in range(6):
        for base, size in ((small, 48 << 20), (huge, 96 << 20), (mixed, 64 << 20)):
            for _ in range(8):
                pages = 1 + random.below(300)
                page = random.below(size // PAGE - pages)
                lines.append(f"madvise {base + page * PAGE:#x} {pages * PAGE:#x} dontneed")
            lines += _touches(random, base, size, 400)
        lines.append(f"# look again-{index}")
    for index in range(UNMAPS):
        pages = 1 + random.below(700)
        start = mixed + random.below((64 << 20) // PAGE - pages) * PAGE
        lines += [f"munmap {start:#x} {pages * PAGE:#x}", f"mmap {start:#x} {pages * PAGE:#x} rw"]
        lines += _touches(random, start, pages * PAGE, 200) + [f"# look unmapped-{index}"]
    return lines


def _touches(random: SplitMix64, base: int, size: int, count: int) -> list[str]:
    """Accesses to random pages, three of four of them writes."""
    pages = size // PAGE
    return [f"touch {base + random.below(pages) * PAGE:#x} {'rw'[random.below(4) > 0]}" for _ in range(count)]


def mapped(memory: GuestMemory, root: int) -> ProcessMap:
    """What the page tables below ``root`` map in the region."""
    tree = walk(memory, root)
    first, end = REGION, REGION + (1 << 39)
    pages: Frames = {}
    tables: set[int] = set()
    for level, content in tree.levels.items():
        for table, virtual in enumerate(content.virtual.tolist()):
            if not first <= virtual < end:
                continue
            if level < 4:
                tables.add(int(content.physical[table]) // PAGE)
            span = 1 << 9 * (level - 1)
            entries = content.entries[table]
            leaf = (entries & PRESENT != 0) & ((entries & LARGE != 0) | (level == 1))
            for slot in np.flatnonzero(leaf).tolist():
                frame = int(entries[slot] & FRAME) // PAGE & ~(span - 1)
                page = virtual // PAGE + slot * span
                # Without fork, only zero pages are read-only.
                zero = not int(entries[slot]) & WRITABLE
                pages |= {page + part: ZERO if zero else frame + part for part in range(span)}
    return ProcessMap(pages, tables)


def with_root(state: str, root: int) -> str:
    """A state in which the next small unmovable request gets the frame ``root``, and is as before after it.

    The request takes the first block of the per-CPU list and halves ``free_count``, so this one is doubled.
    """
    zone = "Normal" if root >= 1 << 20 else "DMA32"
    key = f"percpu {zone} 0 0 Unmovable"
    lines, done = [], False
    for line in state.splitlines():
        if line.startswith(f"cpu {zone} 0 "):
            line = re.sub(r"free_count (\d+)", lambda found: f"free_count {2 * int(found.group(1))}", line)
        if line.startswith("percpu ") and not done and _after(key, line):
            lines.append(f"{key} {root}")
            done = True
        lines.append(line)
    if not done:
        lines.insert(_end_of_percpu(lines), f"{key} {root}")
    return "\n".join([*lines, ""])


def _after(key: str, line: str) -> bool:
    """True if the lists of ``line`` come at or after those of ``key`` in a state."""
    order = {"DMA": 0, "DMA32": 1, "Normal": 2}
    words, mine = line.split(), key.split()
    return (order[words[1]], int(words[3]), words[4] != "Unmovable") >= (order[mine[1]], int(mine[3]), False)


def _end_of_percpu(lines: list[str]) -> int:
    return next(i for i, line in enumerate(lines) if line.startswith(("used ", "lru ", "end")))


def imitated_frames(program: Path, state: str, lines: list[str]) -> dict[str, ProcessMap]:
    """Look -> what the imitation's process maps then.

    Args:
        program: ``tessera-vm``.
        state: of the start, :func:`with_root`.
    """
    # A comment prints nothing, so a look becomes an access to memory that is not mapped.
    looks = [line.split()[2] for line in lines if line.startswith("# look")]
    marked = ["touch 0x1000 r" if line.startswith("# look") else line for line in lines]
    words = ["replay", "events", "--snapshot", "state", "--root-order", "0", "--decisions"]
    files = {"state": state, "events": text_of_lines(marked)}
    return _follow(output_of(program, words, files, "from a state of the guest"), looks)


FAULT = re.compile(
    r"fault (0x[0-9a-f]+) [rw] (\S+)(?: order=(\d+))?(?: frame=(\d+))?(?: tables=([\d,]+))?(.*)"
)


def _follow(output: str, looks: list[str]) -> dict[str, ProcessMap]:
    """What is mapped at each look, from the faults and the calls that give memory back."""
    pages: Frames = {}
    tables: set[int] = set()
    found: dict[str, ProcessMap] = {}
    names = iter(looks)
    for line in output.splitlines():
        if line.startswith("> munmap") or (line.startswith("> madvise") and line.endswith("dontneed")):
            _, _, start, size, *_ = line.split()
            first = int(start, 16) // PAGE
            for page in range(first, first + int(size, 16) // PAGE):
                pages.pop(page, None)
        elif line.startswith("fault 0x1000 "):
            found[next(names)] = ProcessMap(dict(pages), set(tables))
        elif line.startswith("fault "):
            address, kind, order, frame, made, more = FAULT.fullmatch(line).groups()
            tables |= {int(table) for table in made.split(",")} if made else set()
            page = int(address, 16) // PAGE
            if "split" in more:  # of the huge zero page: the other parts map small zero pages
                first = page & ~511
                pages |= dict.fromkeys(range(first, first + 512), ZERO)
            count = 1 << int(order or 0)
            first = page & ~(count - 1)
            for part in range(count):
                pages[first + part] = ZERO if kind == "zero" else int(frame) + part
    return found


def compare_frames(
    guest: dict[str, ProcessMap], mine: dict[str, ProcessMap]
) -> dict[str, tuple[Agreement, Agreement]]:
    """Look after the start -> frames of pages that one of both mapped, or mapped anew, since the look before;
    and tables of the guest: equal is a frame that is a table's in the imitation, too.

    A page that only one of both maps is a difference.
    """
    found = {}
    before, mine_before = {}, {}
    for look, theirs in guest.items():
        ours = mine[look].pages
        changed = _changed(before, theirs.pages) | (_changed(mine_before, ours) & theirs.pages.keys())
        extra = ours.keys() - theirs.pages.keys()
        wrong = sorted({page for page in changed if ours.get(page) != theirs.pages[page]} | extra)
        first = ""
        if wrong:
            page = wrong[0]
            where = f"look {look}: address {page * PAGE:#x}"
            first = f"{where}: guest {theirs.pages.get(page)}, imitation {ours.get(page)}"
        pages = Agreement(len(changed | extra), len(changed | extra) - len(wrong), first)
        found[look] = pages, Agreement(len(theirs.tables), len(theirs.tables & mine[look].tables))
        before, mine_before = theirs.pages, ours
    return found


def _changed(before: Frames, now: Frames) -> set[int]:
    return {page for page, frame in now.items() if before.get(page) != frame}


# Copy on write after fork: which writes of a process and its child copy a page, in the guest and in
# ``tessera-vm``.
#
# For each access to one page there is a letter: ``n`` nothing was mapped before, ``s`` the frame is the same
# afterwards, ``o`` it is another one. So a write to a page that a fork shared is ``o`` if it was copied and
# ``s`` if it was reused.

COPIED_PAGES, COPIED_BASE = 2048, 0x3000_0000_0000
FORKS, TURNS, ACCESSES = 16, 40, 25
#: Letter of each kind of fault (tessera-vm); without a fault, the frame stays.
LETTERS = {"page": "n", "zero": "n", "copy": "o", "reuse": "s"}


def copy_events(seed: int = 1) -> list[str]:
    """Rounds of fork, turns of both processes, and exit; after the exit, the parent's turn goes on."""
    random = SplitMix64(seed)
    lines = [
        f"mmap {COPIED_BASE:#x} {COPIED_PAGES * PAGE:#x} rw",
        f"madvise {COPIED_BASE:#x} {COPIED_PAGES * PAGE:#x} nohugepage",
    ]
    # The other half has nothing, or zero pages.
    lines.append(f"touch {COPIED_BASE:#x} w {COPIED_PAGES // 2 * PAGE}")
    for round_ in range(1, FORKS + 1):
        lines.append(f"fork {round_}")
        for _ in range(TURNS):
            lines.append(f"process {round_ if random.below(2) else 0}")
            lines += _copy_accesses(random)
        lines += [f"process {round_}", "exit", *_copy_accesses(random), *_copy_accesses(random)]
    return lines


def _copy_accesses(random: SplitMix64) -> list[str]:
    """Three of four accesses are writes; runs of them are near each other, so that processes meet."""
    first = random.below(COPIED_PAGES)
    lines = []
    for _ in range(ACCESSES):
        page = (first + random.below(200)) % COPIED_PAGES
        lines.append(f"touch {COPIED_BASE + page * PAGE:#x} {'rw'[random.below(4) > 0]}")
    return lines


def imitated_copies(program: Path, lines: list[str]) -> str:
    """Letters of the imitation, on a PC with 1 GB. ``program`` is ``tessera-vm``."""
    words = ["replay", "events", "--memory", "1GB", "--decisions"]
    output = output_of(program, words, {"events": text_of_lines(lines)}, "of fork and writes")
    letters = []
    for part in output.split("\n> "):
        words = part.removeprefix("> ").split("\n")[0].split()
        if words[0] != "touch" or len(words) > 3:
            continue
        faults = [line.split() for line in part.split("\n") if line.startswith("fault ")]
        letters.append(LETTERS[faults[-1][3]] if faults else "s")
    return "".join(letters)


def compare_copies(lines: list[str], guest: str, mine: str) -> Agreement:
    """Letter by letter."""
    touches = [line for line in lines if line.startswith("touch") and len(line.split()) == 3]
    if not len(touches) == len(guest) == len(mine):
        raise TesseraError(
            f"{len(touches)} accesses of a process and its children",
            f"the guest has {len(guest)} letters, the imitation {len(mine)}",
            "record again: ./run tessera lab oracle record",
            exit_code=EXIT_FAILED,
        )
    wrong = [index for index, touch in enumerate(touches) if guest[index] != mine[index]]
    first = ""
    if wrong:
        at = wrong[0]
        first = f"access {at} ({touches[at]}): guest {guest[at]}, imitation {mine[at]}"
    return Agreement(len(touches), len(touches) - len(wrong), first)
