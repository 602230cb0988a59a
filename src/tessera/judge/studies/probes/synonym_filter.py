"""TLB accesses that the synonym filter saves (Park, KAIST 2019, 2.3.3), with the shares of his Table 2.1.

For each workload of Table 2.2, a stream of random accesses has the printed share of accesses to shared
memory, and shared memory has the printed share of the area. Only candidates of the filter use a TLB before
L1D.

Assumed: 128MB of memory, the most whose largest share fits into 4,096 granules of 32KB. Shared memory is the
first part of the ``mmap`` pool and private memory is the ``brk`` pool, so no granule of 16MB holds both; the
source does not say where its workloads have them. Its servers and libraries are not simulated.
"""

from __future__ import annotations

import numpy as np

from tessera import reference
from tessera.core.units import MB
from tessera.judge.studies.probes.case import Case, Counted, percent
from tessera.judge.validation.synthetic.stream import ANON_BASE, HEAP_BASE, Stream, loads
from tessera.layouts.model import Layout

PROBE = "synonym-filter"
MEMORY_BYTES = 128 * MB
GRANULE_BYTES = 32 << 10
POOL_BYTES = 1 << 30  #: synthetic traces have pools in whole GB
_DESIGN = "hvc-delayed-tlb"
SHARES, SAVED = "park_table21_shared_memory", "park_table22_synonym_filter"


def workloads() -> list[str]:
    """Those whose savings Table 2.2 prints."""
    return list(dict.fromkeys(reference.select(SAVED, {"quantity": "tlb_access_reduction"})["workload"]))


def cases(accesses: int, seed: int) -> list[Case]:
    """A case for each workload."""
    layout = Layout("pages-of-4kb", {"brk": POOL_BYTES, "mmap": POOL_BYTES})
    found = []
    for workload in workloads():
        area, share = (
            reference.lookup(SHARES, {"workload": workload, "quantity": name}) / 100
            for name in ("shared_area", "shared_access")
        )
        granules = shared_granules(area)
        keys = {"mmu.design": _DESIGN, f"design.{_DESIGN}.synonym_granules": granules}
        found.append(Case(PROBE, workload, mixed_stream(accesses, share, granules, seed), keys, layout, read))
    return found


def shared_granules(area: float) -> int:
    """Granules of 32KB that hold this part of the memory; at least one."""
    return max(1, round(area * MEMORY_BYTES / GRANULE_BYTES))


def mixed_stream(accesses: int, share: float, granules: int, seed: int) -> Stream:
    """Random words; ``round(share x accesses)`` of them are in shared memory, in a random order."""
    random = np.random.default_rng(seed)
    shared = np.zeros(accesses, dtype=bool)
    shared[random.permutation(accesses)[: round(share * accesses)]] = True
    shared_bytes = granules * GRANULE_BYTES
    inside = ANON_BASE + 8 * random.integers(0, shared_bytes // 8, accesses)
    outside = HEAP_BASE + 8 * random.integers(0, (MEMORY_BYTES - shared_bytes) // 8, accesses)
    return loads(
        np.where(shared, inside, outside), dependent=False, heap_bytes=POOL_BYTES, anon_bytes=POOL_BYTES
    )


def read(counted: Counted) -> dict[str, float]:
    """Accesses that need no TLB, false positives and real synonyms, percent of all accesses."""
    asked, candidates = counted.structures["synonym-filter"]
    _, real = counted.structures["synonym"]
    return {
        "tlb_access_reduction": percent(asked - candidates, asked),
        "false_positive": percent(candidates - real, asked),
        "shared_access": percent(real, asked),
    }
