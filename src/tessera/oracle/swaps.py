"""Slots that pages get in swap, and pages that swap faults read ahead, in the guest and in ``tessera-vm``.

The swap area is a RAM disk, so a page is written and read at once. Linux reads a window of pages around a
fault if the slot has more than one owner: in most rounds a child that only waits is the second one. In the
other rounds a fault reads its page alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.oracle.events import SplitMix64
from tessera.oracle.imitation import printed, text_of

PAGE, PAGES, BASE = 4096, 8192, 0x3000_0000_0000
ROUNDS, ACCESSES = 12, 1500
SWAP = "256MB"
#: Page -> slot, of all swapped pages.
Slots = dict[int, int]


@dataclass(frozen=True)
class Step:
    """What an access found, and the pages that are in memory because of it.

    Attributes:
        letter: ``p`` a mapped page, ``c`` a page of the swap cache, ``s`` only a slot of swap.
        pages: by number, from the start of the area.
    """

    letter: str
    pages: frozenset[int]


@dataclass(frozen=True)
class Run:
    """Steps of all accesses, and the slots at each ``pages`` event."""

    steps: list[Step]
    slots: list[Slots]


def events(seed: int = 1) -> list[str]:
    """Rounds: everything goes to swap; then accesses in order, backwards, in strides, and anywhere."""
    random = SplitMix64(seed)
    size = PAGES * PAGE
    lines = [f"mmap {BASE:#x} {size:#x} rw", f"madvise {BASE:#x} {size:#x} nohugepage"]
    lines.append(f"touch {BASE:#x} w {size:#x}")
    for round_ in range(1, ROUNDS + 1):
        lines += [f"madvise {BASE:#x} {size:#x} pageout", f"pages {BASE:#x} {size:#x}"]
        shared = round_ % 4 != 0
        lines += [f"fork {round_}"] if shared else []
        lines += _accesses(random)
        lines += [f"process {round_}", "exit"] if shared else []
    return lines


def _accesses(random: SplitMix64) -> list[str]:
    lines = []
    at = stride = 0
    for index in range(ACCESSES):
        if index % 30 == 0:  # a new way through the memory
            stride = (1, 1, -1, 2, 7, 0)[random.below(6)]
            at = random.below(PAGES)
        at = (at + stride) % PAGES if stride else random.below(PAGES)
        lines.append(f"touch {BASE + at * PAGE:#x} {'rrw'[random.below(3)]}")
    return lines


def guest_run(output: str) -> Run:
    """What the guest's program printed."""
    steps, slots = [], []
    for line in output.splitlines():
        if line[:1].isalpha():
            found = [(int(first), int(count)) for first, count in re.findall(r"(\d+)\+(\d+)", line)]
            pages = frozenset(page for first, count in found for page in range(first, first + count))
            steps.append(Step(line[0], pages))
        else:
            found = re.findall(r"(\d+)\+(\d+)=(\d+)", line)
            slots.append({int(p) + i: int(slot) + i for p, count, slot in found for i in range(int(count))})
    return Run(steps, slots)


def imitated(program: Path, lines: list[str]) -> Run:
    """The imitation on a PC with 1 GB. ``program`` is ``tessera-vm``."""
    words = ["replay", "events", "--memory", "1GB", "--swap", SWAP, "--swap-device", "zram", "--decisions"]
    output = printed(program, words, {"events": text_of(lines)}, "of accesses to swapped memory")
    steps: list[Step] = []
    slots: list[Slots] = []
    swapped: dict[int, int] = {}  # slot -> page, of the last look
    mapped: set[int] = set()  # of those, what was touched since
    for part in output.split("\n> "):
        words = part.removeprefix("> ").split("\n")[0].split()
        if words[0] == "pages":
            slots.append(_slots(part))
            swapped, mapped = {slot: page for page, slot in slots[-1].items()}, set()
        elif words[0] == "touch" and len(words) == 3:
            page = (int(words[1], 16) - BASE) // PAGE
            read = {swapped[int(slot)] for slot in re.findall(r"^  swap-in .*slot=(\d+)", part, re.MULTILINE)}
            was_mapped = page in mapped or page not in slots[-1]
            steps.append(Step("p" if was_mapped else "s" if page in read else "c", frozenset(read)))
            mapped.add(page)
    return Run(steps, slots)


def _slots(part: str) -> Slots:
    found = re.findall(r"^pages (\S+) slot=(\d+) count=(\d+)", part, re.MULTILINE)
    return {
        (int(address, 16) - BASE) // PAGE + i: int(slot) + i
        for address, slot, count in found
        for i in range(int(count))
    }


@dataclass(frozen=True)
class Compared:
    """Values of a kind, the equal ones, and the first other one."""

    values: int
    equal: int
    first: str = ""


def compare(lines: list[str], guest: Run, mine: Run) -> tuple[Compared, Compared]:
    """Slots of pages that went to swap since the look before; and accesses, with what they read."""
    touches = [line for line in lines if line.startswith("touch") and len(line.split()) == 3]
    if not len(touches) == len(guest.steps) == len(mine.steps) or len(guest.slots) != len(mine.slots):
        raise TesseraError(
            f"{len(touches)} accesses to swapped memory",
            f"the guest has {len(guest.steps)} steps and {len(guest.slots)} looks, "
            f"the imitation {len(mine.steps)} and {len(mine.slots)}",
            "record again: ./run tessera oracle record",
            exit_code=EXIT_FAILED,
        )
    return _compare_slots(guest.slots, mine.slots), _compare_steps(touches, guest.steps, mine.steps)


def _compare_slots(guest: list[Slots], mine: list[Slots]) -> Compared:
    values = wrong = 0
    first = ""
    before: Slots = {}
    for look, (theirs, ours) in enumerate(zip(guest, mine, strict=True)):
        new = {page for page, slot in theirs.items() if before.get(page) != slot} | (
            ours.keys() - theirs.keys()
        )
        other = sorted(page for page in new if theirs.get(page) != ours.get(page))
        values, wrong = values + len(new), wrong + len(other)
        if other and not first:
            page = other[0]
            first = f"look {look}, page {page}: guest slot {theirs.get(page)}, imitation {ours.get(page)}"
        before = theirs
    return Compared(values, values - wrong, first)


def _compare_steps(touches: list[str], guest: list[Step], mine: list[Step]) -> Compared:
    other = [index for index in range(len(touches)) if guest[index] != mine[index]]
    first = ""
    if other:
        theirs, ours = guest[other[0]], mine[other[0]]
        first = (
            f"access {other[0]} ({touches[other[0]]}): guest {theirs.letter} {sorted(theirs.pages)}, "
            f"imitation {ours.letter} {sorted(ours.pages)}"
        )
    return Compared(len(touches), len(touches) - len(other), first)
