"""What a recording has of its program: touched memory, share of the region, where windows lie."""

from __future__ import annotations

import pytest

from tessera.record import workloads
from tessera.report import workload_table

INFO = {
    "size": "published",
    "accesses": 100,
    "distinct_4kb_pages": 3,
    "windows": 10,
    "memory": {"allocated_bytes": 40_000, "touched_bytes": 12_288, "recorded_share": 0.25},
}


def test_numbers_come_from_the_recording_and_the_size():
    known = workloads.load_workload("gapbs-sssp-twitter")
    assert workload_table.recording_extent(INFO, known) == {
        "allocated_bytes": 40_000,
        "touched_bytes": 12_288,
        "recorded_share": 0.25,
        "windows": 10,
        "window_span_accesses": None,
        "published_share": 0.5,
    }


def test_a_span_is_that_of_the_size_and_counts_only_with_windows():
    known = workloads.load_workload("graph500-8gb")
    span = known.size("published").window_span
    assert workload_table.recording_extent(INFO, known)["window_span_accesses"] == span == 1_100_000_000
    whole = {key: value for key, value in INFO.items() if key != "windows"}
    assert workload_table.recording_extent(whole, known)["window_span_accesses"] is None
    assert workload_table.recording_extent(whole, known)["windows"] == 1


def test_what_nobody_states_is_unknown():
    assert set(workload_table.recording_extent({"status": "failed"}, None).values()) == {None}
    assert workload_table.recording_extent({"distinct_4kb_pages": 1}, None)["touched_bytes"] == 4096


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"windows": 1, "recorded_share": 1}, ("whole",)),
        ({"windows": 1, "recorded_share": 0.96}, ("beginning",)),
        ({"windows": 10, "recorded_share": 0.3}, ("10", "region")),
        ({"windows": 10, "window_span_accesses": 2e9}, ("10", "2000 M")),
        ({"windows": None}, ()),
    ],
)
def test_where_windows_lie(row, words):
    said = workload_table.recording_place(row)
    assert all(word in said for word in words) and bool(said) == bool(words)


def test_published_footprints():
    """OPERA D5.10 Table 4 prints 0.17 GB for omnetpp, whose stand-in's `paper` size has filled links."""
    assert workload_table.published_bytes(workloads.load_workload("event-network-small")) == pytest.approx(
        0.17e9, rel=0.02
    )
    assert workload_table.published_bytes(workloads.load_workload("gups-8gb")) == 8 << 30
    assert workload_table.published_bytes(workloads.load_workload("xsbench-16gb")) == pytest.approx(
        16 << 30, rel=0.001
    )
