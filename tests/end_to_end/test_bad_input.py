"""Bad input gives one clear error each: what was asked, what was found, what to do; the rest goes on."""

import json
import os
import re
import shutil
import subprocess

import pytest

from tessera.core.results.table_io import read_cells
from tests import in_process

from .conftest import ROOT, run_sh

pytestmark = [pytest.mark.slow, pytest.mark.toolchain]
LAYOUT = "type,pageSize,startOffset,endOffset\nmmap,-1,0,160MB\n"


def trace_of(smoke):
    return smoke.results / "traces" / "gups" / "trace.tst"


def tessera(*words):
    """Both streams as one text, as :func:`run_sh` gives them."""
    done = in_process.tessera(*words)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout + done.stderr)


def refused(done, *words, status=2):
    assert done.returncode == status, done.stdout
    assert re.search(r"^  what to do: .", done.stdout, re.M) and "Traceback" not in done.stdout, done.stdout
    for word in words:
        assert word in done.stdout, done.stdout


def test_unknown_names_list_the_valid_ones(smoke, tmp_path):
    refused(tessera("workload", "run", "linpack", "--size", "tiny"), "linpack", "gups", "network-simplex")
    refused(tessera("workload", "run", "gups", "--size", "vast"), "vast", "default, paper")
    trace, layouts = trace_of(smoke), smoke.results / "layouts" / "gups" / "broadwell-sim"
    words = ["simulate", "--trace", trace, "--layouts", layouts, "--out", tmp_path / "c.csv", "--platform"]
    refused(tessera(*words, "pentium-sim"), "pentium-sim", "haswell-sim")
    refused(tessera(*words, "haswell-sim", "--engine", "magic"), "magic", "partial")
    fit = tmp_path / "fit"
    samples = smoke.results / "cells" / "gups" / "broadwell-sim.csv"
    refused(
        tessera("models", "fit", "--samples", samples, "--out", fit, "--model", "oracle"), "oracle", "yaniv"
    )


def test_bad_layouts_are_failed_rows_and_the_others_go_on(smoke, tmp_path):
    folder = tmp_path / "layouts"
    folder.mkdir()
    for name, rows in {
        "good": "mmap,2MB,0,4MB\n",
        "page-size": "mmap,8192,0,8192\n",
        "overlap": "mmap,2MB,0,4MB\nmmap,2MB,2MB,6MB\n",
        "misaligned": "mmap,2MB,4096,2MB\n",
        "outside": "mmap,2MB,160MB,162MB\n",
        "pool": "stack,2MB,0,2MB\n",
    }.items():
        (folder / f"{name}.csv").write_text(LAYOUT + rows)
    (folder / "no-text.csv").write_bytes(LAYOUT.encode() + b"mmap,2MB,0,\xff\n")
    (folder / "dangling.csv").symlink_to("none")
    (folder / "folder.csv").mkdir()
    out = tmp_path / "cells.csv"
    words = ["--trace", trace_of(smoke), "--platform", "haswell-sim", "--layouts", folder, "--out", out]
    done = tessera("simulate", *words, "--engine", "partial", "--sampling", "units=1,timed_instructions=1000")
    assert done.returncode == 1, done.stdout
    rows = read_cells(out).set_index("layout")
    assert rows.status.to_dict() == {name: "ok" if name == "good" else "failed" for name in rows.index}
    for name, word in {
        "page-size": "8192", "overlap": "overlap", "misaligned": "4096",
        "outside": "outside", "pool": "stack",
        "no-text": "line 3", "dangling": "No such file", "folder": "folder",
    }.items():  # fmt: skip
        assert word in rows.message[name] and f"{name}.csv" in rows.message[name], rows.message[name]


def test_a_damaged_trace_is_refused_with_frame_and_offset(smoke, tmp_path):
    broken = tmp_path / "broken.tst"
    shutil.copy(trace_of(smoke), broken)
    with broken.open("r+b") as stream:
        stream.seek(broken.stat().st_size // 2)
        byte = stream.read(1)[0]
        stream.seek(-1, os.SEEK_CUR)
        stream.write(bytes([byte ^ 0x10]))
    layouts = smoke.results / "layouts" / "gups" / "broadwell-sim"
    words = [
        "--trace",
        broken,
        "--platform",
        "haswell-sim",
        "--layouts",
        layouts,
        "--out",
        tmp_path / "c.csv",
    ]
    done = tessera("simulate", *words, "--engine", "partial")
    refused(done, "frame", "byte", status=2)
    assert not (tmp_path / "c.csv").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a full disk needs root")
def test_a_full_disk_at_the_end_loses_no_cell(smoke, tmp_path):
    """And what could not be written, or would be written over, is refused before anything is simulated."""
    layout, cache = tmp_path / "growing-0.csv", tmp_path / "cache"
    layout.write_text(LAYOUT)
    words = ["simulate", "--trace", trace_of(smoke), "--platform", "haswell-sim", "--layouts", layout]
    words += [
        "--engine",
        "partial",
        "--sampling",
        "units=1,timed_instructions=1000",
        "--cache",
        cache,
        "--out",
    ]
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", disk], check=True)
    try:
        for out in ([disk / "c.csv", "--write", f"units={disk / 'c.csv'}"], [layout], [layout / "c.csv"]):
            refused(tessera(*words, *out), str(out[-1]).removeprefix("units="))
        assert not cache.exists()
        (disk / "fill").write_bytes(bytes(8192))
        refused(tessera(*words, disk / "c.csv"), str(disk / "c.csv"), "No space left", status=1)
        kept = list(cache.rglob("*.json"))
        assert len(kept) == 1 and [path.name for path in disk.iterdir()] == ["fill"]
        (disk / "fill").unlink()
        assert tessera(*words, disk / "c.csv").returncode == 0
        assert list(read_cells(disk / "c.csv").status) == ["ok"] and list(cache.rglob("*.json")) == kept
    finally:
        subprocess.run(["umount", disk], check=True)


def test_missing_column_is_named(tmp_path):
    samples = tmp_path / "samples.csv"
    samples.write_text("layout,runtime_cycles,stlb_hits,stlb_misses\n4kb,1,2,3\n2mb,1,2,3\n")
    refused(tessera("models", "fit", "--samples", samples, "--out", tmp_path / "fit"), "walk_cycles")


def test_a_wrong_answer_leaves_no_trace(smoke, tmp_path):
    out = tmp_path / "t.tst"
    program = [ROOT / "build/workloads/gups", "--size", "1MB", "--reads", "1000", "--self-test-corrupt"]
    refused(tessera("trace", "record", "--out", out, "--", *program), "gups", status=1)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a full disk needs root")
def test_a_full_disk_leaves_no_trace(smoke, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=True)
    try:
        program = [ROOT / "build/workloads/gups", "--size", "64MB", "--reads", "2000000"]
        done = tessera("trace", "record", "--out", disk / "t.tst", "--", *program)
        refused(done, "space", status=1)
        assert not (disk / "t.tst").exists()
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a full disk needs root")
def test_a_recording_that_the_disk_cannot_hold_is_a_row_before_it_starts(smoke, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], check=True)
    try:
        info = disk / "traces" / "gups" / "info.json"
        words = ["workload=gups", "size=tiny", "max_accesses=2000000", "--out", info]
        assert tessera("dev", "step", "record", *words).returncode == 0
        found = json.loads(info.read_text())
        assert found["status"] == "failed" and found["message"].startswith("disk ")
        assert "gups" in found["message"] and str(disk) in found["message"]
        assert not info.with_name("trace.tst").exists()
    finally:
        subprocess.run(["umount", disk], check=True)


def test_no_engine_names_the_way_without_one(tmp_path):
    words = ["trace", "record", "--out", str(tmp_path / "t"), "--", "/bin/true"]
    done = run_sh("tessera", *words, DOCKER_HOST="unix:///none")
    refused(done, "DOCKER_HOST=unix:///none", "--engine none")


def test_a_failed_recording_becomes_rows_and_is_tried_again(smoke, tmp_path):
    """The pipeline's links, one by one, on a workload whose recording fails."""
    info = tmp_path / "traces" / "gups" / "info.json"

    def step(*words):
        assert tessera("dev", "step", *words).returncode == 0

    step("record", "workload=gups", "size=no-such-size", "--out", info)
    assert json.loads(info.read_text())["status"] == "failed"
    platform = ROOT / "config" / "platforms" / "haswell-sim.yaml"
    manifest, cells = tmp_path / "l" / "manifest.csv", tmp_path / "cells" / "gups" / "haswell-sim.csv"
    words = [f"trace={info}", f"platform={platform}"]
    step("layouts", *words, "seed=1", "random_count=9", "--out", manifest)
    words += [f"manifest={manifest}", "engine=timing", "sampling=full", f"cache={tmp_path / 'cache'}"]
    step("cells", *words, "--out", cells)
    rows = read_cells(cells)
    assert (
        len(rows) == 55 and set(rows.status) == {"failed"} and rows.message.str.contains("no-such-size").all()
    )
    step("fit", "seed=1", f"cells={cells}", "--out", tmp_path / "models")
    fit = tmp_path / "models" / "gups" / "haswell-sim"
    assert (fit / "errors.csv").read_text().startswith("model,") and (fit / "not_fitted.txt").exists()

    from tessera.cli.pipeline.failures import failures

    assert {one.path for one in failures(tmp_path, reserve=False)} == {info, cells}
