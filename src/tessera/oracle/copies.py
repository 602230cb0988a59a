"""Copy on write after fork: which writes of a process and its child copy a page, in the guest and in
``tessera-vm``.

For each access to one page there is a letter: ``n`` nothing was mapped before, ``s`` the frame is the same
afterwards, ``o`` it is another one. So a write to a page that a fork shared is ``o`` if it was copied and
``s`` if it was reused.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.oracle.events import SplitMix64
from tessera.oracle.imitation import printed, text_of

PAGE, PAGES, BASE = 4096, 2048, 0x3000_0000_0000
ROUNDS, TURNS, ACCESSES = 16, 40, 25
#: Letter of each kind of fault (tessera-vm); without a fault, the frame stays.
LETTERS = {"page": "n", "zero": "n", "copy": "o", "reuse": "s"}


def events(seed: int = 1) -> list[str]:
    """Rounds of fork, turns of both processes, and exit; after the exit, the parent's turn goes on."""
    random = SplitMix64(seed)
    lines = [f"mmap {BASE:#x} {PAGES * PAGE:#x} rw", f"madvise {BASE:#x} {PAGES * PAGE:#x} nohugepage"]
    lines.append(f"touch {BASE:#x} w {PAGES // 2 * PAGE}")  # the other half has nothing, or zero pages
    for round_ in range(1, ROUNDS + 1):
        lines.append(f"fork {round_}")
        for _ in range(TURNS):
            lines.append(f"process {round_ if random.below(2) else 0}")
            lines += _accesses(random)
        lines += [f"process {round_}", "exit", *_accesses(random), *_accesses(random)]
    return lines


def _accesses(random: SplitMix64) -> list[str]:
    """Three of four accesses are writes; runs of them are near each other, so that processes meet."""
    first = random.below(PAGES)
    return [
        f"touch {BASE + (first + random.below(200)) % PAGES * PAGE:#x} {'rw'[random.below(4) > 0]}"
        for _ in range(ACCESSES)
    ]


def imitated(program: Path, lines: list[str]) -> str:
    """Letters of the imitation, on a PC with 1 GB. ``program`` is ``tessera-vm``."""
    words = ["replay", "events", "--memory", "1GB", "--decisions"]
    output = printed(program, words, {"events": text_of(lines)}, "of fork and writes")
    letters = []
    for part in output.split("\n> "):
        words = part.removeprefix("> ").split("\n")[0].split()
        if words[0] != "touch" or len(words) > 3:
            continue
        faults = [line.split() for line in part.split("\n") if line.startswith("fault ")]
        letters.append(LETTERS[faults[-1][3]] if faults else "s")
    return "".join(letters)


@dataclass(frozen=True)
class Compared:
    """Accesses with the same letter, how many were copies in the guest, and the first other one."""

    accesses: int
    equal: int
    copies: int
    first: str = ""


def compare(lines: list[str], guest: str, mine: str) -> Compared:
    """Letter by letter."""
    touches = [line for line in lines if line.startswith("touch") and len(line.split()) == 3]
    if not len(touches) == len(guest) == len(mine):
        raise TesseraError(
            f"{len(touches)} accesses of a process and its children",
            f"the guest has {len(guest)} letters, the imitation {len(mine)}",
            "record again: ./run tessera oracle record",
            exit_code=EXIT_FAILED,
        )
    wrong = [index for index, touch in enumerate(touches) if guest[index] != mine[index]]
    first = ""
    if wrong:
        at = wrong[0]
        first = f"access {at} ({touches[at]}): guest {guest[at]}, imitation {mine[at]}"
    return Compared(len(touches), len(touches) - len(wrong), guest.count("o"), first)
