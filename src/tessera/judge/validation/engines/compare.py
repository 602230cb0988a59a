"""Run every engine on the same random cases and count cells that differ; the number must be zero.

A cell is one layout of one trace on one platform by one engine, compared with the reference engine's in
every column that both have. Beside the engines: both instruction sets, another grouping and another order
of the layouts, and the Python LRU for H and M where it covers the platform.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.judge.validation.engines import oracle, random_cases, variants
from tessera.judge.validation.synthetic.batch import Batch, Rows, batch
from tessera.judge.validation.synthetic.stream import Stream
from tessera.layouts.model import Layout
from tessera.platforms import Platform
from tessera.results.schema.machine import ENGINES
from tessera.results.write import frame_of, write

IGNORED = {"layout", "status", "message"}
RUNTIME = ("runtime_cycles", "runtime_cycles_ci95")
REFERENCE = "reference"
NOT_COMPARED = "not compared: "  #: one engine refused what another simulated
ORACLE = "Python LRU (H, M)"
ISA = "TESSERA_SIM_ISA"
Progress = Callable[[str], None]


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


@dataclass(frozen=True)
class Amount:
    """How much is compared."""

    traces: int
    instructions: int
    layouts: int


AMOUNTS = {"full": Amount(3, 12_000, 18), "quick": Amount(1, 2_000, 5)}


def compare(
    amount: Amount, names: list[str], seed: int, out: Path, progress: Progress = lambda text: None
) -> pd.DataFrame:
    """Compare all ways on the named platforms and all variants; writes ``out`` (:data:`ENGINES`)."""
    cases = variants.cases(names)
    rows: dict[tuple[str, str], dict] = {}
    for number in range(amount.traces):
        progress(f"engines: random trace {number + 1} of {amount.traces}")
        random = np.random.default_rng([seed, number])
        stream = random_cases.random_stream(random, amount.instructions)
        layouts = [random_cases.random_layout(random, f"random-{i}") for i in range(amount.layouts)]
        part = amount.instructions // 12
        sampled = f"units=3,warmup_accesses={part},timed_instructions={part}"
        sampling = sampled if number % 2 else "full"
        with batch() as work:
            _compare_trace(work, stream, layouts, sampling, cases, rows)
    return write(ENGINES, frame_of(ENGINES, list(rows.values())), out)


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
        if oracle.supports(platform):
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
        row, counts = truth.by_layout[layout.name], oracle.count(stream, layout, platform)
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
