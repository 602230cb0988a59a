"""Pages that reclaim takes from the LRU lists, in the guest and in ``tessera-vm``.

Which pages go to swap follows from the order of the lists, from who was used lately, and from refaults.
There are two ways to ask for reclaim: a write to ``memory.reclaim`` of the root cgroup, and memory that
becomes short, so that kswapd is woken.
"""

from __future__ import annotations

import numpy as np

from tessera.oracle.events import SplitMix64
from tessera.oracle.faults import PAGE, REGION
from tessera.oracle.paging import SWAPPED, Compared, nothing

#: Of ``tessera-vm``: the swap area is a RAM disk.
OPTIONS = ["--others", "movable", "--swap", "128MB", "--swap-device", "zram"]
#: For the kernel. Files of a ramfs are on no list that reclaim scans. kswapd's run has no memory cgroups,
#: like the imitation.
APPEND = "rootfstype=ramfs"
APPEND_KSWAPD = f"{APPEND} cgroup_disable=memory"
#: The RAM disk has all its memory before the process starts.
SETUP = """\
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
SETUP_KSWAPD = f"""\
{SETUP}echo -1 > /proc/sys/kernel/sched_rt_runtime_us
echo 0 > /proc/sys/vm/watermark_boost_factor
export KSWAPD=$(pidof kswapd0)
"""

PAGES, EPISODES, ROUNDS, ACCESSES = 16384, 12, 4, 700
#: Of kswapd's run: pages of the process, of which two thirds fit into memory, and huge
#: pages that the pool takes away.
MANY_PAGES, POOL, FITTING, ACCESSES_LATER = 95_000, 200, 64_000, 12_000


def events(seed: int = 1) -> list[str]:
    """Episodes, each with new memory: rounds of a request for some MB, and of accesses."""
    random = SplitMix64(seed)
    size = PAGES * PAGE
    lines = ["# alone", "# drain", "# look start"]
    for episode in range(EPISODES):
        lines += [f"mmap {REGION:#x} {size:#x} rw", f"madvise {REGION:#x} {size:#x} nohugepage"]
        lines.append(f"touch {REGION:#x} w {size:#x}")
        for round_ in range(ROUNDS):
            lines.append(f"reclaim {(200 + random.below(1000)) * PAGE:#x}")
            lines.append(f"# look reclaimed-{episode}-{round_}")
            lines += _accesses(random, PAGES, ACCESSES)
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
    size = MANY_PAGES * PAGE
    lines = ["# alone", "# drain", "# first", "idle kswapd", "# look start", f"hugetlb 2MB {POOL}"]
    lines += [f"mmap {REGION:#x} {size:#x} rw", f"madvise {REGION:#x} {size:#x} nohugepage"]
    for first in range(0, MANY_PAGES, 1000):
        lines.append(f"touch {REGION + first * PAGE:#x} w {1000 * PAGE:#x}")
        lines += [f"# look full-{first}"] if first >= FITTING else []
    for part in range(8):
        lines += [*_accesses(random, MANY_PAGES, ACCESSES_LATER // 8), f"# look used-{part}"]
    return lines


def _accesses(random: SplitMix64, pages: int, count: int) -> list[str]:
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


def compare(guest: dict[str, np.ndarray], mine: dict[str, np.ndarray]) -> Compared:
    """Pages that one of both has in swap and did not have there at the look before, of all looks."""
    pages = equal = 0
    first = ""
    before, mine_before = nothing(), nothing()
    for look, theirs in guest.items():
        ours = mine[look]
        taken = ((theirs == SWAPPED) & (before != SWAPPED)) | ((ours == SWAPPED) & (mine_before != SWAPPED))
        other = np.flatnonzero(taken & ((theirs == SWAPPED) != (ours == SWAPPED)))
        pages, equal = pages + int(taken.sum()), equal + int(taken.sum()) - len(other)
        if len(other) and not first:
            where = "guest" if theirs[other[0]] == SWAPPED else "imitation"
            first = f"look {look}, address {REGION + other[0] * PAGE:#x}: in swap in the {where} only"
        before, mine_before = theirs, ours
    return Compared(pages, equal, first)


def compare_order(guest: dict[str, np.ndarray], mine: dict[str, np.ndarray]) -> Compared:
    """Pages in swap when memory has been filled in order, and no page has come back: those of the one that
    took less, and how many of them are in swap in both.

    So this compares which pages reclaim took, whatever their number is.
    """
    look = [name for name in guest if name.startswith("full-")][-1]
    theirs, ours = guest[look] == SWAPPED, mine[look] == SWAPPED
    fewer, more = sorted((theirs, ours), key=lambda taken: int(taken.sum()))
    other = np.flatnonzero(fewer & ~more)
    first = f"look {look}, address {REGION + other[0] * PAGE:#x}: not in swap in both" if len(other) else ""
    return Compared(int(fewer.sum()), int(fewer.sum()) - len(other), first)
