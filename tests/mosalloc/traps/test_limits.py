"""Limits of the kernel on mappings and memory: holes, and calls that fail and must lose nothing."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tessera.measure.mosalloc import read_report

pytestmark = pytest.mark.toolchain

HOLES = 50_000
LIMIT = 65_530  # the kernel's default: enough for the plain program, which needs a mapping per hole
ENOMEM, EAGAIN = 12, 11


@pytest.fixture
def default_limit():
    limit = int(Path("/proc/sys/vm/max_map_count").read_text())
    if limit != LIMIT:
        pytest.skip(f"vm.max_map_count is {limit} here; this test counts on {LIMIT}")


def values(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in (line.split() for line in text.splitlines())}


def test_50000_holes(program, launch, layout, default_limit, tmp_path):
    """As many holes as plain munmap can make; the library's would need twice as many mappings."""
    program = program("many_holes")
    plain = subprocess.run([program], capture_output=True, text=True, check=True, timeout=120).stdout
    none = {"failed": 0, "lost": 0, "refused": 0, "dirty": 0}
    assert values(plain) == none
    report = tmp_path / "r.json"
    done = launch("--layout", layout(), "--report", report, "--", program)
    assert done.returncode == 0, done.stderr
    assert values(done.stdout) == none
    assert HOLES / 2 < read_report(report).counters["open_holes"] < HOLES


def calls(text: str) -> dict[str, tuple[int, int]]:
    return {name: (int(error), int(lost)) for name, error, lost in map(str.split, text.splitlines())}


@pytest.mark.parametrize("limit", ["0", "4", "8", "data", "space"])
@pytest.mark.parametrize("window", [(), ("mmap,2MB,0,2MB",)])
def test_a_call_that_fails_loses_nothing(program, launch, layout, huge_pages, default_limit, limit, window):
    """At the limit on mappings (some to spare), at RLIMIT_DATA and at RLIMIT_AS."""
    program = program("at_the_limit")
    plain = calls(subprocess.run([program, limit], capture_output=True, text=True, check=True).stdout)
    if window:
        huge_pages(1)
    done = launch("--layout", layout(*window), "--allow-fallback", "--", program, limit)
    assert done.returncode == 0, done.stderr
    found = calls(done.stdout)
    assert found.keys() == plain.keys()
    for name, (error, lost) in found.items():
        assert lost == 0, (name, found)
        assert error in (0, ENOMEM, EAGAIN), (name, found)
    assert found["munmap"] == found["munmap_all"] == (0, 0)


DATA = """
import mmap, re
def data():
    return int(re.search(r"VmData:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) >> 10
start = data()
block = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
held = data()
block.close()
print("start", start)
print("held", held - start)
print("freed", data() - start)
"""


def test_what_counts_against_the_limit_on_data(launch, layout, huge_pages):
    """RLIMIT_DATA, in MB: 4KB memory as without the library, windows from the start, and the tables."""
    huge_pages(40)
    plain = values(subprocess.run([sys.executable, "-c", DATA], capture_output=True, text=True).stdout)
    found = {}
    for name, rows in (("4kb", ()), ("window", ("mmap,2MB,0,80MB",))):
        done = launch("--layout", layout(*rows), "--", sys.executable, "-c", DATA)
        assert done.returncode == 0, done.stderr
        found[name] = values(done.stdout)
    assert (plain["held"], plain["freed"]) == (found["4kb"]["held"], found["4kb"]["freed"]) == (64, 0)
    assert (found["window"]["held"], found["window"]["freed"]) == (0, 0)
    assert 70 <= found["window"]["start"] - found["4kb"]["start"] <= 82
    assert found["4kb"]["start"] - plain["start"] <= 110  # the tables, for pools of 17.5GB


def test_too_low_a_limit_on_data_is_named(launch, layout):
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (32 << 20, 32 << 20))

    done = launch("--layout", layout(), "--", sys.executable, "-c", "pass", preexec_fn=limit)
    assert done.returncode == 2
    assert "ulimit -d" in done.stderr
