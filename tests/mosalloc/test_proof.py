"""The proof: a program that knows nothing of mosaics looks at its own pages and computes the same as ever."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tessera.core.units import PAGE_1GB, PAGE_2MB, PAGE_4KB
from tessera.machine.reserve import huge_pages_free

pytestmark = [pytest.mark.toolchain, pytest.mark.hugepages]

SEED = "20"
WINDOWS_2MB = (
    "brk,2MB,2MB,6MB",
    "brk,2MB,10MB,12MB",
    "mmap,2MB,0,2MB",
    "mmap,2MB,4MB,10MB",
    "mmap,2MB,64MB,68MB",
)
PAGES_2MB = 9
# Children of eight threads: each may copy every huge page that is in use while its parents go on writing.
SPARE_FOR_FORKS = 8 * PAGES_2MB


def plain_hash(build: Path) -> str:
    return subprocess.run(
        [build / "eight_threads", SEED], capture_output=True, text=True, check=True, timeout=120
    ).stdout


def seen_by_program(stderr: str, when: str, base: int, size: int) -> dict[int, int]:
    """Page size by the offset of each 4KB page of a pool, as the program read it from its own smaps."""
    pages: dict[int, int] = {}
    for line in stderr.splitlines():
        word = line.split()
        if len(word) != 5 or word[0] != when:
            continue
        start, end = int(word[1], 16), int(word[2], 16)
        kernel, mmu = int(word[3]), int(word[4])
        for at in range(max(start, base), min(end, base + size), PAGE_4KB):
            pages[at - base] = kernel if kernel == mmu else -1
    return pages


def expected_pages(windows: list[dict], pool: str, page_bytes: int) -> set[int]:
    """Offsets of the 4KB pages that the layout puts into windows of one page size."""
    return {
        at
        for window in windows
        if window["type"] == pool and window["asked_page_bytes"] == page_bytes
        for at in range(window["start_offset"], window["end_offset"], PAGE_4KB)
    }


def prove(launch, build, layout_file: Path, report: Path, sizes: set[int]) -> None:
    done = launch("--layout", layout_file, "--report", report, "--", build / "eight_threads", SEED)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == plain_hash(build)
    data = json.loads(report.read_text())
    assert data["verdict"] == "confirmed"
    found_sizes = set()
    for when in ("halfway", "end"):
        for pool in data["pools"]:
            if pool["type"] not in ("brk", "mmap"):
                continue
            seen = seen_by_program(done.stderr, when, pool["base"], pool["size_bytes"])
            for page_bytes in (PAGE_2MB, PAGE_1GB):
                huge = {at for at, size in seen.items() if size == page_bytes}
                assert huge == expected_pages(data["windows"], pool["type"], page_bytes), (when, pool["type"])
            found_sizes |= set(seen.values())
    assert found_sizes == sizes  # nothing else, and never two sizes in one mapping (-1)


def test_every_window_and_nothing_else_is_huge(launch, layout, build, huge_pages, tmp_path):
    huge_pages(PAGES_2MB + SPARE_FOR_FORKS)
    prove(launch, build, layout(*WINDOWS_2MB), tmp_path / "r.json", {PAGE_4KB, PAGE_2MB})


def test_with_a_page_of_1gb_too(launch, layout, build, huge_pages, tmp_path):
    # The page of 1GB lies behind what the program uses: a child that wrote there would need another one.
    huge_pages(2 + SPARE_FOR_FORKS, 1)
    pools = "type,pageSize,startOffset,endOffset\nbrk,-1,0,512MB\nmmap,-1,0,3GB\n"
    rows = ("brk,2MB,2MB,4MB", "mmap,2MB,0,2MB", "mmap,1GB,2GB,3GB")
    prove(launch, build, layout(*rows, pools=pools), tmp_path / "r.json", {PAGE_4KB, PAGE_2MB, PAGE_1GB})


def test_all_small_pages(launch, layout, build, tmp_path):
    prove(launch, build, layout(), tmp_path / "r.json", {PAGE_4KB})


def test_too_few_huge_pages_is_said_with_the_command(launch, layout, build):
    pages = huge_pages_free(PAGE_2MB) + 8
    if pages * PAGE_2MB > 1000 << 20:
        pytest.skip(f"{pages - 8} pages of 2MB are free here, more than the test's pool can ask for")
    done = launch("--layout", layout(f"mmap,2MB,0,{pages * PAGE_2MB}"), "--", build / "eight_threads", SEED)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "sysctl vm.nr_hugepages=" in done.stderr
    assert f"asked for {pages} pages of 2MB" in done.stderr
