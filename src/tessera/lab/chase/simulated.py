"""The same chases as streams for the simulator: same stride, offsets, order and chains, no program.

The loop's counter and branch are left out: they never delay a chain of dependent loads. A tour is made once
as warm-up, and then as far as is timed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.platforms import Platform
from tessera.core.units import GB, PAGE_4KB, round_up
from tessera.lab.chase.measured import FootprintSweep
from tessera.lab.validation.synthetic import ANON_BASE, Batch, Stream, loads

LEVELS = ("l1d", "l2", "l3", "dram")
LATENCY_KEYS = ("cache.l1d.load_cycles", "cache.l2.load_cycles", "cache.l3.load_cycles", "memory.load_cycles")
STLB_KEY = "tlb.stlb.hit_cycles"
WALK_KEY = "walker.load_adds_cycles"
COLUMNS = (
    "series", "elements", "chains", "cycles", "walk_cycles", "l1d_loads", "l2_loads", "l3_loads",
    "dram_loads", "walker_loads", "walk_begin_cycles", "stlb_lookups",
)  # fmt: skip
TIMED = 40_000  #: accesses that are timed


@dataclass(frozen=True)
class Chase:
    """One footprint of one series as a trace: warm-up, then what is timed."""

    series: FootprintSweep
    elements: int
    chains: int
    trace: Path
    layouts: Path
    sampling: str
    accesses: int

    @property
    def head(self) -> dict:
        """Its key in a table of results."""
        return {"series": self.series.name, "elements": self.elements, "chains": self.chains}


def offsets(elements: np.ndarray, stride_bytes: int) -> np.ndarray:
    """Byte offset of each element; the rule of artifacts/workloads/pointer_chase.h."""
    if stride_bytes < PAGE_4KB:
        return elements * stride_bytes
    part = elements % (stride_bytes // PAGE_4KB)
    line = (elements + elements // 32) % 64
    return elements * stride_bytes + part * PAGE_4KB + line * 64


def visits(series: FootprintSweep, elements: int, seed: int) -> tuple[np.ndarray, int]:
    """Elements in the order of their visits, and how many of the visits are warm-up."""
    random = np.random.default_rng([seed, elements])
    tour = np.arange(elements) if series.order == "ascending" else random.permutation(elements)
    return tour[np.arange(elements + TIMED) % elements], elements


def chase_stream(series: FootprintSweep, elements: int, chains: int, seed: int) -> tuple[Stream, int]:
    """The accesses of a chase (one load each), and how many of them are warm-up."""
    order, warmup = visits(series, elements, seed)
    pool = round_up(series.array_bytes, GB)
    return loads(ANON_BASE + offsets(order, series.stride_bytes), chains=chains, anon_bytes=pool), warmup


def add_chases(batch: Batch, series: list[FootprintSweep], seed: int) -> list[Chase]:
    """Traces of every footprint of every series (they exist after the batch has run)."""
    made = []
    for one in series:
        layout = one.layout()
        pool = round_up(one.array_bytes, GB)
        layouts = batch.add_layouts([type(layout)(layout.name, {"mmap": pool}, layout.windows)])
        for elements in one.elements:
            for chains in one.chains:
                accesses, warmup = chase_stream(one, elements, chains, seed)
                sampling = f"units=1,warmup_accesses={warmup},timed_instructions={TIMED - 1}"
                made.append(
                    Chase(
                        one, elements, chains, batch.add_trace(accesses), layouts, sampling, accesses.accesses
                    )
                )
    return made


def simulate_chases(batch: Batch, chases: list[Chase], platform: Platform) -> pd.DataFrame:
    """Every chase on one platform (COLUMNS): cycles per access, and what each access needed."""
    flat = batch.add_platform(platform.flat())
    outputs = [batch.add_run(c.trace, flat, c.layouts, "timing", sampling=c.sampling) for c in chases]
    batch.run()
    return pd.DataFrame(
        [c.head | per_access(batch.row(out), platform) for c, out in zip(chases, outputs, strict=True)],
        columns=list(COLUMNS),
    )


def per_access(row: dict[str, str], platform: Platform) -> dict[str, float]:
    """A cell's numbers per access: cycles, walk cycles, loads served by each level (program and walker), all
    loads of the walker.

    ``walk_begin_cycles`` is what walks take beside their loads (walker.begin_cycles each).
    ``stlb_lookups`` is what is left of the cycles once loads and walks are taken off, in units of the
    STLB's hit time: in a chain of dependent loads nothing overlaps.
    """
    accesses = float(row["accesses"])
    found = {
        "cycles": float(row["runtime_cycles"]) / accesses,
        "walk_cycles": float(row["walk_cycles"]) / accesses,
    }
    by_whom = np.array(
        [[float(row[f"{who}_{level}_loads"]) for level in LEVELS] for who in ("program", "walker")]
    )
    reached = by_whom.sum(axis=0)
    found["walker_loads"] = float(by_whom[1, 0]) / accesses
    served = (reached - np.append(reached[1:], 0)) / accesses
    found |= {f"{level}_loads": value for level, value in zip(LEVELS, served, strict=True)}
    latencies = [float(platform.values[key].value) for key in LATENCY_KEYS]
    hit = float(platform.values[STLB_KEY].value)
    adds = float(platform.values[WALK_KEY].value)
    by_walker = (by_whom[1] - np.append(by_whom[1, 1:], 0)) / accesses
    in_loads = float(by_walker @ latencies) + found["walker_loads"] * adds
    found["walk_begin_cycles"] = max(found["walk_cycles"] - in_loads, 0.0)
    rest = found["cycles"] - float(served @ latencies) - found["walker_loads"] * adds
    rest -= found["walk_begin_cycles"]
    found["stlb_lookups"] = max(rest, 0) / hit if hit else 0.0
    return found
