"""Frames of huge pages that a process gets from a pool, in the guest and in ``tessera-vm``.

The pool of 2MB pages grows and shrinks; areas take its pages in random order, give some back, and take them
again. What is compared is the frame of each page that is new at a look.
"""

from __future__ import annotations

from tessera.oracle.events import SplitMix64
from tessera.oracle.faults import REGION

HUGE = 2 << 20
ROUNDS = 40
MOST = 220  # pages of the pool: 440 MB


def events(seed: int = 1) -> list[str]:
    """Calls and accesses, in the format of tessera-vm."""
    random = SplitMix64(seed)
    lines = ["# drain", "# look start"]
    pool = 0
    for round_ in range(ROUNDS):
        if round_ % 3 == 0:
            pool = 60 + random.below(MOST - 60)
            lines.append(f"hugetlb 2MB {pool}")
        pages = pool - random.below(20)
        lines.append(f"mmap {REGION:#x} {pages * HUGE:#x} rw hugetlb=2MB")
        lines += _touches(_shuffled(random, pages)) + [f"# look filled-{round_}"]
        first = random.below(pages // 2)
        count = 1 + random.below(pages - first - 1)
        start = f"{REGION + first * HUGE:#x} {count * HUGE:#x}"
        lines += [f"munmap {start}", f"mmap {start} rw hugetlb=2MB"]
        lines += _touches([first + page for page in _shuffled(random, count)]) + [f"# look again-{round_}"]
        lines.append(f"munmap {REGION:#x} {pages * HUGE:#x}")
    return lines


def _shuffled(random: SplitMix64, count: int) -> list[int]:
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        other = random.below(last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def _touches(pages: list[int]) -> list[str]:
    return [f"touch {REGION + page * HUGE:#x} w" for page in pages]
