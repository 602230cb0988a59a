"""What engines are compared on: platforms with some keys changed, random programs and layouts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import Layout, Window
from tessera.core.platforms import Platform, Value
from tessera.core.units import GB, MB, PAGE_1GB, PAGE_2MB
from tessera.lab.validation.synthetic import ANON_BASE, HEAP_BASE, NONE, Stream

# Platforms to compare engines on: the committed ones, and one of them with some keys changed.
#
# A variant is a name and the keys that it changes; a new one is one entry of :data:`VARIANTS`. Keys that a
# platform file doesn't have are an error, so that a renamed key can't make two variants the same.

BASE = "broadwell-sim"
#: what formulas, and variants that bend one thing, leave out: prefetchers, DRAM rows, the instruction side,
#: slices, walks and write-backs in memory's queues
PLAIN: dict[str, int | str] = {
    "tlb.l1d.replacement": "lru", "tlb.stlb.replacement": "lru", "tlb.l1i.entries": 0, "tlb.l1i.ways": 0,
    "prefetch.l1d.kind": "none", "prefetch.l1d.entries": 0, "prefetch.l1d.degree": 0,
    "prefetch.l1d.distance": 0,
    "prefetch.l2.kind": "none", "prefetch.l2.entries": 0, "prefetch.l2.degree": 0, "prefetch.l2.distance": 0,
    "dram.channels": 0, "dram.banks": 0, "dram.row_bytes": 0, "dram.row_hit_saves_cycles": 0,
    "dram.row_conflict_adds_cycles": 0, "dram.bank_busy_cycles": 0, "dram.queues_walks": 0,
    "cache.l3.slices": 0, "cache.write_backs": 0,
}  # fmt: skip
#: small and oddly shaped, so that random traces reach every eviction: sets that are no powers of two
TINY = PLAIN | {
    "walker.count": 2, "walker.uses_mshrs": 0, "tlb.stlb.holds_2mb": 1,
    "tlb.l1d.4kb.entries": 8, "tlb.l1d.4kb.ways": 2, "tlb.l1d.2mb.entries": 4, "tlb.l1d.2mb.ways": 2,
    "tlb.l1d.1gb.entries": 1, "tlb.l1d.1gb.ways": 1, "tlb.stlb.entries": 18, "tlb.stlb.ways": 6,
    "tlb.stlb_1gb.entries": 2, "tlb.stlb_1gb.ways": 2, "pwc.pde.entries": 6, "pwc.pde.ways": 2,
    "pwc.pdpte.entries": 2, "pwc.pdpte.ways": 1, "pwc.pml4e.entries": 1, "pwc.pml4e.ways": 1,
    "cache.l1d.bytes": 1024, "cache.l1d.ways": 2, "cache.l2.bytes": 4608, "cache.l2.ways": 3,
    "cache.l3.bytes": 20736, "cache.l3.ways": 9, "core.rob_entries": 13, "core.load_queue_entries": 5,
    "core.store_buffer_entries": 3, "core.mshrs": 3,
}  # fmt: skip
VARIANTS: dict[str, dict[str, int | str]] = {
    "twelve-way-1536": PLAIN | {"tlb.stlb.entries": 1536, "tlb.stlb.ways": 12},
    "tiny": TINY,
    "tiny, no second level": TINY | {"tlb.stlb.entries": 0, "tlb.stlb.ways": 0, "tlb.stlb.holds_2mb": 0},
    "tiny, no walk caches": TINY
    | {f"pwc.{level}.{what}": 0 for level in ("pde", "pdpte", "pml4e") for what in ("entries", "ways")},
    "tiny, one walker": TINY | {"walker.count": 1},
    "tiny, tree-PLRU": TINY | {"tlb.l1d.replacement": "tree-plru", "tlb.stlb.replacement": "tree-plru"},
    "tiny, SRRIP": TINY | {"tlb.l1d.replacement": "srrip", "tlb.stlb.replacement": "srrip"},
    "tiny, five levels": TINY | {"page_table.levels": 5, "pwc.pml5e.entries": 1, "pwc.pml5e.ways": 1},
    "tiny, 2MB in the 4KB array": TINY
    | {"tlb.l1d.2mb.in_4kb": 1, "tlb.l1d.2mb.entries": 0, "tlb.l1d.2mb.ways": 0},
    "tiny, instruction side": TINY | {"tlb.l1i.entries": 4, "tlb.l1i.ways": 2},
    "tiny, walks pollute nothing": TINY | {"walker.pollutes": 0},
    "tiny, walks hold MSHRs": TINY | {"walker.uses_mshrs": 1},
    "tiny, slow walkers": TINY | {"walker.load_adds_cycles": 23},
    "tiny, four slices": TINY | {"cache.l3.slices": 4},
    "tiny, nine slices": TINY | {"cache.l3.slices": 9},
    "tiny, slow begin of walks": TINY | {"walker.begin_cycles": 31},
    "tiny, any number of walkers": TINY | {"walker.count": 0},
    "tiny, no overlap": TINY | {"core.overlap": 0},
    "tiny, DRAM": TINY
    | {
        "dram.channels": 2,
        "dram.banks": 4,
        "dram.row_bytes": 1024,
        "dram.row_hit_saves_cycles": 40,
        "dram.row_conflict_adds_cycles": 30,
        "dram.bank_busy_cycles": 12,
    },
    "tiny, write-backs": TINY | {"cache.write_backs": 1, "memory.cycles_per_line": 9},
    "tiny, walks in memory's queues": TINY
    | {
        "dram.queues_walks": 1,
        "dram.channels": 2,
        "dram.banks": 4,
        "dram.row_bytes": 1024,
        "dram.row_hit_saves_cycles": 40,
        "dram.row_conflict_adds_cycles": 30,
        "dram.bank_busy_cycles": 12,
    },
    "tiny, prefetchers": TINY
    | {
        "prefetch.l1d.kind": "stride",
        "prefetch.l1d.entries": 16,
        "prefetch.l1d.degree": 2,
        "prefetch.l1d.distance": 2,
        "prefetch.l2.kind": "stream",
        "prefetch.l2.entries": 16,
        "prefetch.l2.degree": 2,
        "prefetch.l2.distance": 4,
    },
}


def platform_cases(given: Sequence[Platform]) -> dict[str, Platform]:
    """The given platforms, then every variant of :data:`BASE`."""
    found = {one.name: one for one in given}
    return found | {name: bent(platforms.load_platform(BASE), name, keys) for name, keys in VARIANTS.items()}


def bent(platform: Platform, name: str, keys: dict[str, int | str]) -> Platform:
    """The platform with other values.

    Raises:
        TesseraError: the platform has no such key.
    """
    if missing := [key for key in keys if key not in platform.values]:
        raise TesseraError(
            f"variant '{name}' of {platform.name}", f"no key {', '.join(missing)}", "see `tessera-sim keys`"
        )
    changed = {key: Value(value, f"assumed: variant '{name}' of a validation") for key, value in keys.items()}
    return replace(platform, name=name, values=platform.values | changed)


# Random programs and random layouts from a seed, with locality at several scales.

POOL_BYTES = 2 * GB
OUTSIDE = 0x7FFF_F000_0000  #: a stack: addresses in no pool
STATIC_INSTRUCTIONS = 40


def random_program(random: np.random.Generator, count: int) -> Stream:
    """``count`` instructions of a random program: loads, stores, both or neither, with dependences."""
    kinds = random.integers(0, 4, STATIC_INSTRUCTIONS)  # 0 arithmetic, 1 load, 2 store, 3 both
    sources = random.integers(-1, 8, STATIC_INSTRUCTIONS)
    destinations = random.integers(-1, 8, STATIC_INSTRUCTIONS)
    which = random.integers(0, STATIC_INSTRUCTIONS, count)
    loads = np.where(np.isin(kinds[which], (1, 3)), random_addresses(random, count), 0)
    stores = np.where(np.isin(kinds[which], (2, 3)), random_addresses(random, count), 0)
    pc = (0x400000 + 1536 * which).astype(np.uint64)  # fifteen code pages
    return Stream(
        pc,
        loads.astype(np.uint64),
        stores.astype(np.uint64),
        np.where(kinds[which] > 0, np.maximum(sources[which], 0), sources[which]),
        np.where(kinds[which] == 2, NONE, destinations[which]),
        heap_bytes=POOL_BYTES,
        anon_bytes=POOL_BYTES,
    )


def random_addresses(random: np.random.Generator, count: int) -> np.ndarray:
    """Addresses anywhere in the pools, in small hot parts, in a strided walk, and outside all pools."""
    pick = random.integers(0, 8, count)
    hot_pages = HEAP_BASE + random.integers(0, POOL_BYTES // 4096, 600) * 4096
    strided = ANON_BASE + np.arange(count) * int(random.choice([64, 4096 + 64, 2 * MB + 64])) % POOL_BYTES
    choices = [
        HEAP_BASE + random.integers(0, POOL_BYTES, count),
        ANON_BASE + random.integers(0, 64 * MB, count),
        OUTSIDE + random.integers(0, 1 << 16, count),
        HEAP_BASE + random.integers(0, 24 * MB, count),
        strided,
    ]
    near = hot_pages[random.zipf(1.3, count) % len(hot_pages)] + random.integers(0, 4096, count)
    return np.choose(np.minimum(pick, 5), [*choices, near]) & ~np.int64(7)


def random_layout(random: np.random.Generator, name: str) -> Layout:
    """Windows of 2MB and 1GB pages at random places of both pools."""
    windows = []
    for pool in ("brk", "mmap"):
        at = 0
        while at < POOL_BYTES and random.random() < 0.8:
            page = PAGE_1GB if random.random() < 0.15 else PAGE_2MB
            start = -(-at // page) * page
            end = start + page * int(random.integers(1, 200 if page == PAGE_2MB else 2))
            if end > POOL_BYTES:
                break
            windows.append(Window(pool, start, end, page))
            at = end + int(random.integers(0, 64)) * PAGE_2MB
    return Layout(name, {"brk": POOL_BYTES, "mmap": POOL_BYTES}, tuple(sorted(windows)))
