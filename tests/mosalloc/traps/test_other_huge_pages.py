"""Huge pages that the layout does not have: of malloc by glibc's tunable, of the program, of the kernel."""

from __future__ import annotations

import json
import sys

import pytest

from tessera.measure.mosalloc import read_report

from .conftest import THP

pytestmark = pytest.mark.toolchain

HUGETLB = "glibc.malloc.hugetlb"


@pytest.mark.parametrize(
    ("value", "kept", "removed"),
    [
        (f"{HUGETLB}=2", "", f"{HUGETLB}=2"),
        (f"{HUGETLB}=1", "", f"{HUGETLB}=1"),
        (f"{HUGETLB}=0x200000", "", f"{HUGETLB}=0x200000"),
        (f"{HUGETLB}=0", f"{HUGETLB}=0", ""),
        (f"glibc.malloc.tcache_count=3:{HUGETLB}=2", "glibc.malloc.tcache_count=3", f"{HUGETLB}=2"),
        (f"{HUGETLB}=2:glibc.malloc.tcache_count=3", "glibc.malloc.tcache_count=3", f"{HUGETLB}=2"),
        (f"{HUGETLB}=0:{HUGETLB}=2", f"{HUGETLB}=0", f"{HUGETLB}=2"),
        ("glibc.malloc.tcache_count=3", "glibc.malloc.tcache_count=3", ""),
        (f"glibc.malloc.check=:{HUGETLB}=2:a=1", "glibc.malloc.check=:a=1", f"{HUGETLB}=2"),
    ],
)
def test_the_launcher_removes_malloc_s_huge_pages(
    launch, layout, build, tmp_path, monkeypatch, value, kept, removed
):
    """And nothing else of the variable, for the program and for what it starts."""
    monkeypatch.setenv("GLIBC_TUNABLES", value)
    report = tmp_path / "r.json"
    script = "import os; print(os.environ['GLIBC_TUNABLES']); os.system('echo $GLIBC_TUNABLES')"
    done = launch("--layout", layout(), "--report", report, "--", sys.executable, "-c", script)
    assert (done.returncode, done.stdout.split("\n")[0]) == (0, kept), done.stderr
    assert sorted(done.stdout.splitlines()) == [kept, kept]
    assert json.loads(report.read_text())["removed_tunables"] == removed
    assert (f"note: the program ran without {removed} " in done.stderr) == bool(removed)


def test_a_program_that_sets_it_for_the_target_is_refused(launch, layout, build):
    done = launch("--layout", layout(), "--", "env", f"GLIBC_TUNABLES={HUGETLB}=2", build / "cases", "brk")
    assert done.returncode == 2
    assert f"GLIBC_TUNABLES={HUGETLB}=2: " in done.stderr and f"what to do: remove {HUGETLB}" in done.stderr
    done = launch("--layout", layout(), "--", "env", f"GLIBC_TUNABLES={HUGETLB}=0", build / "cases", "brk")
    assert done.returncode == 0, done.stderr


@pytest.mark.hugepages
@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("small", None),
        ("anonymous", "8388608 bytes outside the pools have huge pages, first in /anon_hugepage"),
        ("unmapped", "mapped 8388608 bytes of huge pages itself"),
        ("file", "outside the pools have huge pages, first in /memfd:own"),
        ("unmapped_file", "mapped 8388608 bytes of huge pages itself"),
    ],
)
@pytest.mark.parametrize("rows", [(), ("mmap,2MB,0,4MB",)], ids=["4kb", "window"])
def test_the_program_s_own_huge_pages_are_no_part_of_the_layout(
    program, launch, layout, huge_pages, tmp_path, rows, kind, reason
):
    huge_pages(6)
    report = tmp_path / "r.json"
    done = launch("--layout", layout(*rows), "--report", report, "--", program("own_pages"), kind)
    found = read_report(report)
    assert (done.returncode, found.verdict) == ((1, "mismatch") if reason else (0, "confirmed")), done.stderr
    assert (reason or "") in found.reason and (reason or "") in done.stderr
    assert all(window.confirmed for window in found.windows)


def test_huge_pages_of_a_forked_child_count_too(program, launch, layout, tmp_path):
    report = tmp_path / "r.json"
    done = launch("--layout", layout(), "--report", report, "--", program("own_pages"), "child")
    found = read_report(report)
    assert (done.returncode, found.verdict) == (1, "mismatch"), done.stderr
    assert str(8 << 20) in found.reason
    assert (found.counters["own_huge_bytes"], found.children["own_huge_bytes"]) == (0, 8 << 20)


@pytest.mark.parametrize(
    ("mode", "kind", "huge"),
    [
        ("always", "small", False),
        ("always", "advised", False),
        ("madvise", "advised", False),
        ("madvise", "again", True),
        ("always", "again", True),
        ("never", "again", False),
    ],
)
def test_transparent_huge_pages_outside_the_pools(
    program, launch, layout, setting, tmp_path, mode, kind, huge
):
    """The target runs without them. A program that switches them on again is a mismatch."""
    setting(THP, mode)
    report = tmp_path / "r.json"
    done = launch("--layout", layout(), "--report", report, "--", program("own_pages"), kind)
    found = read_report(report)
    if huge and found.confirmed:
        pytest.skip("this machine found no memory for transparent huge pages")
    assert (done.returncode, found.verdict) == ((1, "mismatch") if huge else (0, "confirmed")), done.stderr
    outside = json.loads(report.read_text())["small_pages"]["outside_huge_bytes"]
    assert (outside > 0) == huge and (str(outside) in found.reason) == huge


def test_other_programs_keep_transparent_huge_pages(launch, layout):
    """The kernel keeps PR_SET_THP_DISABLE over exec; the library ends it in programs without the layout."""
    show = "grep THP_enabled /proc/self/status"
    script = f"import os; os.system({show!r}); print(open('/proc/self/status').read())"
    done = launch("--layout", layout(), "--", sys.executable, "-c", script)
    assert done.returncode == 0, done.stderr
    own = [line for line in done.stdout.splitlines() if line.startswith("THP_enabled")]
    assert sorted(line.split()[1] for line in own) == ["0", "1"], done.stdout
