"""Splits while the kernel writes into the page for another thread, as root and as an ordinary user."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from tessera.measure.mosalloc import read_report

from .test_forks import need_userfaultfd

pytestmark = [pytest.mark.toolchain, pytest.mark.hugepages]

PAGES = 14
LAYOUT = (f"mmap,2MB,0,{2 * PAGES}MB",)


def test_reads_wait_until_the_page_is_split(launch, layout, huge_pages, program, tmp_path):
    need_userfaultfd()
    huge_pages(PAGES)
    report = tmp_path / "r.json"
    argv = ["--layout", layout(*LAYOUT), "--allow-fallback", "--report", report, "--"]
    done = launch(*argv, program("read_beside"), PAGES)
    assert (done.returncode, done.stdout) == (0, f"failed 0 trapped {PAGES}\n"), done.stderr
    counters = read_report(report).counters
    assert (counters["split_pages"], counters["unsplit_pages"]) == (PAGES, 0)


def test_without_the_privilege_the_page_stays_and_no_read_fails(build, huge_pages, program, public_folder):
    """A userfaultfd for user-mode faults would let read(2) fail with EFAULT: such a gate is none."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to become another user")
    with open("/proc/sys/vm/unprivileged_userfaultfd") as stream:
        if stream.read().strip() != "0":
            pytest.skip("vm.unprivileged_userfaultfd is 1: ordinary users have the privilege")
    huge_pages(PAGES)
    for file in (build / "libmosalloc.so", build / "mosalloc-run", program("read_beside")):
        shutil.copy(file, public_folder)
    layout = public_folder / "layout.csv"
    rows = ("type,pageSize,startOffset,endOffset", "brk,-1,0,512MB", "mmap,-1,0,1000MB", *LAYOUT)
    layout.write_text("".join(f"{row}\n" for row in rows))
    user = {"user": 65534, "group": 65534, "extra_groups": []}
    launcher, reader = public_folder / "mosalloc-run", public_folder / "read_beside"
    argv = [launcher, "--layout", layout, "--", reader, str(PAGES)]
    environment = os.environ | {"TMPDIR": "/tmp"}
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=120, **user)
    assert (done.returncode, done.stdout) == (0, "failed 0 trapped 0\n"), done.stderr
    assert f" {PAGES} " in done.stderr  # pages that could not be split
