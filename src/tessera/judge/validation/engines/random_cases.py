"""Random programs and random layouts from a seed, with locality at several scales."""

from __future__ import annotations

import numpy as np

from tessera.core.units import GB, MB, PAGE_1GB, PAGE_2MB
from tessera.judge.validation.synthetic.stream import ANON_BASE, HEAP_BASE, NONE, Stream
from tessera.layouts.model import Layout, Window

POOL_BYTES = 2 * GB
OUTSIDE = 0x7FFF_F000_0000  #: a stack: addresses in no pool
STATIC_INSTRUCTIONS = 40


def random_stream(random: np.random.Generator, count: int) -> Stream:
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
