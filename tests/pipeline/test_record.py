"""A row that can't run is a row that says why; the others go on."""

import json
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from tessera.cli.dev.steps import STEPS
from tessera.cli.pipeline import record
from tessera.cli.pipeline.failures import drop, failures
from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.results.table_io import read_cells
from tessera.lab.study import Run, load, read_words, run_study
from tessera.record import workloads
from tessera.record.workloads import Size, Workload
from tessera.record.workloads.program_run import ProgramRun as ProgramRun

POOL = {"kind": "mmap", "used_bytes": 1 << 20}
INFO = {"accesses": 100, "file_bytes": 300, "complete_roi": True, "distinct_4kb_pages": 3, "pools": [POOL]}
#: What is missing of a row that the user must supply.
SUPPLIED = {"absent": "SPEC CPU2017: not supplied; SPEC_CPU2017=DIR"}
SIZES = {"tiny": Size("tiny", (), footprint=1 << 21, heap_pool=1 << 21, anon_pool=1 << 22)}


def workload(name, kind="kernel"):
    return Workload(name, "prog", "d", "s", SIZES, kind, {"micro20": "x/1GB"}, "SPEC x", "one")


@pytest.fixture
def world(monkeypatch, tmp_path):
    """Workloads by name; recording writes a file that is no trace, `traces.info` describes it."""
    kinds = {"good": "kernel", "wrong": "kernel", "licensed": "spec", "absent": "spec", "odd": "kernel"}
    monkeypatch.setattr(workloads, "load_workload", lambda name: workload(name, kinds[name]))
    monkeypatch.setattr(workloads, "missing", lambda found, label: SUPPLIED.get(found.name, ""))
    monkeypatch.setattr(record.needs, "check_memory", lambda *a: None)
    monkeypatch.setattr(record, "repeat_exception", lambda run: "")
    monkeypatch.setattr(record, "recording_key", lambda run, *_: run.argv[1])
    compare = record.compare_with_known
    monkeypatch.setattr(record, "compare_with_known", lambda *a: compare(*a, tmp_path / "known"))
    monkeypatch.setattr(record, "execute", lambda run, folder: (None, {"roi_ns": 2_000_000}))

    def prepare(found, size, folder, prepared):
        folder.mkdir(parents=True)
        if found.kind == "spec":
            raise TesseraError("SPEC CPU2006", "not installed", "tessera workload spec --root DIR")
        return ProgramRun(("prog", found.name))

    def traced(argv, out, **options):
        assert options["environment"] == {} and options["where"] is None and options["target"] is None
        if argv[1] == "odd":
            raise RuntimeError("a bug")
        Path(out).write_bytes(b"x" * 300)
        line = {"verified": argv[1] != "wrong", "roi_ns": 8_000_000}
        return SimpleNamespace(returncode=0, stdout=json.dumps(line) + "\n", stderr="", stopped=False)

    monkeypatch.setattr(workloads, "prepare", prepare)
    monkeypatch.setattr(record.traces, "record_program", traced)
    monkeypatch.setattr(record.traces, "trace_info", lambda path: INFO)


def dropped(results):
    """The failures of a results folder, which are gone then."""
    found = failures(results, reserve=False)
    drop(results, found)
    return [one.path for one in found]


def recorded(tmp_path, name):
    out = tmp_path / "traces" / name / "info.json"
    info = record.record.function(Run(out), name, "tiny", 1000)
    assert json.loads(out.read_text()) == info
    return info, out


def step(name, out, *words):
    one = load(STEPS, name, "step")
    return run_study(one, Run(out), read_words(name, one, words, out))


def test_a_good_row_says_what_it_cost(world, tmp_path):
    info, out = recorded(tmp_path, "good")
    assert info["status"] == "ok" and out.with_name("trace.tst").exists()
    assert info["about"] == {
        "kind": "kernel", "rows": {"micro20": "x/1GB"}, "stand_in_for": "SPEC x", "threads": "one",
        "footprint_bytes": 1 << 21,
    }  # fmt: skip
    costs = info["recording"]
    assert costs["bytes_per_access"] == 3 and costs["slowdown"] == 4
    assert costs["native_roi_seconds"] == 0.002 and costs["recorded_roi_seconds"] == 0.008
    assert costs["accesses_per_second"] == pytest.approx(100 / 0.008)
    assert costs["seconds"] > 0 and costs["peak_memory_bytes"] is None
    assert sorted(path.name for path in out.parent.iterdir()) == ["info.json", "trace.tst"]


def test_another_trace_of_the_same_key_fails_the_row(world, tmp_path, monkeypatch):
    assert recorded(tmp_path / "a", "good")[0]["repeats"] == {"key": "good", "seen": "first", "exception": ""}
    info = recorded(tmp_path / "longer", "good")[0]
    assert info["repeats"]["seen"] == "same" and len(info["sha256"]) == 64
    traced = record.traces.record_program

    def other(argv, out, **more):
        done = traced(argv, out, **more)
        Path(out).write_bytes(b"y" * 300)
        return done

    monkeypatch.setattr(record.traces, "record_program", other)
    info, out = recorded(tmp_path / "b", "good")
    assert info["status"] == "failed" and "SHA-256" in info["message"]
    assert not out.with_name("trace.tst").exists()


def test_touched_is_not_allocated(world, tmp_path, monkeypatch):
    whole = {"allocated_bytes": 1 << 20, "touched_bytes": 3 * 4096, "recorded_share": 1.0}
    assert recorded(tmp_path, "good")[0]["memory"] == whole
    monkeypatch.setattr(record.traces, "trace_info", lambda path: INFO | {"complete_roi": False})
    assert recorded(tmp_path, "good")[0]["memory"] == whole | {"recorded_share": None}


@pytest.mark.parametrize(
    ("header", "declared", "share"),
    [
        ({}, None, None),
        ({}, 400, 0.25),
        ({"region_accesses_seen": 200, "region_ended": False}, 400, 0.25),
        ({"region_accesses_seen": 200, "region_ended": True}, None, 0.5),
        ({"complete_roi": True}, 400, 1.0),
    ],
)
def test_the_recorded_share_needs_a_count_or_a_declared_region(header, declared, share):
    found = INFO | {"complete_roi": False} | header
    assert record._memory(found, declared)["recorded_share"] == share


def test_windows_of_a_size_reach_the_tracer(world, tmp_path, monkeypatch):
    seen = {}
    size = Size("tiny", (), 1 << 21, 1 << 21, 1 << 22, windows=4, region_accesses=10**9)
    monkeypatch.setitem(SIZES, "tiny", size)
    traced = record.traces.record_program
    monkeypatch.setattr(
        record.traces, "record_program", lambda *a, **more: seen.update(more) or traced(*a, **more)
    )
    assert recorded(tmp_path, "good")[0]["status"] == "ok"
    assert (seen["windows"], seen["region_accesses"], seen["max_accesses"]) == (4, 10**9, 1000)


def test_a_recording_that_ends_before_the_region_has_neither_rate_nor_slowdown(world, tmp_path, monkeypatch):
    """Behind its last recorded access the program runs untraced: its clock says nothing of the recording."""
    monkeypatch.setattr(record.traces, "trace_info", lambda path: INFO | {"complete_roi": False})
    costs = recorded(tmp_path, "good")[0]["recording"]
    assert costs["slowdown"] is None and costs["accesses_per_second"] is None
    assert costs["recorded_roi_seconds"] == 0.008


def test_a_kernel_whose_native_run_verified_ends_with_its_recording(world, tmp_path, monkeypatch):
    asked = []

    def stopped(argv, out, **options):
        asked.append(options["stop_when_recorded"])
        Path(out).write_bytes(b"x" * 300)
        return SimpleNamespace(returncode=0, stdout="", stderr="", stopped=True)

    monkeypatch.setattr(record.traces, "record_program", stopped)
    monkeypatch.setattr(record, "execute", lambda run, folder: (None, {"roi_ns": 2_000_000, "answer": 42}))
    info, _ = recorded(tmp_path, "good")
    assert asked == [True] and info["result"]["answer"] == 42
    assert info["recording"]["native_roi_seconds"] == 0.002
    assert info["recording"]["recorded_roi_seconds"] is None and info["recording"]["slowdown"] is None


def test_kinds_and_tracer_get_absolute_paths_from_the_workflows_relative_ones(world, tmp_path, monkeypatch):
    """A program in a folder of its own would not find a relative path."""
    seen = []
    monkeypatch.chdir(tmp_path)
    prepare, traced = workloads.prepare, record.traces.record_program
    monkeypatch.setattr(
        workloads,
        "prepare",
        lambda w, s, folder, file: [seen.append(folder), prepare(w, s, folder, file)][1],
    )
    monkeypatch.setattr(
        record.traces,
        "record_program",
        lambda argv, out, **more: [seen.append(out), traced(argv, out, **more)][1],
    )
    record.record.function(Run(Path("traces/good/info.json")), "good", "tiny", 1000)
    assert seen == [tmp_path / "traces" / "good" / name for name in ("run", "trace.tst")]


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        pytest.param("wrong", "failed", '"verified": false', id="wrong-failed-verifier failed"),
        ("licensed", "skipped", "not installed; tessera workload spec"),
        ("absent", "skipped", "SPEC CPU2017: not supplied; SPEC_CPU2017=DIR"),
        ("odd", "failed", "RuntimeError: a bug"),
    ],
)
def test_a_bad_row_is_a_status_with_a_reason(world, tmp_path, name, status, words):
    info, out = recorded(tmp_path, name)
    assert info["status"] == status and words in info["message"]
    assert info.get("missing") == SUPPLIED.get(name)
    assert not out.with_name("trace.tst").exists()


def test_too_little_memory_is_a_status(world, tmp_path, monkeypatch):
    def refuse(*_):
        raise TesseraError("memory for it", "it needs 9GB, 2GB are free", "free some")

    monkeypatch.setattr(record.needs, "check_memory", refuse)
    info, _ = recorded(tmp_path, "good")
    assert info["status"] == "failed" and "9GB, 2GB" in info["message"]


def test_rows_of_bad_recordings_carry_the_reason_and_are_tried_again(world, tmp_path):
    platform = platforms.platform_names()[0]
    found = {}
    for name in ("odd", "licensed"):
        _, info = recorded(tmp_path, name)
        manifest = tmp_path / "layouts" / name / "manifest.csv"
        path = repo_root() / "config" / "platforms" / f"{platform}.yaml"
        step("layouts", manifest, f"trace={info}", f"platform={path}", "seed=1", "random_count=9")
        assert pd.read_csv(manifest).empty
        out = tmp_path / "cells" / name / f"{platform}.csv"
        words = f"trace={info}", f"manifest={manifest}", f"platform={path}", f"cache={tmp_path}/cache"
        (found[name],) = step("cells", out, *words, "engine=timing", "sampling=full")
        assert len(read_cells(out)) == 55
    assert set(found["odd"].status) == {"failed"} and found["odd"].message.str.contains("a bug").all()
    assert set(found["licensed"].status) == {"skipped"}
    assert found["licensed"].message.str.contains("not installed; tessera workload spec").all()
    again = {str(path.relative_to(tmp_path)) for path in dropped(tmp_path)}
    expected = {"traces/odd/info.json", "traces/licensed/info.json", f"cells/odd/{platform}.csv"}
    assert again == expected


def test_what_the_user_has_not_supplied_is_a_finished_result_until_that_changes(world, tmp_path, monkeypatch):
    _, info = recorded(tmp_path, "absent")
    assert dropped(tmp_path) == [] and info.exists()
    monkeypatch.setitem(SUPPLIED, "absent", "SPEC CPU2017: DIR has no benchspec/CPU")  # another reason
    assert dropped(tmp_path) == [info] and not info.exists()
    _, info = recorded(tmp_path, "absent")
    monkeypatch.setitem(SUPPLIED, "absent", "")  # it is there now
    assert dropped(tmp_path) == [info]
    recorded(tmp_path, "absent")
