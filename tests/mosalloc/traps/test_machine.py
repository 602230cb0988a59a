"""Settings of the machine that change what memory is: transparent huge pages, overcommit; many windows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tessera.core.units import PAGE_2MB
from tessera.machine.reserve import huge_pages_free
from tessera.measure.mosalloc import read_report

from .conftest import THP, VM

pytestmark = pytest.mark.toolchain

MB = 1 << 20
FILL = "x = bytearray(64 << 20); x[::4096] = b'x' * len(x[::4096]); print(open('/proc/self/smaps').read())"


def anon_huge_kb(smaps: str) -> int:
    return sum(map(int, re.findall(r"^AnonHugePages: +(\d+) kB", smaps, re.MULTILINE)))


def test_4kb_stays_4kb_when_thp_is_always(launch, layout, setting, tmp_path):
    setting(THP, "always")
    plain = subprocess.run([sys.executable, "-c", FILL], capture_output=True, text=True, check=True).stdout
    if anon_huge_kb(plain) < 32 << 10:
        pytest.skip("this machine found no memory for transparent huge pages: nothing to keep away")
    report = tmp_path / "r.json"
    done = launch("--layout", layout(), "--report", report, "--", sys.executable, "-c", FILL)
    assert done.returncode == 0, done.stderr
    found = read_report(report)
    assert found.confirmed and found.used_bytes["mmap"] > 64 << 20
    # Beside the pools, which the verdict judged: stacks and libraries, not tables of ours.
    assert anon_huge_kb(done.stdout) <= 4 << 10
    assert done.stderr == ""


@pytest.mark.hugepages
def test_windows_beside_thp_always(launch, layout, setting, huge_pages, tmp_path):
    setting(THP, "always")
    huge_pages(4)
    report = tmp_path / "r.json"
    rows = ("mmap,2MB,2MB,4MB", "mmap,2MB,6MB,8MB", "mmap,2MB,32MB,36MB")
    done = launch("--layout", layout(*rows), "--report", report, "--", sys.executable, "-c", FILL)
    assert done.returncode == 0, done.stderr
    assert [w.found for w in read_report(report).windows] == [PAGE_2MB] * 3


def committed() -> int:
    """Bytes that the kernel has promised to all programs together."""
    return int(re.search(r"Committed_AS: +(\d+) kB", Path("/proc/meminfo").read_text())[1]) << 10


def what_a_gigabyte_adds(running, call: str) -> list[int]:
    """GB that a block of 1GB adds to what is promised, and GB that giving it back takes away."""
    start = committed()
    block = running.slot(f"{call} {1024 * MB}")
    with_block = committed()
    assert running(f"fill {block} 5") == "ok"
    assert running(f"{'unmap' if call == 'map' else 'free'} {block}") == "ok"
    return [round((with_block - start) / (1 << 30)), round((with_block - committed()) / (1 << 30))]


@pytest.fixture(params=["0", "1", "2"])
def overcommit(request, setting):
    """vm.overcommit_memory; in mode 2 the limit is what is promised already and 3GB."""
    if request.param == "2":
        setting(VM / "overcommit_ratio", (VM / "overcommit_ratio").read_text())  # the next line clears it
        setting(VM / "overcommit_kbytes", str((committed() >> 10) + (3 << 20)))
    setting(VM / "overcommit_memory", request.param)
    return request.param


@pytest.mark.parametrize("call", ["map", "malloc"])
def test_overcommit(overcommit, remote, tmp_path, call):
    """The answer to a request far beyond the machine is the kernel's. Strict: what is freed is freed."""
    layout = tmp_path / "default.csv"
    layout.write_text("type,pageSize,startOffset,endOffset\n")
    answers = {}
    for name, options in (("plain", None), ("mosalloc", ("--layout", layout))):
        running = remote(plain=True) if options is None else remote(*options)
        heap = running.slot("sbrk 1048576")
        assert running(f"fill {heap} 9") == "ok"
        answers[name] = [running(f"{call} {200 << 30}").split()[0]]
        # Outside mode 2 nobody is refused because of this sum, and giving back would cost a new mapping.
        counted = 2 if overcommit == "2" else 1
        for _ in range(5):  # the sum is the whole machine's: other programs come and go
            promised = what_a_gigabyte_adds(running, call)[:counted]
            if set(promised) == {1}:
                break
        answers[name] += promised
        assert running(f"check {heap} 9") == "ok"
        assert running.end() == 0, running.stderr
    assert answers["mosalloc"] == answers["plain"]
    assert answers["plain"] == {"0": ["errno", 1], "1": ["ok", 1], "2": ["errno", 1, 1]}[overcommit]


def test_4000_windows(launch, layout, build, tmp_path):
    """Every second 2MB of 16GB: as many mappings of the kernel, whose limit is 65530."""
    windows = 4000
    rows = [f"mmap,2MB,{4 * i}MB,{4 * i + 2}MB" for i in range(windows)]
    pools = "type,pageSize,startOffset,endOffset\nbrk,-1,0,512MB\nmmap,-1,0,16GB\n"
    if (free := huge_pages_free(PAGE_2MB)) > 512:
        pytest.skip(f"{free} pages of 2MB are free here; this test needs windows that can't be had")
    report = tmp_path / "r.json"
    options = ("--report", report, "--allow-fallback")
    done = launch(
        "--layout", layout(*rows, pools=pools), *options, "--", build / "cases", "threads", "mremap"
    )
    assert done.returncode == 0, done.stderr
    found = read_report(report)
    assert (found.verdict, len(found.windows)) == ("fallback", windows)
    assert found.counters["fallback_windows"] == windows - free


@pytest.mark.hugepages
def test_200_windows_with_their_pages(launch, layout, build, huge_pages, tmp_path):
    huge_pages(200)
    rows = [f"mmap,2MB,{4 * i}MB,{4 * i + 2}MB" for i in range(200)]
    report = tmp_path / "r.json"
    done = launch("--layout", layout(*rows), "--report", report, "--", build / "cases", "threads", "mremap")
    assert done.returncode == 0, done.stderr
    found = read_report(report)
    assert found.confirmed and sum(w.confirmed for w in found.windows) == 200
