"""Real huge pages, confirmed by the kernel; and what happens when they are not to be had."""

from __future__ import annotations

import json
import sys

import pytest

from tessera.core.files import build_dir
from tessera.core.units import PAGE_1GB, PAGE_2MB
from tessera.machine.reserve import huge_pages_free
from tessera.measure.mosalloc import read_report

pytestmark = [pytest.mark.toolchain, pytest.mark.hugepages]

WINDOWS = ("brk,2MB,0,2MB", "mmap,2MB,2MB,8MB", "mmap,2MB,64MB,72MB")
ONE_POOL = "type,pageSize,startOffset,endOffset\nmmap,-1,0,12GB\n"
PROGRAM = "x = bytearray(100 << 20); x[::4096] = b'x' * len(x[::4096]); y = [i for i in range(300000)]"


def test_windows_are_huge_and_the_rest_is_not(launch, layout, huge_pages, tmp_path):
    huge_pages(8)
    report = tmp_path / "r.json"
    done = launch("--layout", layout(*WINDOWS), "--report", report, "--", sys.executable, "-c", PROGRAM)
    assert done.returncode == 0, done.stderr
    found = read_report(report)
    assert found.confirmed and found.reason == ""
    assert [(w.pool, w.found, w.confirmed) for w in found.windows] == [
        ("brk", PAGE_2MB, True),
        ("mmap", PAGE_2MB, True),
        ("mmap", PAGE_2MB, True),
    ]
    assert found.used_bytes["mmap"] > 100 << 20
    assert json.loads(report.read_text())["small_pages"] == dict.fromkeys(
        ("anon_huge_bytes", "wrong_page_bytes", "outside_huge_bytes"), 0
    )


@pytest.mark.parametrize(
    ("ending", "status"),
    [("import os; os._exit(7)", 7), ("raise SystemExit(3)", 3), ("import os; os.abort()", 134)],
)
def test_pages_are_confirmed_however_the_program_ends(launch, layout, huge_pages, tmp_path, ending, status):
    huge_pages(8)
    report = tmp_path / "r.json"
    done = launch("--layout", layout(*WINDOWS), "--report", report, "--", sys.executable, "-c", ending)
    assert done.returncode == status
    assert read_report(report).confirmed


def test_pages_go_back_when_the_program_ends(launch, layout, huge_pages):
    huge_pages(8)
    before = huge_pages_free(PAGE_2MB)
    launch("--layout", layout(*WINDOWS), "--", sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")
    assert huge_pages_free(PAGE_2MB) == before


def test_offsets_do_not_depend_on_the_layout(launch, layout, huge_pages, build):
    huge_pages(8)
    outputs = {
        launch("--layout", layout(*rows), "--", build / "offsets", "7").stdout
        for rows in ((), WINDOWS, WINDOWS[2:])
    }
    assert len(outputs) == 1
    assert "mremap" in outputs.pop()


def test_exhaustion_inside_a_window(launch, layout, huge_pages, build):
    huge_pages(8)
    pools = "type,pageSize,startOffset,endOffset\nbrk,-1,0,16MB\nmmap,-1,0,16MB\n"
    path = layout("brk,2MB,14MB,16MB", "mmap,2MB,2MB,16MB", pools=pools)
    done = launch("--layout", path, "--", build / "exhaust", 16 << 20)
    assert done.returncode == 0, done.stderr


def test_one_page_too_few_is_refused_with_the_command(launch, layout, huge_pages):
    huge_pages(8)
    free = huge_pages_free(PAGE_2MB)
    path = layout(f"mmap,2MB,0,{(free + 1) * PAGE_2MB}", pools=ONE_POOL)
    done = launch("--layout", path, "--", sys.executable, "-c", "print('ran')")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"asked for {free + 1} pages of 2MB (layout line 3): found {free} free" in done.stderr
    assert "sysctl vm.nr_hugepages=" in done.stderr
    path = layout(f"mmap,2MB,0,{free * PAGE_2MB}", pools=ONE_POOL)
    assert launch("--layout", path, "--", sys.executable, "-c", "print('ran')").stdout == "ran\n"


def test_fork_without_free_pages_gives_the_child_small_ones(launch, layout, huge_pages, tmp_path):
    huge_pages(8)
    free = huge_pages_free(PAGE_2MB)
    path = layout(f"mmap,2MB,0,{free * PAGE_2MB}", pools=ONE_POOL)
    report = tmp_path / "r.json"
    fork = "import os\nx = bytearray(1 << 20)\nif os.fork() == 0: os._exit(0)\nos.wait()"
    done = launch("--layout", path, "--report", report, "--", sys.executable, "-c", fork)
    assert (done.returncode, done.stderr) == (0, "")
    found = read_report(report)
    assert found.confirmed  # the parent has its huge pages back
    assert found.counters["forks"] == 1 and found.counters["fork_risks"] == 0
    copied = found.counters["fork_copied_bytes"]
    assert copied % PAGE_2MB == 0 and PAGE_2MB <= copied <= 8 * PAGE_2MB


def test_1gb_pages(launch, layout, huge_pages, tmp_path):
    huge_pages(8, 1)
    report = tmp_path / "r.json"
    path = layout("mmap,1GB,0,1GB", "mmap,2MB,1GB,1026MB", pools=ONE_POOL)
    done = launch("--layout", path, "--report", report, "--", sys.executable, "-c", PROGRAM)
    assert done.returncode == 0, done.stderr
    assert [w.found for w in read_report(report).windows] == [PAGE_1GB, PAGE_2MB]


@pytest.mark.slow
def test_every_case_under_huge_pages(huge_pages):
    """The suite of the component again, now with pages: its cases under 2MB windows may not SKIP."""
    import subprocess

    huge_pages(24)
    argv = ["ctest", "--test-dir", str(build_dir("mosalloc")), "-R", "^2mb[.]", "--no-tests=error"]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "Skipped" not in done.stdout, done.stdout
