"""What reads and faults bring into the page cache, in the guest and in ``tessera-vm``: readahead and fault-
around.

The files are two RAM disks, so reads are done at once and folios have one page. Each is open once. The
guest reports the pages that are new in the cache after each event; the imitation prints them with
``--decisions``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.oracle.events import SplitMix64
from tessera.oracle.imitation import printed, text_of

PAGE = 4096
PAGES = 65536  # of a RAM disk: 256 MB
READS, TOUCHES = 1, 2  # the two files
EVENTS = {READS: 10000, TOUCHES: 12000}
MAPPING = 0x2000_0000_0000
#: Pages of one read, at most. Larger ones depend on the disk: a RAM disk takes 31 pages in one request.
LONGEST = 31


@dataclass(frozen=True)
class Step:
    """What an event did: pages that are new in the cache, and entries that became present (-1: a read)."""

    pages: frozenset[int]
    mapped: int = -1


def events(seed: int = 1) -> list[str]:
    """Reads of one file, accesses to a mapping of the other one: in order, in strides, and anywhere."""
    random = SplitMix64(seed)
    lines = [f"file {number} {PAGES * PAGE}" for number in (READS, TOUCHES)]
    lines.append(f"mmap {MAPPING:#x} {PAGES * PAGE:#x} r file={TOUCHES}")
    at, stride, length = 0, 1, 1
    for number, count in EVENTS.items():
        for index in range(count):
            if index % 40 == 0:  # a new way through the file
                stride = (1, 1, 1, 2, 5, 33, 0)[random.below(7)]
                at = random.below(PAGES)
                length = 1 + random.below(LONGEST) if random.below(2) else 1
            at = (at + stride * length) % PAGES if stride else random.below(PAGES)
            if number == READS:
                # Some reads begin and end inside a page.
                inside = random.below(PAGE) if random.below(3) == 0 else 0
                lines.append(f"read {number} {at * PAGE + inside} {length * PAGE}")
            else:
                lines.append(f"touch {MAPPING + at * PAGE:#x} r")
    return lines


def guest_steps(output: str) -> list[Step]:
    """A step for each line of the guest's program."""
    steps = []
    for line in output.splitlines():
        pages: set[int] = set()
        for first, count in re.findall(r"(\d+)\+(\d+)", line):
            pages |= set(range(int(first), int(first) + int(count)))
        mapped = re.search(r"mapped=(\d+)", line)
        steps.append(Step(frozenset(pages), int(mapped.group(1)) if mapped else -1))
    return steps


def imitated(program: Path, lines: list[str]) -> list[Step]:
    """Steps of the imitation, on a PC with 1 GB and RAM disks. ``program`` is ``tessera-vm``."""
    words = ["replay", "events", "--memory", "1GB", "--ram-disk", "--decisions"]
    output = printed(program, words, {"events": text_of(lines)}, "of accesses to files")
    steps = []
    for part in output.split("\n> "):
        name = part.removeprefix("> ").split()[0]
        if name not in ("read", "touch"):
            continue
        pages = frozenset(
            int(index) for index in re.findall(r"^  cache-add .*\bindex=(\d+)", part, re.MULTILINE)
        )
        around = re.search(r"^fault .* around=(\d+)", part, re.MULTILINE)
        steps.append(Step(pages, -1 if name == "read" else int(around.group(1)) if around else 0))
    return steps


@dataclass(frozen=True)
class Compared:
    """Events of a kind whose step is equal: all of them, the equal ones, and the first other one."""

    events: int
    equal: int
    first: str = ""


def compare(lines: list[str], guest: list[Step], mine: list[Step]) -> dict[str, Compared]:
    """Kind of event (``read``, ``touch``) -> comparison of pages and mapped entries."""
    steps = [line for line in lines if line.startswith(("read", "touch"))]
    if not len(steps) == len(guest) == len(mine):
        raise TesseraError(
            f"{len(steps)} accesses to files",
            f"the guest has {len(guest)} steps, the imitation {len(mine)}",
            "record again: ./run tessera oracle record",
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
        found[kind] = Compared(len(at), len(at) - len(wrong), first)
    return found
