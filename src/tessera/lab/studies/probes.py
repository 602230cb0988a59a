"""Probes: single structures of Park's designs under accesses from a formula (docs/explain/studies.md).

The structures are those of the simulator, inside their designs; only accesses and mappings are made here.
All cases run in one start of the simulator and give one table.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd

from tessera.core import reference
from tessera.core.layouts.layout import Layout
from tessera.core.mapping.page_mapping import PAGES_OF_2MB, POOLS, MappingRows, PageMapping
from tessera.core.platforms import Platform, Value
from tessera.core.results.outcomes import FAILED, OK, ok_rows
from tessera.core.results.study_tables import PROBES
from tessera.core.results.table_io import frame_of
from tessera.core.tables import print_table
from tessera.core.units import MB, PAGE_4KB
from tessera.lab.study import Bounds, Run, Seed, study
from tessera.lab.validation.synthetic import ANON_BASE, Batch, Stream, batch, loads

# One case of a probe: accesses, a design with its keys, a layout or mapping, and its quantities.


@dataclass(frozen=True)
class SimulatedCounts:
    """Counts of one simulation: H, M, data accesses, and structure -> (accesses, hits)."""

    hits: int
    misses: int
    accesses: int
    structures: dict[str, tuple[int, int]]


@dataclass(frozen=True)
class ProbeSimulation:
    """One simulation.

    Attributes:
        name: of the case, within its probe.
        changes: keys of the platform, with ``mmu.design``.
        place: the layout or mapping of the pools.
        read: quantity -> percent.
    """

    probe: str
    name: str
    stream: Stream
    changes: dict[str, int | str]
    place: Layout | PageMapping
    read: Callable[[SimulatedCounts], dict[str, float]]


def percent_of(part: int, whole: int) -> float:
    """``part`` of ``whole``; 0 of nothing is 0."""
    return 100 * part / whole if whole else 0.0


# The worst case of the index cache: random accesses to equal segments (Park, KAIST 2019, Figure 2.7b).
#
# 2^40 bytes are cut into 1,024 or 2,048 equal segments, and each access goes to a random word. There is no
# segment cache, and every access misses L3, so each one walks the index tree through a cache of 32KB in 8
# ways.
#
# The source does not say how full the nodes are, nor whether a hit rate is that of a node or of a whole
# walk. So all four are obtained: with full nodes (seven children) and with half-full ones (four), for each
# node and for each walk from the root to a leaf.

INDEX_CACHE = "index-cache"
SPACE_BYTES = 1 << 40
SEGMENTS = (1024, 2048)
FILLS = {"full": 0, "half-full": 1}
#: Free frames between two segments, so that they are not one chunk.
_GAP_FRAMES = PAGES_OF_2MB
_SEGMENT_DESIGN = "hvc-many-segment"


def index_cache_cases(accesses: int, seed: int) -> list[ProbeSimulation]:
    """A case for each number of segments and each fill, on the same accesses."""
    stream = random_loads(accesses, seed)
    return [
        ProbeSimulation(
            INDEX_CACHE,
            f"{segments} segments, {fill}",
            stream,
            {
                "mmu.design": _SEGMENT_DESIGN,
                f"design.{_SEGMENT_DESIGN}.sc_entries": 0,
                f"design.{_SEGMENT_DESIGN}.half_full": half,
            },
            equal_segments(segments),
            index_cache_hits,
        )
        for segments in SEGMENTS
        for fill, half in FILLS.items()
    ]


def random_loads(accesses: int, seed: int) -> Stream:
    """Independent loads of random words of 8 bytes."""
    words = np.random.default_rng(seed).integers(0, SPACE_BYTES // 8, accesses)
    return loads(ANON_BASE + 8 * words, dependent=False, anon_bytes=SPACE_BYTES)


def equal_segments(segments: int) -> PageMapping:
    """Chunks of one length over the whole space, in 2MB pages."""
    pages = SPACE_BYTES // PAGE_4KB // segments
    number = np.arange(segments)
    column = np.ones(segments, dtype=np.int64)
    rows = MappingRows(
        column * POOLS.index("mmap"),
        number * pages,
        number * (pages + _GAP_FRAMES),
        column * pages,
        column * PAGES_OF_2MB,
    )
    return PageMapping.fixed(f"segments-{segments}", rows)


def index_cache_hits(counted: SimulatedCounts) -> dict[str, float]:
    """Hits of a node, and walks all of whose nodes hit, percent."""
    nodes, hits = counted.structures["index-cache"]
    return {
        "node_hits": percent_of(hits, nodes),
        "traversal_hits": percent_of(counted.hits, counted.hits + counted.misses),
    }


# TLB accesses that the synonym filter saves (Park, KAIST 2019, 2.3.3), with the shares of his Table 2.1.
#
# For each workload of Table 2.2, a stream of random accesses has the printed share of accesses to shared
# memory, and shared memory has the printed share of the area. Only candidates of the filter use a TLB before
# L1D.
#
# Assumed: 128MB of memory, the most whose largest share fits into 4,096 granules of 32KB. Shared memory is
# the first part of the ``mmap`` pool, and private memory lies right behind it. So one granule of 16MB holds
# both, and there the fine filter alone tells them apart. The source does not say where its workloads have
# them; further apart there are fewer false positives, in turns there are more. Its servers and libraries
# are not simulated.

SYNONYM_FILTER = "synonym-filter"
MEMORY_BYTES = 128 * MB
GRANULE_BYTES = 32 << 10
POOL_BYTES = 1 << 30  #: synthetic traces have pools in whole GB
_FILTER_DESIGN = "hvc-delayed-tlb"
SHARES, SAVED = "park_table21_shared_memory", "park_table22_synonym_filter"


def filter_workloads() -> list[str]:
    """Those whose savings Table 2.2 prints."""
    return list(
        dict.fromkeys(reference.select_published(SAVED, {"quantity": "tlb_access_reduction"})["workload"])
    )


def synonym_filter_cases(accesses: int, seed: int) -> list[ProbeSimulation]:
    """A case for each workload."""
    layout = Layout("pages-of-4kb", {"mmap": POOL_BYTES})
    found = []
    for workload in filter_workloads():
        area, share = (
            reference.lookup(SHARES, {"workload": workload, "quantity": name}) / 100
            for name in ("shared_area", "shared_access")
        )
        granules = shared_granules(area)
        keys = {"mmu.design": _FILTER_DESIGN, f"design.{_FILTER_DESIGN}.synonym_granules": granules}
        found.append(
            ProbeSimulation(
                SYNONYM_FILTER,
                workload,
                mixed_stream(accesses, share, granules, seed),
                keys,
                layout,
                synonym_filter_savings,
            )
        )
    return found


def shared_granules(area: float) -> int:
    """Granules of 32KB that hold this part of the memory; at least one."""
    return max(1, round(area * MEMORY_BYTES / GRANULE_BYTES))


def mixed_stream(accesses: int, share: float, granules: int, seed: int) -> Stream:
    """Random words; ``round(share x accesses)`` of them are in shared memory, in a random order."""
    random = np.random.default_rng(seed)
    shared = np.zeros(accesses, dtype=bool)
    shared[random.permutation(accesses)[: round(share * accesses)]] = True
    shared_words = granules * GRANULE_BYTES // 8
    inside = random.integers(0, shared_words, accesses)
    behind = random.integers(shared_words, MEMORY_BYTES // 8, accesses)
    return loads(ANON_BASE + 8 * np.where(shared, inside, behind), dependent=False, anon_bytes=POOL_BYTES)


def synonym_filter_savings(counted: SimulatedCounts) -> dict[str, float]:
    """Accesses that need no TLB, false positives and real synonyms, percent of all accesses."""
    asked, candidates = counted.structures["synonym-filter"]
    _, real = counted.structures["synonym"]
    return {
        "tlb_access_reduction": percent_of(asked - candidates, asked),
        "false_positive": percent_of(candidates - real, asked),
        "shared_access": percent_of(real, asked),
    }


# The study: all probes in one start of the simulator, one table.

ENGINE = "partial"


def show_probes(table: pd.DataFrame) -> None:
    """Print the quantities of all cases."""
    rows = [(row.probe, row.case, row.quantity, f"{row.value:.3f}%") for row in ok_rows(table).itertuples()]
    print_table(["probe", "case", "quantity", "value"], rows, right=(3,))


@study(PROBES, show=show_probes)
def probes(
    run: Run, platform: Platform, accesses: Annotated[int, Bounds(1000)] = 1_000_000, seed: Seed = 1
) -> pd.DataFrame:
    """Probe the index cache and the synonym filter of Park, KAIST 2019, with random accesses.

    index-cache: 2^40 bytes in 1,024 or 2,048 equal segments (Figure 2.7b). Prints hits of a node and of a
    whole walk, with full and with half-full nodes. synonym-filter: shares of shared memory as in Table 2.1.
    Prints the accesses that need no TLB. A case that the simulator rejects is a row with the reason.
    docs/explain/studies.md describes both.

    Example (after: tessera dev build simulator tracer):
      ./run tessera lab run probes platform=park-haswell accesses=100000 --out /tmp/probes

    Args:
        platform: name or YAML file; Park's is park-haswell.
        accesses: random accesses of each case; 1,000,000 as in 2.4.4.
        seed: of the accesses.

    Raises:
        TesseraError: the toolchain does not start.
    """
    cases = [*index_cache_cases(accesses, seed), *synonym_filter_cases(accesses, seed)]
    traces: dict[int, Path] = {}
    with batch() as work:
        run.say(f"{len(cases)} cases of {accesses} accesses")
        runs = []
        for number, case in enumerate(cases):
            if id(case.stream) not in traces:
                traces[id(case.stream)] = work.add_trace(case.stream)
            runs.append(_added(work, number, case, traces[id(case.stream)], platform))
        work.run()
        rows = [
            row
            for case, files in zip(cases, runs, strict=True)
            for row in _rows(case, accesses, platform, *_counted(work, *files))
        ]
    return frame_of(PROBES, rows)


def _added(
    work: Batch, number: int, case: ProbeSimulation, trace: Path, platform: Platform
) -> tuple[Path, Path]:
    """Files of the cell and of the structures, which exist after the run."""
    values = {key: Value(value, f"probe {case.probe}") for key, value in case.changes.items()}
    flat = work.add_platform(replace(platform, values=platform.values | values).flat())
    structures = work.folder / f"structures-{number}.csv"
    mapped = isinstance(case.place, PageMapping)
    places = work.add_mappings([case.place]) if mapped else work.add_layouts([case.place])
    options = {"--designs-out": str(structures)}
    return work.add_run(trace, flat, places, ENGINE, options=options, mappings=mapped), structures


def _counted(work: Batch, cell: Path, structures: Path) -> tuple[SimulatedCounts | None, str]:
    found = work.rows(cell)
    if found.error:
        return None, found.error
    row = next(iter(found.by_layout.values()))
    with structures.open(encoding="utf-8", newline="") as stream:
        parts = {
            part["structure"]: (int(part["accesses"]), int(part["hits"])) for part in csv.DictReader(stream)
        }
    return SimulatedCounts(int(row["stlb_hits"]), int(row["stlb_misses"]), int(row["accesses"]), parts), ""


def _rows(
    case: ProbeSimulation, accesses: int, platform: Platform, counted: SimulatedCounts | None, error: str
) -> list[dict]:
    head = {
        "probe": case.probe, "case": case.name, "platform": platform.name, "accesses": accesses,
        "provenance": "simulated",
    }  # fmt: skip
    if counted is None:
        return [head | {"quantity": "", "status": FAILED, "message": error}]
    return [
        head | {"quantity": name, "value": value, "status": OK, "message": ""}
        for name, value in case.read(counted).items()
    ]
