"""The regime ratios, against the paper's own arithmetic."""

from __future__ import annotations

import pytest

from tessera.core.errors import TesseraError
from tessera.core.platforms import Platform, Value
from tessera.core.units import GB, MB
from tessera.record.workloads import Size, Workload, regime


def platform(**changes):
    values = {
        "tlb.stlb.entries": 512,
        "tlb.stlb.holds_2mb": 0,
        "tlb.l1d.2mb.entries": 32,
        "cache.l3.bytes": 15 * MB,
    } | changes
    return Platform("p", "", "", {k: Value(v, "test") for k, v in values.items() if v is not None})


def workload(footprint):
    return Workload("w", "w", "", "", {"s": Size("s", (), footprint, 2 * MB, 2 * footprint)})


def test_leaf_entries_of_32gb_exceed_a_15mb_l3():
    ratios = regime(workload(32 * GB), "s", platform())
    assert ratios.leaf_entries_per_l3 == pytest.approx(64 / 15)
    assert ratios.footprint_per_4kb_reach == pytest.approx(32 * GB / (2 * MB))
    assert ratios.footprint_per_2mb_reach == pytest.approx(32 * GB / (64 * MB))


def test_a_shared_stlb_covers_2mb_pages():
    ratios = regime(workload(3 * GB), "s", platform(**{"tlb.stlb.holds_2mb": 1, "tlb.stlb.entries": 1536}))
    assert ratios.footprint_per_2mb_reach == pytest.approx(1)


def test_a_missing_value_is_named():
    with pytest.raises(TesseraError, match="cache.l3.bytes"):
        regime(workload(GB), "s", platform(**{"cache.l3.bytes": None}))
