"""Pages that compaction moves: all of memory at once, and for faults of huge pages in fragmented memory.

Each move is a decision of two scanners: which page, and which free frame. So the frames of a process's pages
are compared after each run (:mod:`tessera.oracle.paging`).
"""

from __future__ import annotations

from tessera.oracle.events import SplitMix64
from tessera.oracle.faults import HUGE, PAGE, REGION

#: What ``tessera-vm`` needs to know: pages of the guest's other programs move, too.
OPTIONS = ["--others", "movable"]
OPTIONS_DIRECT = [*OPTIONS, "--defrag", "always"]
#: Before the process: without kcompactd's own periodic runs.
SETUP = "echo 0 > /proc/sys/vm/compaction_proactiveness\n"
SETUP_DIRECT = SETUP + "echo always > /sys/kernel/mm/transparent_hugepage/defrag\n"

SMALL_BYTES = 224 << 20
ROUNDS = 4
FULL_BYTES, HUGE_BASE, HUGE_FAULTS = 600 << 20, REGION + (1 << 30), 210
#: The first faults find free blocks.
FREE_FAULTS = 136


def events(seed: int = 1) -> list[str]:
    """Memory in pieces, then ``compact`` (/proc/sys/vm/compact_memory), in rounds."""
    random = SplitMix64(seed)
    pages = SMALL_BYTES // PAGE
    lines = _start(SMALL_BYTES)
    for round_ in range(ROUNDS):
        lines += _gives_back(random, pages, 900)
        touched = range(300 if round_ else 0)
        lines += [f"touch {REGION + random.below(pages) * PAGE:#x} w" for _ in touched]
        lines += [f"# look before-{round_}", "compact", f"# look after-{round_}"]
    return lines


def direct_events(seed: int = 2) -> list[str]:
    """Two thirds of memory in pieces; then each fault of a huge page compacts, until no block can be made."""
    random = SplitMix64(seed)
    size = HUGE_FAULTS * HUGE
    small, *start = _start(FULL_BYTES)
    lines = [small, f"mmap {HUGE_BASE:#x} {size:#x} rw", *start]
    lines += [*_gives_back(random, FULL_BYTES // PAGE, 5000), "# look full"]
    for index in range(HUGE_FAULTS):
        lines.append(f"touch {HUGE_BASE + index * HUGE:#x} w")
        lines += [f"# look huge-{index}"] if index > FREE_FAULTS and index % 2 else []
    return lines


def _start(size: int) -> list[str]:
    lines = [f"mmap {REGION:#x} {size:#x} rw", f"madvise {REGION:#x} {size:#x} nohugepage"]
    return [*lines, "# drain", "# look start", f"touch {REGION:#x} w {size:#x}"]


def _gives_back(random: SplitMix64, pages: int, runs: int) -> list[str]:
    """Runs of 1 to 24 pages."""
    lines = []
    for _ in range(runs):
        count = 1 + random.below(24)
        first = random.below(pages - count)
        lines.append(f"madvise {REGION + first * PAGE:#x} {count * PAGE:#x} dontneed")
    return lines
