"""The real launcher with a real workload: what can be counted without a PMU."""

from __future__ import annotations

import pytest

from tessera.core.layouts.layout import Layout, write_layout
from tessera.measure.bundles.bundle import CountedEvent
from tessera.measure.counted import request, setting
from tessera.measure.counted.counted_run import RunCounters, launched
from tessera.measure.counted.host import this_host
from tessera.record import workloads

pytestmark = pytest.mark.toolchain
EVENTS = (
    CountedEvent("software", "R time", "task-clock", 1, 1, 0, 0, "u"),
    CountedEvent("software", "page faults", "page-faults", 1, 2, 0, 0, "u"),
)


@pytest.fixture
def run(tmp_path):
    where, workload = this_host(), workloads.load_workload("gups")
    row = request.ready_workload(workload, workload.size("tiny"), where)
    write_layout(Layout("growing-0", row.pool_bytes), tmp_path / "growing-0.csv")
    setting.write_events(EVENTS, tmp_path / "events")

    def start(region):
        counted = RunCounters(tmp_path / "events", tuple(event.name for event in EVENTS), region)
        return launched(row, tmp_path / "growing-0.csv", tmp_path, where, counted)

    return start


def test_the_region_is_counted_and_its_memory_was_touched_before(run):
    found = run("roi")
    assert found.message == ""
    assert [event[0] for event in found.counts.events] == ["task-clock", "page-faults"]
    (_, clock, *_), (_, faults, enabled, running) = found.counts.events
    assert faults == 0 and enabled == running
    assert 0 < clock <= found.counts.region_ns * 1.01 < found.seconds * 1e9
    assert found.used_bytes["mmap"] >= 128 << 20  # the array of this size
    assert found.pages[4096] * 4096 >= 128 << 20


def test_a_larger_region_counts_the_faults_of_the_beginning(run):
    """The array of 128MB has 32768 pages of 4KB."""
    found = run("program")
    assert found.message == ""
    assert found.counts.events[1][1] >= 32768
