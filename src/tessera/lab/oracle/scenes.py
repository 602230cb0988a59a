"""Processes whose pages the host looks at: compaction, a pool of huge pages, reclaim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tessera.lab.kernel.guest import Look
from tessera.lab.oracle.guest_runs import FAULTS, FAULTS_RUN, Oracle
from tessera.lab.oracle.imitation import Agreement, SplitMix64, text_of_lines
from tessera.lab.oracle.paging import SWAPPED, Paging, nothing, walked_map
from tessera.lab.oracle.process_faults import HUGE, PAGE, REGION

# Pages that compaction moves: all of memory at once, and for faults of huge pages in fragmented memory.
#
# Each move is a decision of two scanners: which page, and which free frame. So the frames of a process's
# pages are compared after each run (:mod:`tessera.lab.oracle.paging`).

#: What ``tessera-vm`` needs to know: pages of the guest's other programs move, too.
COMPACTION_OPTIONS = ["--others", "movable"]
DIRECT_COMPACTION_OPTIONS = [*COMPACTION_OPTIONS, "--defrag", "always"]
#: Before the process: without kcompactd's own periodic runs.
COMPACTION_SETUP = "echo 0 > /proc/sys/vm/compaction_proactiveness\n"
DIRECT_COMPACTION_SETUP = COMPACTION_SETUP + "echo always > /sys/kernel/mm/transparent_hugepage/defrag\n"

SMALL_BYTES = 224 << 20
COMPACTION_ROUNDS = 4
FULL_BYTES, HUGE_BASE, HUGE_FAULTS = 600 << 20, REGION + (1 << 30), 210
#: The first faults find free blocks.
FREE_FAULTS = 136


def compaction_events(seed: int = 1) -> list[str]:
    """Memory in pieces, then ``compact`` (/proc/sys/vm/compact_memory), in rounds."""
    random = SplitMix64(seed)
    pages = SMALL_BYTES // PAGE
    lines = _start(SMALL_BYTES)
    for round_ in range(COMPACTION_ROUNDS):
        lines += _gives_back(random, pages, 900)
        touched = range(300 if round_ else 0)
        lines += [f"touch {REGION + random.below(pages) * PAGE:#x} w" for _ in touched]
        lines += [f"# look before-{round_}", "compact", f"# look after-{round_}"]
    return lines


def direct_compaction_events(seed: int = 2) -> list[str]:
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


# Frames of huge pages that a process gets from a pool, in the guest and in ``tessera-vm``.
#
# The pool of 2MB pages grows and shrinks; areas take its pages in random order, give some back, and take
# them again. What is compared is the frame of each page that is new at a look.

POOL_ROUNDS = 40
MOST_POOL_PAGES = 220  # pages of the pool: 440 MB


def pool_events(seed: int = 1) -> list[str]:
    """Calls and accesses, in the format of tessera-vm."""
    random = SplitMix64(seed)
    lines = ["# drain", "# look start"]
    pool = 0
    for round_ in range(POOL_ROUNDS):
        if round_ % 3 == 0:
            pool = 60 + random.below(MOST_POOL_PAGES - 60)
            lines.append(f"hugetlb 2MB {pool}")
        pages = pool - random.below(20)
        lines.append(f"mmap {REGION:#x} {pages * HUGE:#x} rw hugetlb=2MB")
        lines += _pool_touches(_shuffled(random, pages)) + [f"# look filled-{round_}"]
        first = random.below(pages // 2)
        count = 1 + random.below(pages - first - 1)
        start = f"{REGION + first * HUGE:#x} {count * HUGE:#x}"
        lines += [f"munmap {start}", f"mmap {start} rw hugetlb=2MB"]
        lines += _pool_touches([first + page for page in _shuffled(random, count)]) + [
            f"# look again-{round_}"
        ]
        lines.append(f"munmap {REGION:#x} {pages * HUGE:#x}")
    return lines


def _shuffled(random: SplitMix64, count: int) -> list[int]:
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        other = random.below(last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def _pool_touches(pages: list[int]) -> list[str]:
    return [f"touch {REGION + page * HUGE:#x} w" for page in pages]


# Pages that reclaim takes from the LRU lists, in the guest and in ``tessera-vm``.
#
# Which pages go to swap follows from the order of the lists, from who was used lately, and from refaults.
# There are two ways to ask for reclaim: a write to ``memory.reclaim`` of the root cgroup, and memory that
# becomes short, so that kswapd is woken.

#: Of ``tessera-vm``: the swap area is a RAM disk.
RECLAIM_OPTIONS = ["--others", "movable", "--swap", "128MB", "--swap-device", "zram"]
#: For the kernel. Files of a ramfs are on no list that reclaim scans. kswapd's run has no memory cgroups,
#: like the imitation.
RECLAIM_APPEND = "rootfstype=ramfs"
KSWAPD_APPEND = f"{RECLAIM_APPEND} cgroup_disable=memory"
#: The RAM disk has all its memory before the process starts.
RECLAIM_SETUP = """\
echo 0 > /proc/sys/vm/compaction_proactiveness
mount -t cgroup2 none /sys/fs/cgroup
dd if=/dev/zero of=/dev/ram0 bs=1M count=128 2> /dev/null
sync
mkswap /dev/ram0 131072 > /dev/null
swapon /dev/ram0
echo 3 > /proc/sys/vm/drop_caches
"""
#: kswapd gets a real-time priority, so that it works as soon as an access that woke it ends, as in the
#: imitation. Without boosts of watermarks: they follow from the pageblocks that the kernel's own slabs break.
KSWAPD_SETUP = f"""\
{RECLAIM_SETUP}echo -1 > /proc/sys/kernel/sched_rt_runtime_us
echo 0 > /proc/sys/vm/watermark_boost_factor
export KSWAPD=$(pidof kswapd0)
"""

RECLAIM_PAGES, RECLAIM_EPISODES, RECLAIM_ROUNDS, RECLAIM_ACCESSES = 16384, 12, 4, 700
#: Of kswapd's run: pages of the process, of which two thirds fit into memory, and huge
#: pages that the pool takes away.
KSWAPD_PAGES, KSWAPD_POOL, KSWAPD_FITTING, KSWAPD_ACCESSES = 95_000, 200, 64_000, 12_000


def reclaim_events(seed: int = 1) -> list[str]:
    """Episodes, each with new memory: rounds of a request for some MB, and of accesses."""
    random = SplitMix64(seed)
    size = RECLAIM_PAGES * PAGE
    lines = ["# alone", "# drain", "# look start"]
    for episode in range(RECLAIM_EPISODES):
        lines += [f"mmap {REGION:#x} {size:#x} rw", f"madvise {REGION:#x} {size:#x} nohugepage"]
        lines.append(f"touch {REGION:#x} w {size:#x}")
        for round_ in range(RECLAIM_ROUNDS):
            lines.append(f"reclaim {(200 + random.below(1000)) * PAGE:#x}")
            lines.append(f"# look reclaimed-{episode}-{round_}")
            lines += _reclaim_accesses(random, RECLAIM_PAGES, RECLAIM_ACCESSES)
            lines.append(f"# look used-{episode}-{round_}")
        lines += [f"munmap {REGION:#x} {size:#x}", f"# look gone-{episode}"]
    return lines


def with_flushes(lines: list[str]) -> list[str]:
    """The events for ``tessera-vm``: memory cgroups fold their counters before each request and after it.

    The guest does so every two seconds, at times that the recording does not have.
    """
    flushed = []
    for line in lines:
        before, after = line.startswith("reclaim "), line.startswith("# look reclaimed-")
        flushed += ["flush-counters"] * before + [line] + ["flush-counters"] * after
    return flushed


def kswapd_events(seed: int = 5) -> list[str]:
    """More memory than the machine has, in order; then accesses in order and anywhere.

    After each access that woke kswapd, the program sleeps until kswapd does: kswapd looks once more after
    0.1 s, and reclaims if memory is short again then.
    """
    random = SplitMix64(seed)
    size = KSWAPD_PAGES * PAGE
    lines = ["# alone", "# drain", "# first", "idle kswapd", "# look start", f"hugetlb 2MB {KSWAPD_POOL}"]
    lines += [f"mmap {REGION:#x} {size:#x} rw", f"madvise {REGION:#x} {size:#x} nohugepage"]
    for first in range(0, KSWAPD_PAGES, 1000):
        lines.append(f"touch {REGION + first * PAGE:#x} w {1000 * PAGE:#x}")
        lines += [f"# look full-{first}"] if first >= KSWAPD_FITTING else []
    for part in range(8):
        lines += [*_reclaim_accesses(random, KSWAPD_PAGES, KSWAPD_ACCESSES // 8), f"# look used-{part}"]
    return lines


def _reclaim_accesses(random: SplitMix64, pages: int, count: int) -> list[str]:
    lines = []
    base = random.below(pages)
    at = in_order = 0
    for index in range(count):
        if index % 50 == 0:
            at, in_order = random.below(pages), random.below(3)
        near = (base + random.below(pages // 4)) % pages
        at = (at + 1) % pages if in_order else near if random.below(4) else random.below(pages)
        lines.append(f"touch {REGION + at * PAGE:#x} {'rw'[random.below(2)]}")
    return lines


def compare_reclaimed(guest: dict[str, np.ndarray], mine: dict[str, np.ndarray]) -> Agreement:
    """Pages that one of both has in swap and did not have there at the look before, of all looks."""
    found = Agreement()
    before, mine_before = nothing(), nothing()
    for look, theirs in guest.items():
        ours = mine[look]
        taken = ((theirs == SWAPPED) & (before != SWAPPED)) | ((ours == SWAPPED) & (mine_before != SWAPPED))
        other = np.flatnonzero(taken & ((theirs == SWAPPED) != (ours == SWAPPED)))
        first = ""
        if len(other):
            where = "guest" if theirs[other[0]] == SWAPPED else "imitation"
            first = f"look {look}, address {REGION + other[0] * PAGE:#x}: in swap in the {where} only"
        found += Agreement(int(taken.sum()), int(taken.sum()) - len(other), first)
        before, mine_before = theirs, ours
    return found


def compare_reclaim_order(guest: dict[str, np.ndarray], mine: dict[str, np.ndarray]) -> Agreement:
    """Pages in swap when memory has been filled in order, and no page has come back: those of the one that
    took less, and how many of them are in swap in both.

    So this compares which pages reclaim took, whatever their number is.
    """
    look = [name for name in guest if name.startswith("full-")][-1]
    theirs, ours = guest[look] == SWAPPED, mine[look] == SWAPPED
    fewer, more = sorted((theirs, ours), key=lambda taken: int(taken.sum()))
    other = np.flatnonzero(fewer & ~more)
    first = f"look {look}, address {REGION + other[0] * PAGE:#x}: not in swap in both" if len(other) else ""
    return Agreement(int(fewer.sum()), int(fewer.sum()) - len(other), first)


# The scenes by name.


@dataclass(frozen=True)
class Scene:
    """A process.

    Attributes:
        events: its calls and accesses.
        options: of ``tessera-vm``, for the same run.
        setup: lines of the script before it starts.
        append: arguments for the kernel.
        replayed: the recorded events, as ``tessera-vm`` gets them.
    """

    events: Callable[[], list[str]]
    options: list[str]
    setup: str
    append: str = ""
    replayed: Callable[[list[str]], list[str]] = list

    def record(self, oracle: Oracle, out: Path) -> Paging:
        """The maps of the process at all its looks, and the state of memory at the look ``start``."""
        state = ""
        looks: dict[str, np.ndarray] = {}
        root = 0

        def look(look: Look) -> bool:
            nonlocal state, root
            if look.name == "ready":
                return False
            if look.name == "start":
                state, root = oracle.reader(look).text(others=True), look.processors[0]
            # Later, the processor may have another process's root: it keeps the last one while it sleeps.
            looks[look.name] = walked_map(look.memory, root)
            return False

        lines = self.events()
        files = {"/run/faults": oracle.file("faults"), "/run/events": text_of_lines(lines).encode()}
        oracle.run(FAULTS + self.setup + FAULTS_RUN, files, out, look, self.append)
        return Paging(lines, state, root // 4096, looks)


#: By name in a recording.
SCENES = {
    "compact": Scene(compaction_events, COMPACTION_OPTIONS, COMPACTION_SETUP),
    "direct": Scene(direct_compaction_events, DIRECT_COMPACTION_OPTIONS, DIRECT_COMPACTION_SETUP),
    "pool": Scene(pool_events, COMPACTION_OPTIONS, COMPACTION_SETUP),
    "reclaim": Scene(reclaim_events, RECLAIM_OPTIONS, RECLAIM_SETUP, RECLAIM_APPEND, with_flushes),
    "kswapd": Scene(kswapd_events, RECLAIM_OPTIONS, KSWAPD_SETUP, KSWAPD_APPEND),
}
