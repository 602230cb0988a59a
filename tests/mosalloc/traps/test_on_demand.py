"""--no-prefault: huge pages are taken when the program gets memory in them, and go back."""

from __future__ import annotations

import pytest

from tessera.core.units import PAGE_2MB
from tessera.machine.reserve import huge_pages_free
from tessera.measure.mosalloc import read_report

pytestmark = [pytest.mark.toolchain, pytest.mark.hugepages]

PAGES = 8
WINDOW = f"mmap,2MB,0,{PAGES * PAGE_2MB}"


def free() -> int:
    return huge_pages_free(PAGE_2MB)


def test_pages_are_taken_as_they_are_used(remote, layout, exactly, tmp_path):
    exactly(PAGES)
    report = tmp_path / "r.json"
    running = remote("--no-prefault", "--layout", layout(WINDOW), "--report", report, MOSALLOC_KEEP_BYTES="0")
    small = running.slot("map 4096")
    assert running(f"fill {small} 3") == "ok"
    assert free() == PAGES - 1
    block = running.slot(f"map {3 * PAGE_2MB}")  # 4KB behind the start: it reaches into three more
    assert running(f"fill {block} 7") == "ok"
    assert free() == PAGES - 4
    assert running(f"unmap {block}") == "ok"
    assert free() == PAGES - 1  # nothing is kept
    assert running(f"check {small} 3") == "ok"
    again = running.slot(f"map {3 * PAGE_2MB}")
    assert running(f"check {again} 0") == "ok"
    assert running(f"unmap {again}") == "ok"
    assert running(f"unmap {small}") == "ok"
    assert free() == PAGES
    assert running.end() == 0, running.stderr
    assert read_report(report).confirmed


def test_unused_pages_are_kept_up_to_the_threshold(remote, layout, exactly):
    exactly(PAGES)
    keep = {"MOSALLOC_KEEP_BYTES": str(2 * PAGE_2MB)}
    running = remote("--no-prefault", "--layout", layout(WINDOW), **keep)
    block = running.slot(f"map {5 * PAGE_2MB}")
    assert free() == PAGES - 5
    assert running(f"unmap {block}") == "ok"
    assert free() == PAGES - 2
    assert running.end() == 0, running.stderr
    assert free() == PAGES


@pytest.mark.parametrize("call", ["map", "malloc"])
def test_pages_that_somebody_else_took_are_ENOMEM(remote, layout, exactly, tmp_path, call):  # noqa: N802
    take = exactly(PAGES)
    report = tmp_path / "r.json"
    pools = "type,pageSize,startOffset,endOffset\nbrk,-1,0,1MB\nmmap,-1,0,16MB\n"  # malloc can't go there
    running = remote("--no-prefault", "--layout", layout(WINDOW, pools=pools), "--report", report)
    block = running.slot(f"{call} {PAGE_2MB}")
    assert running(f"fill {block} 1") == "ok"
    take(free() - 1)
    assert running(f"{call} {4 * PAGE_2MB}") == "errno 12"
    assert running(f"check {block} 1") == "ok"  # it lives, and has what it had
    exactly.give_back()
    later = running.slot(f"{call} {4 * PAGE_2MB}")
    assert running(f"fill {later} 2") == "ok"
    assert running.end() == 0, running.stderr
    assert "ENOMEM" in running.stderr and "--no-prefault" in running.stderr
    found = read_report(report)
    assert found.confirmed and found.counters["missing_pages"] >= 3


def test_a_run_that_could_never_have_them_does_not_start(launch, layout, exactly):
    exactly(PAGES - 1)
    done = launch("--no-prefault", "--layout", layout(WINDOW), "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"asked for {PAGES} pages of 2MB (layout line 4): found {PAGES - 1} free" in done.stderr


def test_with_prefault_all_are_taken_at_start(remote, layout, exactly):
    exactly(PAGES)
    running = remote("--layout", layout(WINDOW))
    block = running.slot("map 4096")
    assert free() == 0
    assert running(f"unmap {block}") == "ok"
    assert free() == 0
    assert running.end() == 0
    assert free() == PAGES
