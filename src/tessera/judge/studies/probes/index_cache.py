"""The worst case of the index cache: random accesses to equal segments (Park, KAIST 2019, Figure 2.7b).

2^40 bytes are cut into 1,024 or 2,048 equal segments, and each access goes to a random word. There is no
segment cache, and every access misses L3, so each one walks the index tree through a cache of 32KB in 8 ways.

The source does not say how full the nodes are, nor whether a hit rate is that of a node or of a whole walk.
So all four are obtained: with full nodes (seven children) and with half-full ones (four), for each node and
for each walk from the root to a leaf.
"""

from __future__ import annotations

import numpy as np

from tessera.core.units import PAGE_4KB
from tessera.judge.studies.probes.case import Case, Counted, percent
from tessera.judge.validation.synthetic.stream import ANON_BASE, Stream, loads
from tessera.mapping.rows import PAGES_OF_2MB, POOLS, Rows
from tessera.mapping.states import Mapping

PROBE = "index-cache"
SPACE_BYTES = 1 << 40
SEGMENTS = (1024, 2048)
FILLS = {"full": 0, "half-full": 1}
#: Free frames between two segments, so that they are not one chunk.
_GAP = PAGES_OF_2MB
_DESIGN = "hvc-many-segment"


def cases(accesses: int, seed: int) -> list[Case]:
    """A case for each number of segments and each fill, on the same accesses."""
    stream = random_stream(accesses, seed)
    return [
        Case(
            PROBE,
            f"{segments} segments, {fill}",
            stream,
            {"mmu.design": _DESIGN, f"design.{_DESIGN}.sc_entries": 0, f"design.{_DESIGN}.half_full": half},
            equal_segments(segments),
            read,
        )
        for segments in SEGMENTS
        for fill, half in FILLS.items()
    ]


def random_stream(accesses: int, seed: int) -> Stream:
    """Independent loads of random words of 8 bytes."""
    words = np.random.default_rng(seed).integers(0, SPACE_BYTES // 8, accesses)
    return loads(ANON_BASE + 8 * words, dependent=False, anon_bytes=SPACE_BYTES)


def equal_segments(segments: int) -> Mapping:
    """Chunks of one length over the whole space, in 2MB pages."""
    pages = SPACE_BYTES // PAGE_4KB // segments
    number = np.arange(segments)
    column = np.ones(segments, dtype=np.int64)
    rows = Rows(
        column * POOLS.index("mmap"),
        number * pages,
        number * (pages + _GAP),
        column * pages,
        column * PAGES_OF_2MB,
    )
    return Mapping.fixed(f"segments-{segments}", rows)


def read(counted: Counted) -> dict[str, float]:
    """Hits of a node, and walks all of whose nodes hit, percent."""
    nodes, hits = counted.structures["index-cache"]
    return {
        "node_hits": percent(hits, nodes),
        "traversal_hits": percent(counted.hits, counted.hits + counted.misses),
    }
