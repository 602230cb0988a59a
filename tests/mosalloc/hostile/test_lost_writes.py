"""Writes of other threads, the kernel and other processes during exchanges of pages: none may be lost."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.toolchain, pytest.mark.hugepages]

COUNT = 12
ROWS = ("brk,2MB,0,2MB", "mmap,2MB,0,48MB")
PAGES = 25


@pytest.mark.parametrize("forks", [0, 6])
def test_counters_are_exact(hostile, program, exactly, userfaultfd, forks):
    """Plain and atomic additions on every 4KB page, while each huge page is split, and forks copy it."""
    exactly(PAGES)
    done = hostile([program("counters"), COUNT, forks], *ROWS)
    assert done.right, done.err
    assert (done.map["split_pages"], done.map["forks"]) == (COUNT, forks)


def test_the_kernels_writes_arrive(hostile, program, huge_pages, userfaultfd, tmp_path):
    huge_pages(PAGES)
    done = hostile([program("kernel_writes"), tmp_path / "file", COUNT], *ROWS)
    assert done.right, done.err
    assert done.map["split_pages"] == COUNT


@pytest.mark.parametrize("how", ["writev", "mem", "poke"])
def test_another_process_writes(hostile, program, huge_pages, userfaultfd, how):
    """process_vm_writev, /proc/PID/mem and ptrace; the last two may be rejected for the moment of a split."""
    huge_pages(PAGES)
    done = hostile([program("remote_writes"), how, COUNT], *ROWS)
    assert done.right, done.err
    assert done.map["split_pages"] == COUNT
