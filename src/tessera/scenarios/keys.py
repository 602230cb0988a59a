"""The keys of a scenario: default, bounds or words, unit, source, meaning. docs/os.md prints this table."""

from __future__ import annotations

from dataclasses import dataclass

LINUX = "Linux 6.12, mm/huge_memory.c and mm/khugepaged.c: the setting after a boot"


@dataclass(frozen=True)
class Key:
    """One key; ``default`` None: every scenario has to give it.

    A number lies in ``least`` to ``most`` and is a multiple of ``multiple``. A word is one of ``words``. A
    switch is ``true`` or ``false``.
    """

    name: str
    default: int | str | bool | None
    unit: str
    source: str
    meaning: str
    least: int = 0
    most: int = 0
    words: tuple[str, ...] = ()
    multiple: int = 1

    @property
    def switch(self) -> bool:
        """Whether the values are ``true`` and ``false``."""
        return isinstance(self.default, bool)

    def rule(self) -> str:
        """What a value must be."""
        if self.switch:
            return "true or false"
        if self.words:
            return "one of " + ", ".join(self.words)
        step = f", a multiple of {self.multiple}" if self.multiple > 1 else ""
        return f"a whole number from {self.least} to {self.most}{step}"

    def accepts(self, value: object) -> bool:
        """Whether a value from a YAML file keeps the rule."""
        if self.switch:
            return isinstance(value, bool)
        if self.words:
            return isinstance(value, str) and value in self.words
        if not isinstance(value, int) or isinstance(value, bool):
            return False
        return self.least <= value <= self.most and value % self.multiple == 0

    def text(self, value: int | str | bool) -> str:
        """As the program tessera-os reads it."""
        return str(int(value)) if self.switch else str(value)


def _entries(name: str, default: int, meaning: str) -> Key:
    return Key(name, default, "of 512 entries", LINUX, meaning, most=511)


def _thousandths(name: str, default: int, source: str, meaning: str) -> Key:
    return Key(name, default, "thousandths", source, meaning, most=1000)


OURS = "the scenario"

KEYS: tuple[Key, ...] = (
    Key(
        "memory_bytes", None, "bytes", OURS, "Memory of the machine, a multiple of 1MB",
        least=16 << 20, most=1 << 40, multiple=1 << 20,
    ),
    Key("policy", "linux-6.12", "word", "artifacts/imitation", "Who decides", words=("linux-6.12",)),
    Key(
        "fragmentation.index", "none", "word", OURS,
        "Index that is raised before the program begins, in each zone above DMA",
        words=("none", "extfrag-index", "unusable-index"),
    ),
    Key("fragmentation.order", 9, "order", OURS, "Order of the index", least=1, most=10),
    _thousandths("fragmentation.target_thousandths", 500, OURS, "Value of the index"),
    _thousandths(
        "fragmentation.tolerance_thousandths", 5, "assumed: what the fragmenter reaches",
        "Largest difference to the target",
    ),
    _thousandths(
        "fragmentation.movable_share_thousandths", 0, "assumed: pinned frames stay",
        "Pinned frames that compaction could move",
    ),
    Key("fragmentation.seed", 1, "number", OURS, "Chooses the pinned frames", most=(1 << 63) - 1),
    Key(
        "thp.enabled", "always", "word", LINUX, "Areas that get pages of 2MB",
        words=("always", "madvise", "never"),
    ),
    Key(
        "thp.defrag", "madvise", "word", LINUX, "Areas whose faults ask for compaction and reclaim",
        words=("always", "defer", "defer+madvise", "madvise", "never"),
    ),
    Key("thp.use_zero_page", True, "switch", LINUX, "Loads of untouched 2MB get the huge zero page"),
    Key("thp.khugepaged.defrag", True, "switch", LINUX, "khugepaged may ask for compaction and reclaim"),
    _entries("thp.khugepaged.max_ptes_none", 511, "Empty entries that khugepaged fills"),
    _entries("thp.khugepaged.max_ptes_swap", 64, "Swapped entries that it accepts"),
    _entries("thp.khugepaged.max_ptes_shared", 256, "Shared entries that it accepts"),
    Key(
        "thp.khugepaged.pages_to_scan", 4096, "entries", LINUX, "Entries that a wake-up looks at",
        least=1, most=1 << 30,
    ),
    Key(
        "thp.khugepaged.scan_sleep_milliseconds", 10000, "milliseconds", LINUX, "Time between two wake-ups",
        least=1, most=1 << 30,
    ),
    Key(
        "swap.bytes", 0, "bytes", OURS, "Swap area, its header of 4KB included; 0: no swap",
        most=1 << 40, multiple=1 << 20,
    ),
    Key(
        "swap.synchronous", False, "switch", "zram: SWP_SYNCHRONOUS_IO of mm/memory.c",
        "Swap is memory that answers at once: one page a fault, no disk",
    ),
    Key(
        "swap.page_cluster", 3, "log2 of pages", "Linux 6.12, mm/swap.c swap_setup",
        "Pages that a swap fault reads at once, at most", most=5,
    ),
    Key(
        "reclaim.swappiness", 60, "of 200", "Linux 6.12, mm/vmscan.c vm_swappiness",
        "Balance of anonymous pages and pages of files", most=200,
    ),
    Key(
        "compaction.proactive", True, "switch", "Linux 6.12, mm/compaction.c: compaction_proactiveness 20",
        "kcompactd looks at fragmentation each half second",
    ),
    Key(
        "page_cache.at_start", "none", "word", OURS, "Files in memory before the program begins",
        words=("none", "files"),
    ),
    Key(
        "page_cache.other_bytes", 0, "bytes", OURS,
        "A file of somebody else, read once before the program begins", most=1 << 40,
    ),
    Key(
        "hugetlb.pages_2mb", 0, "pages", OURS, "Pool of pages of 2MB for MAP_HUGETLB", most=1 << 19,
    ),
    Key(
        "hugetlb.pages_1gb", 0, "pages", OURS, "Pool of pages of 1GB for MAP_HUGETLB", most=1 << 10,
    ),
    Key(
        "slab.areas", False, "switch", "Linux 6.12, mm/slub.c and kernel/fork.c",
        "The kernel's objects of areas (VMAs) take frames",
    ),
    Key(
        "disk.model", "constant", "word", "artifacts/imitation/disk",
        "Counts and times of what files and swap read and write; no decision depends on it",
        words=("constant", "flash"),
    ),
    Key(
        "time.frequency_hz", 2_000_000_000, "Hz", "assumed: time is instructions / (frequency x IPC)",
        "Frequency of the processor", least=1000, most=10**12,
    ),
    Key(
        "time.instructions_per_1000_cycles", 1000, "instructions", "assumed: an IPC of 1",
        "Instructions of the program in 1,000 cycles", least=1, most=100_000,
    ),
)  # fmt: skip

BY_NAME: dict[str, Key] = {key.name: key for key in KEYS}

#: Parts of Linux that tessera os does not use; a scenario that asks for them is refused by name.
NOT_MODELLED = ("fork", "memory_cgroup", "numa", "shared_memory", "writeback")
