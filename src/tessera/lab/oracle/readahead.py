"""Pages from files and from swap, in the guest and in ``tessera-vm``: readahead, fault-around, swap slots."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.units import PAGE_4KB
from tessera.lab.oracle.imitation import Agreement, SplitMix64, output_of, text_of_lines

# What reads and faults bring into the page cache, in the guest and in ``tessera-vm``: readahead and fault-
# around.
#
# The files are two RAM disks, so reads are done at once and folios have one page. Each is open once. The
# guest reports the pages that are new in the cache after each event; the imitation prints them with
# ``--decisions``.

FILE_PAGES = 65536  # of a RAM disk: 256 MB
READS, TOUCHES = 1, 2  # the two files
FILE_EVENTS = {READS: 10000, TOUCHES: 12000}
FILE_MAPPING = 0x2000_0000_0000
#: Pages of one read, at most. Larger ones depend on the disk: a RAM disk takes 31 pages in one request.
LONGEST_READ = 31


@dataclass(frozen=True)
class FileStep:
    """What an event did: pages that are new in the cache, and entries that became present (-1: a read)."""

    pages: frozenset[int]
    mapped: int = -1


def file_events(seed: int = 1) -> list[str]:
    """Reads of one file, accesses to a mapping of the other one: in order, in strides, and anywhere."""
    random = SplitMix64(seed)
    lines = [f"file {number} {FILE_PAGES * PAGE_4KB}" for number in (READS, TOUCHES)]
    lines.append(f"mmap {FILE_MAPPING:#x} {FILE_PAGES * PAGE_4KB:#x} r file={TOUCHES}")
    at, stride, length = 0, 1, 1
    for number, count in FILE_EVENTS.items():
        for index in range(count):
            if index % 40 == 0:  # a new way through the file
                stride = (1, 1, 1, 2, 5, 33, 0)[random.below(7)]
                at = random.below(FILE_PAGES)
                length = 1 + random.below(LONGEST_READ) if random.below(2) else 1
            at = (at + stride * length) % FILE_PAGES if stride else random.below(FILE_PAGES)
            if number == READS:
                # Some reads begin and end inside a page.
                inside = random.below(PAGE_4KB) if random.below(3) == 0 else 0
                lines.append(f"read {number} {at * PAGE_4KB + inside} {length * PAGE_4KB}")
            else:
                lines.append(f"touch {FILE_MAPPING + at * PAGE_4KB:#x} r")
    return lines


def guest_file_steps(output: str) -> list[FileStep]:
    """A step for each line of the guest's program."""
    steps = []
    for line in output.splitlines():
        pages: set[int] = set()
        for first, count in re.findall(r"(\d+)\+(\d+)", line):
            pages |= set(range(int(first), int(first) + int(count)))
        mapped = re.search(r"mapped=(\d+)", line)
        steps.append(FileStep(frozenset(pages), int(mapped.group(1)) if mapped else -1))
    return steps


def imitated_file_steps(program: Path, lines: list[str]) -> list[FileStep]:
    """Steps of the imitation, on a PC with 1 GB and RAM disks. ``program`` is ``tessera-vm``."""
    words = ["replay", "events", "--memory", "1GB", "--ram-disk", "--decisions"]
    output = output_of(program, words, {"events": text_of_lines(lines)}, "of accesses to files")
    steps = []
    for part in output.split("\n> "):
        name = part.removeprefix("> ").split()[0]
        if name not in ("read", "touch"):
            continue
        pages = frozenset(
            int(index) for index in re.findall(r"^  cache-add .*\bindex=(\d+)", part, re.MULTILINE)
        )
        around = re.search(r"^fault .* around=(\d+)", part, re.MULTILINE)
        steps.append(FileStep(pages, -1 if name == "read" else int(around.group(1)) if around else 0))
    return steps


def compare_file_steps(lines: list[str], guest: list[FileStep], mine: list[FileStep]) -> dict[str, Agreement]:
    """Kind of event (``read``, ``touch``) -> comparison of pages and mapped entries."""
    steps = [line for line in lines if line.startswith(("read", "touch"))]
    if not len(steps) == len(guest) == len(mine):
        raise TesseraError(
            f"{len(steps)} accesses to files",
            f"the guest has {len(guest)} steps, the imitation {len(mine)}",
            "record again: ./run tessera lab oracle record",
            exit_code=EXIT_FAILED,
        )
    found = {}
    for kind in ("read", "touch"):
        at = [index for index, line in enumerate(steps) if line.startswith(kind)]
        wrong = [index for index in at if guest[index] != mine[index]]
        first = ""
        if wrong:
            theirs, ours = guest[wrong[0]], mine[wrong[0]]
            first = (
                f"{steps[wrong[0]]}: only in the guest {sorted(theirs.pages - ours.pages)[:4]}, only in the "
                f"imitation {sorted(ours.pages - theirs.pages)[:4]}; mapped {theirs.mapped}, {ours.mapped}"
            )
        found[kind] = Agreement(len(at), len(at) - len(wrong), first)
    return found


# Slots that pages get in swap, and pages that swap faults read ahead, in the guest and in ``tessera-vm``.
#
# The swap area is a RAM disk, so a page is written and read at once. Linux reads a window of pages around a
# fault if the slot has more than one owner: in most rounds a child that only waits is the second one. In the
# other rounds a fault reads its page alone.

SWAP_PAGES, SWAP_BASE = 8192, 0x3000_0000_0000
SWAP_ROUNDS, SWAP_ACCESSES = 12, 1500
SWAP = "256MB"
#: Page -> slot, of all swapped pages.
Slots = dict[int, int]


@dataclass(frozen=True)
class SwapStep:
    """What an access found, and the pages that are in memory because of it.

    Attributes:
        letter: ``p`` a mapped page, ``c`` a page of the swap cache, ``s`` only a slot of swap.
        pages: by number, from the start of the area.
    """

    letter: str
    pages: frozenset[int]


@dataclass(frozen=True)
class SwapRun:
    """Steps of all accesses, and the slots at each ``pages`` event."""

    steps: list[SwapStep]
    slots: list[Slots]


def swap_events(seed: int = 1) -> list[str]:
    """Rounds: everything goes to swap; then accesses in order, backwards, in strides, and anywhere."""
    random = SplitMix64(seed)
    size = SWAP_PAGES * PAGE_4KB
    lines = [f"mmap {SWAP_BASE:#x} {size:#x} rw", f"madvise {SWAP_BASE:#x} {size:#x} nohugepage"]
    lines.append(f"touch {SWAP_BASE:#x} w {size:#x}")
    for round_ in range(1, SWAP_ROUNDS + 1):
        lines += [f"madvise {SWAP_BASE:#x} {size:#x} pageout", f"pages {SWAP_BASE:#x} {size:#x}"]
        shared = round_ % 4 != 0
        lines += [f"fork {round_}"] if shared else []
        lines += _swap_accesses(random)
        lines += [f"process {round_}", "exit"] if shared else []
    return lines


def _swap_accesses(random: SplitMix64) -> list[str]:
    lines = []
    at = stride = 0
    for index in range(SWAP_ACCESSES):
        if index % 30 == 0:  # a new way through the memory
            stride = (1, 1, -1, 2, 7, 0)[random.below(6)]
            at = random.below(SWAP_PAGES)
        at = (at + stride) % SWAP_PAGES if stride else random.below(SWAP_PAGES)
        lines.append(f"touch {SWAP_BASE + at * PAGE_4KB:#x} {'rrw'[random.below(3)]}")
    return lines


def guest_swap_run(output: str) -> SwapRun:
    """What the guest's program printed."""
    steps, slots = [], []
    for line in output.splitlines():
        if line[:1].isalpha():
            found = [(int(first), int(count)) for first, count in re.findall(r"(\d+)\+(\d+)", line)]
            pages = frozenset(page for first, count in found for page in range(first, first + count))
            steps.append(SwapStep(line[0], pages))
        else:
            found = re.findall(r"(\d+)\+(\d+)=(\d+)", line)
            slots.append({int(p) + i: int(slot) + i for p, count, slot in found for i in range(int(count))})
    return SwapRun(steps, slots)


def imitated_swap_run(program: Path, lines: list[str]) -> SwapRun:
    """The imitation on a PC with 1 GB. ``program`` is ``tessera-vm``."""
    words = ["replay", "events", "--memory", "1GB", "--swap", SWAP, "--swap-device", "zram", "--decisions"]
    output = output_of(program, words, {"events": text_of_lines(lines)}, "of accesses to swapped memory")
    steps: list[SwapStep] = []
    slots: list[Slots] = []
    swapped: dict[int, int] = {}  # slot -> page, of the last look
    mapped: set[int] = set()  # of those, what was touched since
    for part in output.split("\n> "):
        words = part.removeprefix("> ").split("\n")[0].split()
        if words[0] == "pages":
            slots.append(_slots(part))
            swapped, mapped = {slot: page for page, slot in slots[-1].items()}, set()
        elif words[0] == "touch" and len(words) == 3:
            page = (int(words[1], 16) - SWAP_BASE) // PAGE_4KB
            read = {swapped[int(slot)] for slot in re.findall(r"^  swap-in .*slot=(\d+)", part, re.MULTILINE)}
            was_mapped = page in mapped or page not in slots[-1]
            steps.append(SwapStep("p" if was_mapped else "s" if page in read else "c", frozenset(read)))
            mapped.add(page)
    return SwapRun(steps, slots)


def _slots(part: str) -> Slots:
    found = re.findall(r"^pages (\S+) slot=(\d+) count=(\d+)", part, re.MULTILINE)
    return {
        (int(address, 16) - SWAP_BASE) // PAGE_4KB + i: int(slot) + i
        for address, slot, count in found
        for i in range(int(count))
    }


def compare_swaps(lines: list[str], guest: SwapRun, mine: SwapRun) -> tuple[Agreement, Agreement]:
    """Slots of pages that went to swap since the look before; and accesses, with what they read."""
    touches = [line for line in lines if line.startswith("touch") and len(line.split()) == 3]
    if not len(touches) == len(guest.steps) == len(mine.steps) or len(guest.slots) != len(mine.slots):
        raise TesseraError(
            f"{len(touches)} accesses to swapped memory",
            f"the guest has {len(guest.steps)} steps and {len(guest.slots)} looks, "
            f"the imitation {len(mine.steps)} and {len(mine.slots)}",
            "record again: ./run tessera lab oracle record",
            exit_code=EXIT_FAILED,
        )
    return _compare_slots(guest.slots, mine.slots), _compare_swap_steps(touches, guest.steps, mine.steps)


def _compare_slots(guest: list[Slots], mine: list[Slots]) -> Agreement:
    found = Agreement()
    before: Slots = {}
    for look, (theirs, ours) in enumerate(zip(guest, mine, strict=True)):
        new = {page for page, slot in theirs.items() if before.get(page) != slot} | (
            ours.keys() - theirs.keys()
        )
        other = sorted(page for page in new if theirs.get(page) != ours.get(page))
        first = ""
        if other:
            page = other[0]
            first = f"look {look}, page {page}: guest slot {theirs.get(page)}, imitation {ours.get(page)}"
        found += Agreement(len(new), len(new) - len(other), first)
        before = theirs
    return found


def _compare_swap_steps(touches: list[str], guest: list[SwapStep], mine: list[SwapStep]) -> Agreement:
    other = [index for index in range(len(touches)) if guest[index] != mine[index]]
    first = ""
    if other:
        theirs, ours = guest[other[0]], mine[other[0]]
        first = (
            f"access {other[0]} ({touches[other[0]]}): guest {theirs.letter} {sorted(theirs.pages)}, "
            f"imitation {ours.letter} {sorted(ours.pages)}"
        )
    return Agreement(len(touches), len(touches) - len(other), first)
