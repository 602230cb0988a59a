"""The engines against each other and an independent LRU, over random traces, layouts and platforms."""

from __future__ import annotations

import sys
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.layouts.layout import Layout
from tessera.core.platforms import Platform, load_platform, platform_names
from tessera.core.results.machine_tables import ENGINES
from tessera.core.results.table_io import frame_of
from tessera.core.units import PAGE_1GB, PAGE_2MB, PAGE_4KB
from tessera.lab.study import Amount, Run, Seed, study
from tessera.lab.validation import engine_cases
from tessera.lab.validation.synthetic import ANON_BASE, HEAP_BASE, Batch, Rows, Stream, batch

# H and M by an independent LRU: ordered dictionaries, one access after another, from the definition.
#
# L1 DTLB split by page size, a second level as the platform says; set = page number modulo sets, in pages of
# its own size; least recently used goes. The simulator's code, its data structures and its shortcuts are not
# used here.

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


def lru_supports(platform: Platform) -> bool:
    """Whether this oracle covers the platform: LRU, split first level, no instruction side in the STLB."""
    value = {key: v.value for key, v in platform.values.items()}
    lru = all(value.get(f"tlb.{name}.replacement", "lru") == "lru" for name in ("l1d", "stlb"))
    split = not any(value.get(f"tlb.l1d.{size}.in_4kb", 0) for size in ("2mb", "1gb"))
    usual = {"mmu.design": "conventional", "tlb.organisation": "split"}
    plain = all(value.get(key, word) == word for key, word in usual.items())
    return lru and split and plain and not value.get("tlb.l1i.entries", 0)


def counts_by_lru(stream: Stream, layout: Layout, platform: Platform) -> Counts:
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


# Run every engine on the same random cases and count cells that differ; the number must be zero.
#
# A cell is one layout of one trace on one platform by one engine, compared with the reference engine's in
# every column that both have. Beside the engines: both instruction sets, another grouping and another order
# of the layouts, and the Python LRU for H and M where it covers the platform.

IGNORED = {"layout", "status", "message"}
RUNTIME = ("runtime_cycles", "runtime_cycles_ci95")
REFERENCE = "reference"
NOT_COMPARED = "not compared: "  #: one engine refused what another simulated
ORACLE = "Python LRU (H, M)"
ISA = "TESSERA_SIM_ISA"


@dataclass(frozen=True)
class Way:
    """One way to run: an engine with options; ``reverse``: layouts in reverse order."""

    name: str
    engine: str
    env: tuple[tuple[str, str], ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    reverse: bool = False


WAYS = (
    Way("partial", "partial"),
    Way("timing", "timing"),
    Way("partial, AVX2", "partial", ((ISA, "avx2"),)),
    Way("timing, AVX2", "timing", ((ISA, "avx2"),)),
    Way("timing, groups of 5", "timing", (), (("--group", "5"),)),
    Way("timing, other order of layouts", "timing", reverse=True),
)


#: amount -> (traces, instructions of each, layouts of each)
COUNTS = {"full": (3, 12_000, 18), "quick": (1, 2_000, 5)}


def say_differences(table: pd.DataFrame) -> None:
    """Print how many cells differ, and the first one of each comparison."""
    print(f"{table['cells'].sum()} cells compared, {table['differing'].sum()} differ")
    for row in table[(table["differing"] > 0) | (table["message"] != "")].itertuples():
        print(f"{row.comparison}, {row.platform}: {row.first_difference or row.message}", file=sys.stderr)


@study(ENGINES, show=say_differences)
def engines(
    run: Run, platforms: tuple[Platform, ...] = (), amount: Amount = "full", seed: Seed = 1
) -> pd.DataFrame:
    """Compare the engines, and an LRU in Python, on random traces, layouts and platforms.

    The platforms are the given ones, and variants of one that each change some keys.

    Example: ./run tessera lab run engines amount=quick --out /tmp/engines.csv

    Args:
        platforms: names or YAML files; default: all of config/platforms.
        amount: number and length of the traces; quick takes seconds.
        seed: of traces and layouts.
    """
    cases = engine_cases.platform_cases(platforms or [load_platform(name) for name in platform_names()])
    traces, instructions, layouts_of_each = COUNTS[amount]
    rows: dict[tuple[str, str], dict] = {}
    for number in range(traces):
        run.say(f"engines: random trace {number + 1} of {traces}")
        random = np.random.default_rng([seed, number])
        stream = engine_cases.random_program(random, instructions)
        layouts = [engine_cases.random_layout(random, f"random-{i}") for i in range(layouts_of_each)]
        part = instructions // 12
        sampled = f"units=3,warmup_accesses={part},timed_instructions={part}"
        sampling = sampled if number % 2 else "full"
        with batch() as work:
            _compare_trace(work, stream, layouts, sampling, cases, rows)
    return frame_of(ENGINES, list(rows.values()))


def _compare_trace(
    work: Batch,
    stream: Stream,
    layouts: list[Layout],
    sampling: str,
    cases: dict[str, Platform],
    rows: dict,
) -> None:
    """Add the cells of one trace to ``rows``, by way and platform."""
    trace = work.add_trace(stream)
    listings = {False: work.add_layouts(layouts), True: work.add_layouts(layouts[::-1])}
    outputs: dict[tuple[str, str], Path] = {}
    for name, platform in cases.items():
        flat = work.add_platform(platform.flat())
        for way in (Way(REFERENCE, REFERENCE), *WAYS):
            outputs[name, way.name] = work.add_run(
                trace, flat, listings[way.reverse], way.engine, sampling=sampling,
                options=dict(way.options), env=dict(way.env),
            )  # fmt: skip
    work.run()
    for name, platform in cases.items():
        truth = work.rows(outputs[name, REFERENCE])
        for way in WAYS:
            _add(rows, way.name, name, *differing(truth, work.rows(outputs[name, way.name])))
        if lru_supports(platform):
            _add(rows, ORACLE, name, *_against_oracle(truth, stream, layouts, platform))


def differing(truth: Rows, found: Rows) -> tuple[int, list[str], str]:
    """Cells compared, what differs (a text per cell), and why nothing was compared."""
    if truth.error or found.error:
        same = truth.error and found.error
        return 0, [], ("refused by all: " if same else NOT_COMPARED) + (found.error or truth.error)
    different = []
    for layout, expected in truth.by_layout.items():
        got = found.by_layout.get(layout, {})
        columns = [c for c in expected if c not in IGNORED and not (c in RUNTIME and not got.get(c))]
        wrong = [
            f"{layout}: {c} {got.get(c)} instead of {expected[c]}"
            for c in columns
            if got.get(c) != expected[c]
        ]
        different += wrong[:1]
    return len(truth.by_layout), different, ""


def _against_oracle(
    truth: Rows, stream: Stream, layouts: list[Layout], platform: Platform
) -> tuple[int, list[str], str]:
    if truth.error:
        return 0, [], truth.error
    different = []
    for layout in layouts:
        row, counts = truth.by_layout[layout.name], counts_by_lru(stream, layout, platform)
        if (int(row["stlb_hits"]), int(row["stlb_misses"])) != (counts.hits, counts.misses):
            different.append(
                f"{layout.name}: H {row['stlb_hits']} M {row['stlb_misses']}"
                f" instead of {counts.hits} {counts.misses}"
            )
    return len(layouts), different, ""


def _add(rows: dict, way: str, platform: str, cells: int, different: list[str], message: str) -> None:
    start = {"comparison": way, "platform": platform, "cells": 0, "differing": 0}
    row = rows.setdefault((way, platform), dict.fromkeys(ENGINES.names, "") | start)
    row["cells"] += cells
    row["differing"] += len(different)
    row["first_difference"] = row["first_difference"] or (different[0] if different else "")
    row["message"] = row["message"] or message
