"""H and M by an independent LRU: ordered dictionaries, one access after another, from the definition.

L1 DTLB split by page size, a second level as the platform says; set = page number modulo sets, in pages of
its own size; least recently used goes. The simulator's code, its data structures and its shortcuts are not
used here.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from tessera.core.units import PAGE_1GB, PAGE_2MB, PAGE_4KB
from tessera.judge.validation.synthetic.stream import ANON_BASE, HEAP_BASE, Stream
from tessera.layouts.model import Layout
from tessera.platforms import Platform

BASES = {"brk": HEAP_BASE, "mmap": ANON_BASE}
NAMES = {PAGE_4KB: "4kb", PAGE_2MB: "2mb", PAGE_1GB: "1gb"}


class Lru:
    """A set-associative array of names, least recently used out."""

    def __init__(self, entries: int, ways: int):
        self.ways = ways
        self.sets: list[OrderedDict] = [OrderedDict() for _ in range(entries // ways)]

    def hit(self, number: int, name: tuple[int, int]) -> bool:
        """Whether ``name`` is held; if so it becomes the most recent."""
        entries = self.sets[number % len(self.sets)]
        if name not in entries:
            return False
        entries.move_to_end(name)
        return True

    def fill(self, number: int, name: tuple[int, int]) -> None:
        """Put ``name`` in as the most recent."""
        entries = self.sets[number % len(self.sets)]
        if len(entries) == self.ways:
            entries.popitem(last=False)
        entries[name] = None


@dataclass(frozen=True)
class Counts:
    """STLB hits and misses of data accesses."""

    hits: int
    misses: int


def supports(platform: Platform) -> bool:
    """Whether this oracle covers the platform: LRU, split first level, no instruction side in the STLB."""
    value = {key: v.value for key, v in platform.values.items()}
    lru = all(value.get(f"tlb.{name}.replacement", "lru") == "lru" for name in ("l1d", "stlb"))
    split = not any(value.get(f"tlb.l1d.{size}.in_4kb", 0) for size in ("2mb", "1gb"))
    usual = {"mmu.design": "conventional", "tlb.organisation": "split"}
    plain = all(value.get(key, word) == word for key, word in usual.items())
    return lru and split and plain and not value.get("tlb.l1i.entries", 0)


def count(stream: Stream, layout: Layout, platform: Platform) -> Counts:
    """H and M of a stream under one layout."""
    value = {key: v.value for key, v in platform.values.items()}
    first = {
        size: Lru(value[f"tlb.l1d.{n}.entries"], value[f"tlb.l1d.{n}.ways"]) for size, n in NAMES.items()
    }
    second = _second_levels(value)
    addresses = stream.addresses().astype(np.int64)
    sizes = page_sizes(addresses, layout)
    hits = misses = 0
    for number, size in zip((addresses // sizes).tolist(), sizes.tolist(), strict=True):
        name = (number, size)
        if first[size].hit(number, name):
            continue
        array = second[size]
        if array is not None and array.hit(number, name):
            hits += 1
        else:
            misses += 1
            if array is not None:
                array.fill(number, name)
        first[size].fill(number, name)
    return Counts(hits, misses)


def page_sizes(addresses: np.ndarray, layout: Layout) -> np.ndarray:
    """Page size (bytes) of each address."""
    sizes = np.full(len(addresses), PAGE_4KB)
    for window in layout.windows:
        base = BASES[window.pool]
        inside = (addresses >= base + window.start) & (addresses < base + window.end)
        sizes[inside] = window.page_bytes
    return sizes


def _second_levels(value: dict) -> dict[int, Lru | None]:
    shared = _array(value, "tlb.stlb")
    own = {PAGE_2MB: _array(value, "tlb.stlb_2mb"), PAGE_1GB: _array(value, "tlb.stlb_1gb")}
    held = {PAGE_2MB: value.get("tlb.stlb.holds_2mb", 0), PAGE_1GB: value.get("tlb.stlb.holds_1gb", 0)}
    return {PAGE_4KB: shared} | {size: shared if held[size] else own[size] for size in own}


def _array(value: dict, key: str) -> Lru | None:
    entries = value.get(f"{key}.entries", 0)
    return Lru(entries, value[f"{key}.ways"]) if entries else None
