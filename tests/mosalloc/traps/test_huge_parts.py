"""Parts of a huge page: what the hardware can't do with them, the program gets all the same."""

from __future__ import annotations

import re
import subprocess

import pytest

from tessera.core.units import PAGE_2MB
from tessera.measure.mosalloc import read_report

pytestmark = [pytest.mark.toolchain, pytest.mark.hugepages]

ALL_HUGE = ("brk,2MB,0,2MB", "mmap,2MB,0,14MB")
PAGES = 8


@pytest.mark.parametrize("case", ["prot_none", "partial_munmap"])
def test_calls_that_hugetlb_refuses(launch, layout, huge_pages, build, tmp_path, case):
    """mprotect of 132KB and munmap of 4KB are EINVAL on hugetlb: the call succeeds, the page stays huge."""
    huge_pages(PAGES)
    report = tmp_path / "r.json"
    done = launch("--layout", layout(*ALL_HUGE), "--report", report, "--", build / "cases", case)
    assert done.returncode == 0, done.stderr
    found = read_report(report)
    assert found.confirmed and [w.found for w in found.windows] == [PAGE_2MB, PAGE_2MB]
    assert found.counters["split_pages"] == 0


@pytest.mark.parametrize("accepted", [False, True], ids=["mismatch", "allow_fallback"])
def test_a_guard_page_traps_under_guards(launch, layout, huge_pages, program, tmp_path, accepted):
    """The huge page around the guard becomes 4KB pages, and the run says that it did not keep its layout."""
    huge_pages(PAGES)
    report = tmp_path / "r.json"
    options = ["--allow-fallback"] if accepted else []
    done = launch("--layout", layout(*ALL_HUGE), "--report", report, *options, "--", program("guard_page"))
    assert done.stdout == "trapped\n"
    found = read_report(report)
    assert found.exit_status == 0
    assert found.counters["split_pages"] == 1
    assert found.verdict == ("fallback" if accepted else "mismatch")
    assert done.returncode == (0 if accepted else 1)
    assert re.search(r"\b1 huge pages? .*4KB pages.* offset 0 .*mmap pool", found.reason)
    assert accepted or "--protections soft" in done.stderr


def test_a_guard_page_is_soft_under_soft(launch, layout, huge_pages, program, tmp_path):
    huge_pages(PAGES)
    report = tmp_path / "r.json"
    options = ("--report", report, "--protections", "soft")
    done = launch("--layout", layout(*ALL_HUGE), *options, "--", program("guard_page"))
    assert (done.returncode, done.stdout) == (0, "silent\n"), done.stderr
    found = read_report(report)
    assert found.confirmed
    assert found.counters["split_pages"] == 0 and found.counters["softened_protections"] == 1


@pytest.mark.parametrize("protections", ["guards", "soft", "exact"])
def test_a_file_mapped_over_a_window(launch, layout, huge_pages, build, tmp_path, protections):
    """No choice of protections makes a file out of a huge page: it gives way, and the program is right."""
    huge_pages(PAGES)
    report = tmp_path / "r.json"
    options = ("--report", report, "--protections", protections)
    done = launch("--layout", layout(*ALL_HUGE), *options, "--", build / "cases", "file_over_memory")
    found = read_report(report)
    assert (found.exit_status, found.verdict, done.returncode) == (0, "mismatch", 1), done.stderr
    assert found.counters["split_pages"] == 1
    assert "1 huge pages" in done.stderr and "4KB pages" in done.stderr


def test_a_guard_page_in_4kb_parts_costs_nothing(launch, layout, program, tmp_path):
    report = tmp_path / "r.json"
    done = launch("--layout", layout(), "--report", report, "--", program("guard_page"))
    assert (done.returncode, done.stdout) == (0, "trapped\n"), done.stderr
    assert read_report(report).confirmed


def test_reservations_without_access_are_not_cleared(program, launch, layout, huge_pages, tmp_path):
    """64MB without access in a window: pages that were never writable need no zeroing."""
    huge_pages(40)
    program, report = program("reservations"), tmp_path / "r.json"
    plain = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60).stdout
    done = launch("--layout", layout("mmap,2MB,0,80MB"), "--report", report, "--", program)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[1]) < max(100, 20 * float(plain.split()[1]))
    assert read_report(report).counters["zeroed_bytes"] < 1 << 20
