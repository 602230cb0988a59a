"""Which layouts are measured: of a workload, and within some minutes. Numbers are worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import Window
from tessera.core.units import MB, PAGE_1GB, PAGE_2MB
from tessera.machine.container.toolchain import DockerToolchain
from tessera.measure.counted import plan
from tessera.measure.counted.host import MeasurementSite
from tessera.measure.counted.layout_sets import layouts_of_workload
from tessera.measure.counted.request import MeasurementOptions, ReadyWorkload
from tessera.measure.suggest import sampled_profile
from tessera.measure.suggest.profile import Profile
from tessera.record.workloads.definition import Size
from tessera.record.workloads.program_run import HOST, WORKLOADS
from tessera.record.workloads.program_run import ProgramRun as WorkloadRun

# --- minutes ------------------------------------------------------------------------------------------

NAMES = ["growing-0", "growing-1", "growing-4", "growing-8", "1gb", "random-0", "sliding-20-0"]


def test_time_of_all_runs():
    assert plan.seconds_of_runs({"a": (2.0, 3), "b": (10.0, 1)}, passes=2, rounds=5) == 160


def test_anchors_of_all_rows_come_first():
    """One round and pass: 2 layouts cost 2 s and 20 s. 23 s hold the anchors of both, and one layout more."""
    found = plan.fitting_layouts({"slow": 10.0, "fast": 1.0}, {"slow": NAMES, "fast": NAMES}, 1, 1, 23 / 60)
    assert found == {"slow": ["growing-0", "growing-8"], "fast": ["growing-0", "growing-4", "growing-8"]}


def test_a_row_that_does_not_fit_is_left_out():
    found = plan.fitting_layouts({"slow": 10.0, "fast": 1.0}, {"slow": NAMES, "fast": NAMES}, 1, 1, 7 / 60)
    assert found == {"fast": NAMES}


def test_too_few_minutes_say_how_many():
    with pytest.raises(TesseraError) as error:
        plan.fitting_layouts({"fast": 60.0}, {"fast": NAMES}, 2, 5, 1)
    assert error.value.code == "too-few-minutes" and "20.0 minutes" in error.value.found  # 60 s x 2 x 2 x 5
    assert "--minutes 26 " in error.value.remedy  # 20 / 0.8 + 1
    with pytest.raises(TesseraError) as error:
        plan.fitting_layouts({"fast": 60.0}, {"fast": NAMES}, 2, 5, 1, spent=4.0)
    assert "--minutes 31 " in error.value.remedy  # trials took 4 minutes: 24 / 0.8 + 1


@pytest.mark.parametrize(("seconds", "text"), [(40, "40 s"), (720, "12 min"), (7500, "2 h 05 min")])
def test_times_for_people(seconds, text):
    assert plan.duration_text(seconds) == text


# --- layouts ------------------------------------------------------------------------------------------


def test_sliding_windows_follow_samples_where_the_processor_has_them(tmp_path, monkeypatch):
    """S is 8MB of one pool: 4 pages. All samples lie in the third, so 20% of them need this page only."""
    size = Size("s", (), 8 * MB, 2 * MB, 32 * MB)
    row = ReadyWorkload("w", size, WorkloadRun(("/bin/true",)), "0" * 64)
    where, asked = MeasurementSite(tmp_path, Path("launcher"), rehearsal=False), []

    def profile(argv, folder, *, pool_bytes, load):
        asked.append((argv, pool_bytes))
        return Profile("measured", "samples", {("mmap", 4 * MB): 100.0}, 100.0, pool_bytes)

    monkeypatch.setattr(sampled_profile, "why_unusable", lambda: "")
    monkeypatch.setattr(sampled_profile, "recorded_profile", profile)
    request = MeasurementOptions(tmp_path / "b", results=tmp_path / "none")
    found = layouts_of_workload(row, {"mmap": 8 * MB}, request, where, "haswell")
    assert (found.source, found.platform, len(found.layouts)) == ("measured", "", 55)
    assert asked == [(("/bin/true",), {"brk": PAGE_1GB, "mmap": PAGE_1GB})]
    windows = {layout.name: layout.windows for layout in found.layouts}
    assert windows["sliding-20-0"] == (Window("mmap", 4 * MB, 6 * MB, PAGE_2MB),)
    assert windows["growing-0"] == () and windows["growing-8"][0].end == 8 * MB
    monkeypatch.setattr(sampled_profile, "why_unusable", lambda: "no PMU")
    with pytest.raises(TesseraError) as error:
        layouts_of_workload(row, {"mmap": 8 * MB}, request, where, "haswell")
    assert error.value.code == "no-profile" and "haswell-sim" in error.value.found
    assert "(no PMU)" in error.value.found


def test_samples_are_of_the_program_in_its_folder_with_its_variables(tmp_path, monkeypatch):
    run = WorkloadRun(("run", "-x"), folder=tmp_path / "f", environment={"A": "1"}, image=HOST)
    row = ReadyWorkload("w", Size("s", (), 8 * MB, 2 * MB, 32 * MB), run, "0" * 64)
    asked = []

    def profile(argv, folder, *, pool_bytes, load):
        asked.append(list(argv))
        return Profile("measured", "samples", {("mmap", 0): 1.0}, 1.0, pool_bytes)

    monkeypatch.setattr(sampled_profile, "why_unusable", lambda: "")
    monkeypatch.setattr(sampled_profile, "recorded_profile", profile)
    where = MeasurementSite(tmp_path, Path("launcher"), rehearsal=False)
    layouts_of_workload(row, {"mmap": 8 * MB}, MeasurementOptions(tmp_path / "b"), where, "haswell")
    assert asked == [["env", "-C", str(tmp_path / "f"), "A=1", "run", "-x"]]


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (WorkloadRun(("sh", "run.sh"), target="/opt/solver", image=HOST), "solver"),
        (WorkloadRun(("xalan",), image=WORKLOADS), "image"),
    ],
)
def test_programs_that_perf_would_not_sample_alone(tmp_path, monkeypatch, run, words):
    monkeypatch.setattr(sampled_profile, "why_unusable", lambda: "")
    monkeypatch.setattr(MeasurementSite, "toolchain", lambda self, run: DockerToolchain("tag"))
    row = ReadyWorkload("w", Size("s", (), 8 * MB, 2 * MB, 32 * MB), run, "0" * 64)
    where = MeasurementSite(tmp_path, Path("launcher"), rehearsal=False)
    request = MeasurementOptions(tmp_path / "b", results=tmp_path / "none")
    with pytest.raises(TesseraError) as error:
        layouts_of_workload(row, {"mmap": 8 * MB}, request, where, "haswell")
    assert error.value.code == "no-profile" and words in error.value.found


def test_core_layouts_need_no_profile_and_share_their_pools(tmp_path):
    row = ReadyWorkload("w", Size("s", (), 8 * MB, 2 * MB, 32 * MB), WorkloadRun(("/bin/true",)), "0" * 64)
    where = MeasurementSite(tmp_path, Path("launcher"), rehearsal=True)
    request = MeasurementOptions(tmp_path / "b", layouts="core")
    found = layouts_of_workload(row, {"brk": 1, "mmap": 16 * MB}, request, where, "haswell")
    assert [one.name for one in found.layouts] == [*(f"growing-{n}" for n in range(9)), "1gb"]
    assert {tuple(one.pool_bytes.items()) for one in found.layouts} == {
        (("brk", PAGE_1GB), ("mmap", PAGE_1GB))
    }
    assert found.layouts[4].pages(PAGE_2MB) == 4  # half of 9 pages, rounded to even
    with pytest.raises(TesseraError):  # no memory, so nothing to lay out
        layouts_of_workload(row, {"brk": 0}, request, where, "haswell")
