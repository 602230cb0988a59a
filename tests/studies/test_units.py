"""The built simulator on a trace with two phases: intervals, full simulation and samples of the same."""

import csv
import json
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from tessera.core import platforms
from tessera.core.files import built
from tessera.lab.studies import sampling
from tessera.lab.studies.intervals import block_vectors, covering, unit_counts
from tessera.lab.studies.windows import window
from tessera.lab.study import Recording, Run
from tessera.record import traces
from tessera.simulate.runner import CellCache
from tessera.simulate.sampling import parse_sampling

from .builders import inputs, lab_run
from .conftest import LOADS

pytestmark = pytest.mark.toolchain
LENGTH = 10_000  #: instructions of an interval
PLAN = "units=4,warmup_accesses=2000,timed_instructions=10000"


def full_rows(trace, layouts, tmp_path) -> dict[str, dict]:
    """Rows of ``tessera-sim run --sampling full`` by layout."""
    platform, listing = tmp_path / "platform.txt", tmp_path / "list.txt"
    platform.write_text(platforms.load_platform("haswell-sim").flat())
    listing.write_text("".join(f"{path}\n" for path in layouts))
    argv = [built("simulator", "tessera-sim"), "run", "--trace", trace, "--platform", platform]
    argv += ["--layouts", listing, "--engine", "timing", "--sampling", "full"]
    text = subprocess.run([str(a) for a in argv], capture_output=True, text=True, check=True).stdout
    return {row["layout"]: row for row in csv.DictReader(text.splitlines())}


def test_block_vectors_are_the_two_loops(two_phases):
    found = block_vectors(two_phases, LENGTH)
    assert found.instructions.tolist() == [LENGTH] * 12  # two instructions a load
    assert found.accesses.sum() == 2 * LOADS
    assert found.start_access.tolist() == [5000 * i for i in range(12)]
    first, second = found.vectors[:6], found.vectors[6:]
    assert np.abs(first - first[0]).max() <= 2 and np.abs(second - second[0]).max() <= 2
    assert first[0] @ second[0] == 0  # no block runs in both


def test_intervals_that_abut_are_the_full_simulation(two_phases, layouts, tmp_path):
    vectors = block_vectors(two_phases, LENGTH)
    platform = platforms.load_platform("haswell-sim")
    units = unit_counts(inputs(platform, layouts, two_phases, sampling=covering(vectors)))
    assert units.groupby("layout")["start_access"].apply(list).to_dict() == {
        path.stem: vectors.start_access.tolist() for path in layouts
    }
    whole = full_rows(two_phases, layouts, tmp_path)
    for layout, part in units.groupby("layout"):
        row = whole[layout]
        assert part["walk_cycles"].sum() == int(row["walk_cycles"])
        assert part["stlb_misses"].sum() == int(row["stlb_misses"])
        assert part["instructions"].sum() == int(row["instructions"])
        # the pipeline starts empty at each cut: some hundred cycles of tens of thousands
        assert part["runtime_cycles"].sum() == pytest.approx(int(row["runtime_cycles"]), rel=0.03)


def test_a_finished_run_is_kept(two_phases, layouts, tmp_path, monkeypatch):
    platform = platforms.load_platform("haswell-sim")
    made = replace(
        inputs(platform, layouts, two_phases), sampling=parse_sampling(PLAN), cache=CellCache(tmp_path)
    )
    first = unit_counts(made)
    monkeypatch.setattr("tessera.simulate.runner._run", lambda *_: pytest.fail("simulated again"))
    assert unit_counts(made).equals(first)


def test_blind_sampling_of_the_first_phase_sees_no_walks(two_phases, layouts, tmp_path):
    # 64 pages stay in the STLB: the first phase walks for its first touches only.
    made = inputs(platforms.load_platform("haswell-sim"), layouts, two_phases)
    errors, intervals = sampling.sampling_tables(made, (PLAN,), 1)
    found = errors.set_index(["method", "warmup", "quantity", "layout"])
    blind = found.loc[("blind-first", "perfect", "C", "growing-8")]
    assert abs(blind["difference_error"]) > 0.9  # nearly all of the gain is in the other phase
    # The second phase gets faster as the caches fill, so two of its intervals are not exact.
    systematic = found.loc[("systematic", "perfect", "C", "growing-8")]
    assert abs(systematic["difference_error"]) < 0.5 * abs(blind["difference_error"])
    assert set(intervals["interval"]) == set(range(12))
    assert np.isclose(found.loc[("systematic", "perfect", "M", "growing-0"), "truth"],
                      intervals[intervals["layout"] == "growing-0"]["stlb_misses"].sum())  # fmt: skip


def test_a_window_is_the_middle_of_the_trace(two_phases, tmp_path):
    info = {"workload": "made", "size": "tiny", "status": "ok", "message": ""} | traces.trace_info(two_phases)
    (two_phases.parent / "info.json").write_text(json.dumps(info))
    recording = Recording(two_phases.parent / "info.json")
    made = window.function(Run(tmp_path / "w" / "info.json"), recording, 20_000)
    assert made["window_start_access"] == LOADS - 10_000 and made["accesses"] == 20_000
    whole, part = block_vectors(two_phases, LENGTH), block_vectors(tmp_path / "w" / "trace.tst", LENGTH)
    # as much of either loop as the four middle intervals (the cut may move by an instruction)
    assert part.vectors.sum(axis=0) == pytest.approx(whole.vectors[4:8].sum(axis=0), abs=2)
    everything = window.function(Run(tmp_path / "all"), recording, 10**9)
    assert json.loads((tmp_path / "all" / "info.json").read_text()) == everything
    assert everything["accesses"] == 2 * LOADS and everything["checksum"] == info["checksum"]


def test_a_failed_recording_has_no_window(tmp_path):
    (tmp_path / "info.json").write_text(
        json.dumps({"workload": "made", "size": "tiny", "status": "failed", "message": "no memory"})
    )
    shown = lab_run("window", f"trace={tmp_path / 'info.json'}", "accesses=10", out=tmp_path / "w")
    assert shown.exit_code == 0 and "failed: no memory" in shown.output
    made = json.loads((tmp_path / "w" / "info.json").read_text())
    assert made["status"] == "failed" and made["message"] == "no memory"
    assert not (tmp_path / "w" / "trace.tst").exists()
