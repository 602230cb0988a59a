"""The table of all workloads: recordings, regime ratios, sensitivity, times; a row for what did not run."""

import pandas as pd
import pytest

from tessera.report import workload_table
from tessera.report.results import Results
from tests.synthetic import make_tree
from tests.synthetic.tables import put_info

GOOD, BAD, PLATFORM = "gups", "graph500", "haswell-sim"
L3_MB = 30  # of haswell-sim, MICRO'20 Table 3
RECORDING = {
    "seconds": 20.0,
    "bytes_per_access": 2.5,
    "accesses_per_second": 5e6,
    "native_roi_seconds": 1.5,
    "recorded_roi_seconds": 9.0,
    "slowdown": 6.0,
    "peak_memory_bytes": 1 << 30,
}


@pytest.fixture
def results(tmp_path):
    """Cells of three workloads; one recording is good, one failed, the third left no info.json."""
    root = make_tree(tmp_path / "tree", broken=False, host=False, models=False)
    memory = {"allocated_bytes": 130 << 20, "touched_bytes": 64 << 20, "recorded_share": 1.0}
    counts = {"accesses": 2_000_000, "distinct_4kb_pages": 16384}
    put_info(root, GOOD, message="", size="tiny", recording=RECORDING, memory=memory, **counts)
    put_info(root, BAD, "failed", message="memory for it: it needs 9GB, 2GB are free; free some", size="tiny")
    path = root / "benchmarks" / f"cells-{GOOD}-{PLATFORM}.tsv"
    path.parent.mkdir()
    path.write_text("s\th:m:s\tmax_rss\n31.5\t0:00:31\t140\n")
    return Results(root)


@pytest.fixture
def table(results):
    found = workload_table.workloads_table(results, [GOOD, BAD, "pr"], ["sandybridge-sim", PLATFORM])
    assert len(found) == 6
    return found.set_index(["workload", "platform"])


def test_a_good_row_has_its_trace_and_its_times(table):
    row = table.loc[GOOD, PLATFORM]
    assert (row.status, row["size"], row.kind) == ("ok", "tiny", "kernel")
    assert (row.accesses, row.distinct_4kb_pages) == (2_000_000, 16384)
    assert row.recording_bytes_per_access == 2.5 and row.recording_slowdown == 6
    assert row.simulation_seconds == 31.5 and pd.isna(row.layouts_seconds)
    assert pd.isna(table.loc[(GOOD, "sandybridge-sim"), "simulation_seconds"])


def test_regime_ratios_are_those_of_touched_memory_and_of_the_papers(table):
    """64 of 128 MB touched, 1,024 entries of 4KB; 128 KB of leaf entries, 30 MB of L3; the paper has 8 GB."""
    row = table.loc[GOOD, PLATFORM]
    assert row.footprint_bytes == 128 << 20 and row.paper_footprint_bytes == 8 << 30
    assert (row.allocated_bytes, row.touched_bytes, row.recorded_share) == (130 << 20, 64 << 20, 1)
    assert row.touched_per_4kb_reach == pytest.approx(64 / 4)
    assert row.leaf_entries_per_l3 == pytest.approx(1 / 8 / L3_MB)
    assert row.paper_footprint_per_4kb_reach == pytest.approx(8192 / 4)
    assert row.paper_leaf_entries_per_l3 == pytest.approx(16 / L3_MB)
    failed = table.loc[BAD, PLATFORM]
    assert pd.isna(failed.touched_per_4kb_reach) and failed.paper_footprint_per_4kb_reach > 1


def test_a_failed_and_an_absent_recording_keep_their_rows(table):
    row = table.loc[BAD, PLATFORM]
    assert row.status == "failed" and "9GB" in row.message and pd.isna(row.accesses)
    assert table.loc[("pr", PLATFORM), "status"] == ""


def test_sensitivity_per_platform(results):
    cells = results.cells
    rows = (cells["workload"] == GOOD) & (cells["platform"] == PLATFORM)
    small = cells.loc[rows & (cells["layout"] == "growing-0"), "runtime_cycles"].iloc[0]
    cells.loc[rows & (cells["layout"] == "1gb"), "runtime_cycles"] = 0.98 * small
    found = workload_table.workloads_table(results, [GOOD], ["sandybridge-sim", PLATFORM]).set_index(
        "platform"
    )
    assert found.analysed.to_dict() == {"sandybridge-sim": "yes", PLATFORM: "no"}
    assert found.improvement_1gb[PLATFORM] == pytest.approx(0.02)
    assert "2.0%" in found.dropped_because[PLATFORM]
    assert (GOOD, PLATFORM) in results.dropped and (GOOD, PLATFORM) not in results.analysed_pairs()


def test_a_workload_that_no_file_describes_is_still_a_row(results):
    found = workload_table.workloads_table(results, ["gone"], [PLATFORM]).iloc[0]
    assert found.workload == "gone" and found.kind == ""
