"""A forked child that writes when no huge page is free for its copies."""

from __future__ import annotations

import ctypes

import pytest

from tessera.core.units import PAGE_2MB
from tessera.machine.reserve import huge_pages_free
from tessera.measure.mosalloc import read_report

pytestmark = [pytest.mark.toolchain, pytest.mark.hugepages]

PAGES = 8
SYS_USERFAULTFD = 323


def need_userfaultfd() -> None:
    """The way to hold other threads back while a page changes; docker's default seccomp denies it."""
    import os

    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.syscall(SYS_USERFAULTFD, 0o2000000 | 1)
    if descriptor < 0:
        pytest.skip(f"userfaultfd is not allowed here ({os.strerror(ctypes.get_errno())})")
    os.close(descriptor)


@pytest.mark.parametrize("threads", [0, 3], ids=["single_threaded", "multi_threaded"])
def test_fork_without_free_pages(launch, layout, exactly, program, tmp_path, threads):
    """All free pages are in the windows. The child writes to all of them; both see their own contents."""
    if threads > 0:
        need_userfaultfd()
    exactly(PAGES)
    report = tmp_path / "r.json"
    path = layout("brk,2MB,0,2MB", f"mmap,2MB,0,{(PAGES - 1) * PAGE_2MB}")
    done = launch("--layout", path, "--report", report, "--", program("fork_copies"), 13 << 20, threads, 10)
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr
    found = read_report(report)
    assert found.confirmed, found.reason
    assert found.counters["forks"] == 10
    assert found.counters["fork_risks"] == 0
    assert found.counters["fork_copied_bytes"] >= 10 * (13 << 20)
    assert found.counters["split_pages"] == 0
    assert done.stderr == ""
    assert huge_pages_free(PAGE_2MB) == PAGES


def test_fork_with_enough_pages_copies_nothing_ahead(launch, layout, exactly, program, tmp_path):
    exactly(2 * PAGES)
    report = tmp_path / "r.json"
    path = layout(f"mmap,2MB,0,{PAGES * PAGE_2MB}")
    done = launch("--layout", path, "--report", report, "--", program("fork_copies"), 13 << 20, 0, 3)
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr
    found = read_report(report)
    assert found.confirmed
    assert (found.counters["forks"], found.counters["fork_copied_bytes"]) == (3, 0)


def test_fork_one_page_short_is_a_fork_without_pages(launch, layout, exactly, program, tmp_path):
    """The limit itself: 7 pages in use and 6 free."""
    exactly(PAGES + 6)
    report = tmp_path / "r.json"
    path = layout(f"mmap,2MB,0,{PAGES * PAGE_2MB}")
    done = launch("--layout", path, "--report", report, "--", program("fork_copies"), 7 * PAGE_2MB, 0, 1)
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr
    assert read_report(report).counters["fork_copied_bytes"] >= 7 * PAGE_2MB
