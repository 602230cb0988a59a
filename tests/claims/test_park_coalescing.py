"""Claims about Park's chapter 3, and numbers printed twice: on hand-made tables that hold and that fail."""

from __future__ import annotations

import pytest

VALUES = ("subject", "quantity", "mapping", "printing")
SHARES = ("workload", "mapping", "quantity")


def shares(workload, mapping, *parts):
    names = ("regular_hit", "anchor_hit", "l2_miss")
    return [(workload, mapping, name, part) for name, part in zip(names, parts, strict=True)]


@pytest.mark.parametrize(
    ("last", "wrong"), [(24, 0), (25, 0), (26, 0), (23, 1), (27, 1)], ids=lambda value: str(value)
)
def test_a_row_of_shares_may_miss_100_by_rounding_only(judge_printed, last, wrong):
    rows = shares("a", "demand", 50, 25, last) + shares("a", "medium", 100, 0, 0)
    found = judge_printed("park-table35-sums", {"park_table35_stlb_shares": (SHARES, rows)})
    assert found == ("CONTRADICTED" if wrong else "CONSISTENT", str(wrong))


@pytest.mark.parametrize(("gups", "verdict"), [(20, "CONSISTENT"), (56, "CONTRADICTED")])
def test_range_of_anchor_hits(judge_printed, gups, verdict):
    rows = [row for name, part in (("canneal", 55), ("xalancbmk", 16), ("gups", gups), ("other", 90))
            for row in shares(name, "demand", 0, part, 0)]  # fmt: skip
    bounds = [
        ("x", "anchor_hits_added_low", "", "first", 16),
        ("x", "anchor_hits_added_high", "", "first", 55),
    ]
    tables = {"park_table35_stlb_shares": (SHARES, rows), "park_values": (VALUES, bounds)}
    text = f"anchor_hits_added_low=16 anchor_hits_added_high={max(gups, 55)}"
    assert judge_printed("park-table35-anchor-hits", tables) == (verdict, text)


@pytest.mark.parametrize(
    ("misses", "verdict"), [(88, "CONSISTENT"), (89, "CONSISTENT"), (90, "CONTRADICTED")]
)
def test_gups_saves_at_most_its_hits(judge_printed, misses, verdict):
    tables = {
        "park_table35_stlb_shares": (SHARES, shares("gups", "medium", 0, 0, misses)),
        "park_values": (VALUES, [("dynamic, gups", "miss_reduction", "medium", "first", 11.4)]),
    }
    assert judge_printed("park-gups-medium", tables) == (verdict, str(100 - misses))


@pytest.mark.parametrize(("times", "verdict"), [((9, 3, 1), "CONSISTENT"), ((9, 1, 3), "CONTRADICTED")])
def test_larger_distances_write_fewer_anchors(judge_printed, times, verdict):
    """30GB are 7,864,320 pages."""
    rows = [
        (f"distance {d}", "distance_change", "", "first", ms) for d, ms in zip((2, 4, 8), times, strict=True)
    ]
    found = judge_printed("park-distance-change-order", {"park_values": (VALUES, rows)})
    assert found == (verdict, "distance 2=3.93216e+06 distance 4=1.96608e+06 distance 8=983040")


@pytest.mark.parametrize(("cluster", "verdict"), [(256, "CONSISTENT"), (320, "CONTRADICTED")])
def test_parts_of_cluster_sum_to_the_capacity(judge_printed, cluster, verdict):
    rows = [("cluster", "l2_regular", 768), ("cluster", "cluster_8", cluster), ("rmm", "range_tlb", 32)]
    tables = {
        "park_table33_tlbs": (("scheme", "quantity"), rows),
        "park_values": (VALUES, [("all", "l2_tlb", "", "first", 1024)]),
    }
    assert judge_printed("park-cluster-capacity", tables) == (verdict, str(768 + cluster))


@pytest.mark.parametrize(("low", "verdict"), [(31.5, "CONSISTENT"), (35.3, "CONTRADICTED")])
def test_dynamic_leads_under_every_mapping(judge_printed, low, verdict):
    reductions = {"cluster-2mb": (64, 68, low, 40), "dynamic": (68, 76, 35.2, 78)}
    mappings = ("demand", "eager", "low", "medium")
    rows = [
        (subject, "miss_reduction", mapping, "first", "Figure 3.9 text", value)
        for subject, numbers in reductions.items()
        for mapping, value in zip(mappings, numbers, strict=True)
    ]
    # what another text prints does not count
    rows.append(("cluster-2mb", "miss_reduction", "low", "second", "Figure 3.7 text", 99))
    found = judge_printed("park-dynamic-leads", {"park_values": ((*VALUES, "location"), rows)})
    assert found == (verdict, f"{min(4, 35.2 - low):.6g}")


@pytest.mark.parametrize(
    ("claim", "subject", "quantity", "mapping"),
    [
        ("park-gain-twice", "selected", "speedup_many_segment_sc", ""),
        ("park-nested-gain-twice", "selected", "speedup_2d_many_segment", ""),
        ("park-cluster-twice", "cluster-2mb", "miss_reduction", "demand"),
        ("park-dynamic-twice", "dynamic", "miss_reduction", "demand"),
        ("park-graph500-size", "graph500", "working_set", ""),
    ],
)
@pytest.mark.parametrize(("second", "verdict"), [(31.7, "CONSISTENT"), (31.6, "CONTRADICTED")])
def test_numbers_printed_twice_must_be_equal(
    judge_printed, claim, subject, quantity, mapping, second, verdict
):
    printed = {"first": 31.7, "second": second}
    rows = [(subject, quantity, mapping, place, value) for place, value in printed.items()]
    rows.append(("another", quantity, mapping, "second", 99))
    assert judge_printed(claim, {"park_values": (VALUES, rows)}) == (verdict, str(second))
