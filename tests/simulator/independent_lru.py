"""TLBs, page walks and caches of one layout in plain Python: an oracle apart from the simulator.

Written from artifacts/simulator/README.md: LRU everywhere, a shared second level for 4KB and 2MB pages and
one for 1GB pages, walk caches per level, table frames in order of first touch, L2 asked after L1D, then L3,
whose sets a hash chooses (any number of slices but 1, 2, 4 and 8). An access that crosses a 4KB page is
translated again, behind its line, for the next page, unless one larger page holds both.
"""

from __future__ import annotations

from collections import OrderedDict

TABLES = 1 << 48  #: physical address of the page tables
SHIFTS = {"4kb": 12, "2mb": 21, "1gb": 30}
LEAF = {"4kb": 12, "2mb": 21, "1gb": 30}  #: what one leaf entry maps, as a shift
WALK = (39, 30, 21, 12)  #: what an entry of each level maps, from the root down


class Lru:
    """Sets of names, least recently used first."""

    def __init__(self, sets: int, ways: int):
        self.ways = ways
        self.sets = [OrderedDict() for _ in range(sets)]

    def hit(self, number: int, name: object) -> bool:
        """Whether the name is there; refreshes it."""
        if not self.sets:
            return False
        found = name in (entries := self.sets[number % len(self.sets)])
        if found:
            entries.move_to_end(name)
        return found

    def fill(self, number: int, name: object) -> None:
        """Puts a name in that is not there."""
        if self.sets:
            entries = self.sets[number % len(self.sets)]
            entries[name] = None
            if len(entries) > self.ways:
                entries.popitem(last=False)


def l3_set(line: int, sets: int, slices: int) -> int:
    """The slice is a fraction of a multiple of the golden ratio; its set has the 2MB region mixed in."""
    if slices == 0:
        return line
    assert slices not in (1, 2, 4, 8)
    fraction = line * 0x9E3779B97F4A7C15 % 2**64 // 2**32
    return fraction * slices // 2**32 * (sets // slices) + (line ^ line // 2**15) % (sets // slices)


class Machine:
    """H, M, C and references by serving level of one layout.

    Args:
        p: flat platform keys and values.
        page_size: address -> ``4kb``, ``2mb`` or ``1gb``.
    """

    def __init__(self, p: dict, page_size):
        def lru(key: str) -> Lru:
            ways = p[f"{key}.ways"]
            return Lru(p[f"{key}.entries"] // ways if ways else 0, ways)

        def cache(key: str) -> Lru:
            return Lru(p[f"cache.{key}.bytes"] // 64 // p[f"cache.{key}.ways"], p[f"cache.{key}.ways"])

        self.page_size = page_size
        self.first = {size: lru(f"tlb.l1d.{size}") for size in SHIFTS}
        shared = lru("tlb.stlb")
        self.second = {"4kb": shared, "2mb": shared, "1gb": lru("tlb.stlb_1gb")}
        self.kept = {21: lru("pwc.pde"), 30: lru("pwc.pdpte"), 39: lru("pwc.pml4e")}
        self.caches = [cache("l1d"), cache("l2"), cache("l3")]
        latency = [p[f"cache.{name}.load_cycles"] for name in ("l1d", "l2", "l3")]
        self.latency = [*latency, p["memory.load_cycles"]]
        self.begin, self.slices = p["walker.begin_cycles"], p["cache.l3.slices"]
        self.frames = {("root", 0): 0}
        self.hits = self.misses = self.walk_cycles = 0
        self.program, self.walker = [0] * 4, [0] * 4

    def access(self, address: int, size_bytes: int = 1) -> None:
        """One load or store."""
        self.translate(address)
        self.program[self.load(address)] += 1
        last = address + size_bytes - 1
        if last >> 12 == address >> 12:
            return
        second = last >> 12 << 12
        size = self.page_size(address)
        self.touch(second)
        if second >> SHIFTS[size] != address >> SHIFTS[size]:
            self.translate(second)

    def touch(self, address: int) -> None:
        """Gives frames to the tables of a page."""
        for kind in (39, 30, 21):  # the tables below the root, top down
            self.frames.setdefault((kind, address >> kind), len(self.frames))

    def translate(self, address: int) -> None:
        """Looks a page up, and walks."""
        self.touch(address)
        size = self.page_size(address)
        number = address >> SHIFTS[size]
        name = (size, number)
        if not self.first[size].hit(number, name):
            if self.second[size].hit(number, name):
                self.hits += 1
            else:
                self.misses += 1
                self.walk(address, LEAF[size])
                self.second[size].fill(number, name)
            self.first[size].fill(number, name)

    def walk(self, address: int, leaf: int) -> None:
        """Reads entries from below the lowest one that a walk cache holds down to the leaf."""
        path = [shift for shift in WALK if shift >= leaf]
        begin = 0
        for i in reversed(range(len(path) - 1)):
            if self.kept[path[i]].hit(address >> path[i], address >> path[i]):
                begin = i + 1
                break
        self.walk_cycles += self.begin
        for shift in path[begin:]:
            above = ("root", 0) if shift == 39 else (shift + 9, address >> (shift + 9))
            level = self.load(TABLES + self.frames[above] * 4096 + (address >> shift) % 512 * 8)
            self.walker[level] += 1
            self.walk_cycles += self.latency[level]
            if shift != leaf:
                self.kept[shift].fill(address >> shift, address >> shift)

    def load(self, address: int) -> int:
        """The level that serves the line: 0 to 2 caches, 3 memory. A level that misses fills."""
        line = address >> 6
        for level, cache in enumerate(self.caches):
            number = l3_set(line, len(cache.sets), self.slices) if level == 2 else line
            if cache.hit(number, line):
                return level
            cache.fill(number, line)
        return 3
