"""Streams whose H, M, C or R follow from a formula: the formula's value beside what the simulator prints."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from tessera.core.layouts.layout import Layout, Window
from tessera.core.platforms import Platform, load_platform, platform_names
from tessera.core.results.machine_tables import CLOSED_FORMS
from tessera.core.results.table_io import frame_of
from tessera.core.units import GB, PAGE_2MB, PAGE_4KB
from tessera.lab.study import Run, study
from tessera.lab.validation.engine_cases import PLAIN, bent
from tessera.lab.validation.synthetic import ANON_BASE, Stream, batch, loads, one_cycle_operations

# The cases: a stream, a platform, a layout, and what a formula expects of H, M, C or R.
#
# Page counts are taken from the platform (``k`` entries, ``w`` ways, ``s`` sets), so the same case probes
# every one. An expectation is exact, or has a tolerance that the formula itself gives: a binomial count
# within 4.5 standard deviations (once in 150,000), or a runtime up to what filling and draining the pipeline
# costs.
#
# A new case is a function that yields :class:`ClosedForm` and one entry of :data:`CASES`.

SIGMAS = 4.5
ENDS_CYCLES = 20  #: the first and the last instruction on their way through the pipeline
ROUNDS = 20


@dataclass(frozen=True)
class ClosedForm:
    """One stream under one layout; ``expected``: column -> (value, tolerance)."""

    name: str
    formula: str
    stream: Stream
    platform: Platform
    expected: dict[str, tuple[float, float]]
    page_bytes: int = PAGE_4KB
    sampling: str = "full"

    def layout(self) -> Layout:
        """All of the anonymous pool in pages of one size."""
        windows = (
            ()
            if self.page_bytes == PAGE_4KB
            else (Window("mmap", 0, self.stream.anon_bytes, self.page_bytes),)
        )
        return Layout("closed-form", {"mmap": self.stream.anon_bytes}, windows)


def _value(platform: Platform, key: str) -> int:
    return int(platform.values[key].value)


def pages(numbers: np.ndarray, page_bytes: int = PAGE_4KB) -> np.ndarray:
    """An address in each page; lines take turns, so that cache sets fill evenly."""
    return ANON_BASE + numbers * page_bytes + numbers % 64 * 64


def _pool(count: int, page_bytes: int = PAGE_4KB) -> int:
    return -(-count * page_bytes // GB) * GB


def stride(platform: Platform) -> Iterator[ClosedForm]:
    """A walk through memory, line by line: one miss a page and no second-level hit."""
    count, lines = 3000, 64
    addresses = ANON_BASE + np.arange(count * lines) * 64
    yield ClosedForm(
        "stride of a line", "M = pages, H = 0", loads(addresses), platform,
        {"stlb_misses": (count, 0), "stlb_hits": (0, 0)},
    )  # fmt: skip


def cyclic(platform: Platform) -> Iterator[ClosedForm]:
    """LRU keeps a cycle that fits, and nothing of one that exceeds every set."""
    l1, stlb = _value(platform, "tlb.l1d.4kb.entries"), _value(platform, "tlb.stlb.entries")
    for name, formula, n, misses, hits in (
        ("cycle that fits the L1 DTLB", "M = n, H = 0", l1, l1, 0),
        ("cycle that fits the STLB", "M = n, H = n (rounds - 1)", stlb, stlb, stlb * (ROUNDS - 1)),
        ("cycle of twice the STLB", "M = n rounds, H = 0", 2 * stlb, 2 * stlb * ROUNDS, 0),
    ):
        stream = loads(pages(np.tile(np.arange(n), ROUNDS)), anon_bytes=_pool(n))
        yield ClosedForm(
            name, formula, stream, platform, {"stlb_misses": (misses, 0), "stlb_hits": (hits, 0)}
        )


def one_set(platform: Platform) -> Iterator[ClosedForm]:
    """One page more than a set has ways, all of that set: every access misses that level."""
    ways = _value(platform, "tlb.l1d.4kb.ways")
    sets = _value(platform, "tlb.l1d.4kb.entries") // ways
    numbers = np.tile(np.arange(ways + 1) * sets, ROUNDS)
    n = ways + 1
    yield ClosedForm(
        "w + 1 pages of one L1 set", "M = w + 1, H = (w + 1)(rounds - 1)", loads(pages(numbers)), platform,
        {"stlb_misses": (n, 0), "stlb_hits": (n * (ROUNDS - 1), 0)},
    )  # fmt: skip


def cyclic_2mb(platform: Platform) -> Iterator[ClosedForm]:
    """2MB pages: beyond L1 they hit the STLB where it holds them, else every access walks."""
    n = 2 * _value(platform, "tlb.l1d.2mb.entries")
    stream = loads(pages(np.tile(np.arange(n), ROUNDS), PAGE_2MB), anon_bytes=_pool(n, PAGE_2MB))
    if _value(platform, "tlb.stlb.holds_2mb"):
        formula, misses, hits = "M = n, H = n (rounds - 1): the STLB holds 2MB pages", n, n * (ROUNDS - 1)
    else:
        formula, misses, hits = "M = n rounds: no second level holds 2MB pages", n * ROUNDS, 0
    yield ClosedForm(
        "cycle of 2MB pages beyond L1", formula, stream, platform,
        {"stlb_misses": (misses, 0), "stlb_hits": (hits, 0)}, PAGE_2MB,
    )  # fmt: skip


def uniform(platform: Platform) -> Iterator[ClosedForm]:
    """Independent uniform references: under LRU the rank of the next page is uniform, so misses are binomial.

    With k of n pages held, an access misses with probability 1 - k/n whatever came before (all n pages are
    touched first, in order). For M the L1 DTLB is cut to one entry: dropping repeats of the same page
    changes no recency.
    """
    random = np.random.default_rng(1)
    count = 200_000
    for name, formula, k, keys, column in (
        (
            "uniform, L1 DTLB",
            "H + M = n + a (1 - k/n)",
            _value(platform, "tlb.l1d.4kb.entries"),
            {},
            "l1_misses",
        ),
        (
            "uniform, STLB",
            "M = n + a (1 - k/n)",
            _value(platform, "tlb.stlb.entries"),
            {"tlb.l1d.4kb.entries": 1, "tlb.l1d.4kb.ways": 1},
            "stlb_misses",
        ),
    ):
        n = 4 * k
        numbers = np.concatenate([np.arange(n), random.integers(0, n, count)])
        share = 1 - k / n
        spread = SIGMAS * math.sqrt(count * share * (1 - share))
        stream = loads(pages(numbers), anon_bytes=_pool(n))
        case = ClosedForm(
            name, formula, stream, bent(platform, platform.name, keys), {column: (n + count * share, spread)}
        )
        yield replace(case, formula=f"{formula}, k = {k}, n = {n}, a = {count}")


def cold_walks(platform: Platform) -> Iterator[ClosedForm]:
    """512 pages in order below one page-directory entry: a line of leaf entries serves eight walks.

    The first walk loads three upper entries from memory, later ones start below the kept PDE. Each eighth
    leaf entry comes from memory, the seven after it from L1D.
    """
    memory, l1d = _value(platform, "memory.load_cycles"), _value(platform, "cache.l1d.load_cycles")
    addresses = ANON_BASE + np.arange(512) * PAGE_4KB + 2048
    begin = _value(platform, "walker.begin_cycles")
    expected = 512 * begin + 3 * memory + 64 * memory + 448 * l1d
    yield ClosedForm(
        "512 cold walks in order", "C = 512 begin + 3 mem + 64 mem + 448 L1D", loads(addresses), platform,
        {"walk_cycles": (expected, 0), "walker_l1d_loads": (515, 0), "walker_dram_loads": (67, 0)},
    )  # fmt: skip


def runtime(platform: Platform) -> Iterator[ClosedForm]:
    """Chains and throughput: what a dependent and an independent stream takes.

    Chases are timed after a warm-up of two rounds. Additions wait for one cold load (a walk of four loads
    and the line, all from memory, after a look-up in the STLB): a chain of them entirely, independent ones
    until the reorder buffer is full behind it. Independent ones go at the dispatch width, or at the number of
    ports that compute if it is smaller (0: any number).
    """
    l1d, hit = _value(platform, "cache.l1d.load_cycles"), _value(platform, "tlb.stlb.hit_cycles")
    entries, width = _value(platform, "tlb.l1d.4kb.entries"), _value(platform, "core.dispatch_width")
    count = 40_000
    for name, formula, n, step in (
        ("chase of L1 DTLB hits", "R = a x L1D", entries // 2, l1d),
        ("chase of STLB hits", "R = a x (L1D + STLB)", 2 * entries, l1d + hit),
    ):
        yield ClosedForm(
            name, formula, loads(pages(np.arange(count) % n)), platform,
            {"runtime_cycles": (count * step, ENDS_CYCLES)},
            sampling=f"units=1,warmup_accesses={2 * n},timed_instructions={count - 3 * n}",
        )  # fmt: skip
    cold = _value(platform, "walker.begin_cycles") + 5 * _value(platform, "memory.load_cycles") + hit
    ports = _value(platform, "core.ports.alu")
    rate = min(width, ports) if ports else width
    hidden = _value(platform, "core.rob_entries") / rate
    yield ClosedForm(
        "chain of additions", "R = a + begin + 5 mem + STLB", one_cycle_operations(count, True), platform,
        {"runtime_cycles": (count + cold, ENDS_CYCLES)},
    )  # fmt: skip
    yield ClosedForm(
        "independent additions",
        "R = a / r + begin + 5 mem + STLB - ROB / r, r = min(width, ports that compute)",
        one_cycle_operations(count, False),
        platform,
        {"runtime_cycles": (count / rate + cold - hidden, ENDS_CYCLES)},
    )


CASES: tuple[Callable[[Platform], Iterator[ClosedForm]], ...] = (
    stride, cyclic, one_set, cyclic_2mb, uniform, cold_walks, runtime,
)  # fmt: skip


def plain(platform: Platform) -> Platform:
    """The platform with LRU TLBs and without prefetchers, DRAM rows and the instruction side."""
    return bent(platform, platform.name, PLAIN)


def applies(platform: Platform) -> bool:
    """The formulas hold for split TLBs of two levels and four-level radix walks."""
    value = {key: v.value for key, v in platform.values.items()}
    wanted = {
        "mmu.design": "conventional",
        "tlb.organisation": "split",
        "page_table.levels": 4,
        "tlb.l1d.2mb.in_4kb": 0,
        "core.overlap": 1,
        "memory.allocator": "identity",
    }
    return all(value.get(key, good) == good for key, good in wanted.items()) and value["tlb.stlb.entries"] > 0


# Simulate the closed-form cases and put the formula's value beside the obtained one.

ENGINE = "timing"


def say_failing(table: pd.DataFrame) -> None:
    """Print how many expected values do not hold."""
    print(f"{len(table)} expected values, {(~table['holds']).sum()} do not hold")


@study(CLOSED_FORMS, show=say_failing)
def closed_forms(run: Run, platforms: tuple[Platform, ...] = ()) -> pd.DataFrame:
    """Compare simulated counts with values from formulas, on the platforms to which the formulas apply.

    Example: ./run tessera lab run closed-forms platforms=haswell-sim --out /tmp/closed_forms.csv

    Args:
        platforms: names or YAML files; default: all of config/platforms.
    """
    rows = []
    for platform in platforms or [load_platform(name) for name in platform_names()]:
        if not applies(platform):
            continue
        run.say(f"closed forms on {platform.name}")
        with batch() as work:
            made = [case for function in CASES for case in function(plain(platform))]
            outputs = []
            for case in made:
                flat, layouts = work.add_platform(case.platform.flat()), work.add_layouts([case.layout()])
                trace = work.add_trace(case.stream)
                outputs.append(work.add_run(trace, flat, layouts, ENGINE, sampling=case.sampling))
            work.run()
            for case, out_file in zip(made, outputs, strict=True):
                found = work.rows(out_file)
                rows += judged_case(case, next(iter(found.by_layout.values()), {}), found.error)
    return frame_of(CLOSED_FORMS, rows)


def judged_case(case: ClosedForm, row: dict[str, str], error: str = "") -> list[dict]:
    """A row per expected quantity; ``holds`` is false where nothing was obtained."""
    rows = []
    for quantity, (expected, tolerance) in case.expected.items():
        obtained = None if error else _obtained(row, quantity)
        rows.append(
            {
                "case": case.name,
                "platform": case.platform.name,
                "quantity": quantity,
                "formula": case.formula,
                "expected": expected,
                "obtained": obtained,
                "tolerance": tolerance,
                "holds": obtained is not None and abs(obtained - expected) <= tolerance,
                "message": error,
            }
        )
    return rows


def _obtained(row: dict[str, str], quantity: str) -> float:
    if quantity == "l1_misses":
        return float(row["stlb_hits"]) + float(row["stlb_misses"])
    return float(row[quantity])
