"""Memory and disk are checked before a recording starts, with both numbers in the refusal."""

import os
from types import SimpleNamespace

import pytest

from tessera.cli.pipeline import needs
from tessera.cli.pipeline.record import PeakMemory
from tessera.core.errors import TesseraError
from tessera.core.units import GB, MB
from tessera.machine import limits
from tessera.machine.limits import UsableMemory
from tessera.record.workloads import Size
from tessera.record.workloads.definition import Prepared

#: QEMU's table over reserved pages: 25 bytes for each 4KB.
TABLE = 25 * (4 * GB + 64 * MB) // 4096
SIZE = Size("tiny", (), footprint=3 * GB, heap_pool=64 * MB, anon_pool=4 * GB)


def test_needs_are_both_pools_and_the_worst_trace():
    assert needs.memory_bytes(SIZE) == 64 * MB + 4 * GB + 600 * MB + TABLE
    heap = Size("tiny", (), footprint=2 * GB, heap_pool=3 * GB, anon_pool=1 * GB)  # as xalan's
    assert needs.memory_bytes(heap) == 4 * GB + 600 * MB + 25 * MB
    assert needs.disk_bytes(100_000_000) == 450_000_000


def test_reserved_memory_that_is_not_touched_costs_only_tables():
    # 32 GB read and never written: page tables of 64 MB, the emulator's table of 200 MB
    unwritten = Size("p", (), footprint=32 * GB, heap_pool=1 * GB, anon_pool=33 * GB, touched=100 * MB)
    assert needs.memory_bytes(unwritten) == (100 + 600) * MB + 34 * 256 * 1024 * 25
    assert needs.memory_bytes(unwritten) < 1 * GB


FILE = Prepared("graph", "pr", (), bytes=8 * GB, memory=12 * GB)
ROWS = {
    "small": (SIZE, 1_000_000),
    "loads": (Size("p", (), 8 * GB, 1 * GB, 8 * GB, touched=8 * GB, prepared=FILE), 100_000_000),
}


def machine(monkeypatch, tmp_path, memory, disk):
    monkeypatch.setattr(needs, "total_memory", lambda: UsableMemory(memory))
    monkeypatch.setattr(needs.shutil, "disk_usage", lambda folder: SimpleNamespace(free=disk))
    return needs.left_out(ROWS, tmp_path)


def test_rows_are_left_out_for_memory_of_preparing_or_for_disk(monkeypatch, tmp_path):
    assert machine(monkeypatch, tmp_path, 24 * GB, 30 * GB) == []
    (memory,) = machine(monkeypatch, tmp_path, 12 * GB, 30 * GB)  # 12 GB and tools to build the file
    assert memory.startswith("loads: ") and "of memory" in memory and "12GB" in memory
    (disk,) = machine(monkeypatch, tmp_path, 24 * GB, 8 * GB)  # 8 GB and a trace
    assert disk.startswith("loads: ") and "of disk" in disk and "8GB are free" in disk


def check(monkeypatch, tmp_path, *, memory, disk, accesses=100_000_000):
    monkeypatch.setattr(needs, "available_memory", lambda: UsableMemory(memory))
    monkeypatch.setattr(needs.shutil, "disk_usage", lambda folder: SimpleNamespace(free=disk))
    needs.check_memory("recording w (tiny)", SIZE, accesses, tmp_path)


def test_enough_is_enough(monkeypatch, tmp_path):
    check(monkeypatch, tmp_path, memory=4 * GB + 664 * MB + TABLE, disk=450_000_000)


def test_too_little_memory_names_both_numbers(monkeypatch, tmp_path):
    with pytest.raises(TesseraError, match="needs .*, 4GB are free") as refused:
        check(monkeypatch, tmp_path, memory=4 * GB, disk=10 * GB)
    assert refused.value.asked.startswith("memory ") and "w (tiny)" in refused.value.asked


def test_too_little_disk_names_both_numbers(monkeypatch, tmp_path):
    with pytest.raises(TesseraError, match="256MB") as refused:
        check(monkeypatch, tmp_path, memory=8 * GB, disk=256 * MB)
    assert refused.value.asked.startswith("disk ") and "max_accesses" in refused.value.remedy


def test_free_memory_is_a_part_of_all():
    assert 0 < limits.available_memory_bytes() <= limits.total_memory_bytes()


def process(proc, pid, comm, cmdline, peak_kb):
    folder = proc / str(pid)
    folder.mkdir(parents=True)
    (folder / "comm").write_text(comm + "\n")
    (folder / "cmdline").write_bytes(b"\0".join(word.encode() for word in cmdline))
    (folder / "status").write_text(f"Name:\t{comm}\nVmPeak:\t 99999 kB\nVmHWM:\t  {peak_kb} kB\n")


def test_peak_memory_is_that_of_the_one_process(tmp_path):
    process(tmp_path, 10, "qemu-x86_64", ["qemu-x86_64", "settings=/r/gups/.record-1/settings"], 3000)
    process(tmp_path, 11, "qemu-x86_64", ["qemu-x86_64", "settings=/r/pr/.record-2/settings"], 9000)
    process(tmp_path, 12, "docker", ["docker", "run", "settings=/r/gups/.record-1/settings"], 7000)
    peak = PeakMemory("/r/gups/", tmp_path)
    peak.look()
    assert peak.bytes == 3000 << 10


def test_a_process_with_fixed_names_is_found_by_its_mounts(tmp_path):
    words = ["qemu-x86_64", "settings=/.tessera/recording/settings"]
    for pid, name, peak_kb in ((10, "gups", 3000), (11, "gups-8gb", 9000)):
        process(tmp_path, pid, "qemu-x86_64", words, peak_kb)
        mount = f"163 136 254:0 /r/{name}/.record-1 /.tessera/recording rw - ext4 /dev/vda rw\n"
        (tmp_path / str(pid) / "mountinfo").write_text(mount)
    peak = PeakMemory("/r/gups/", tmp_path)
    peak.look()
    assert peak.bytes == 3000 << 10


def test_a_process_that_is_ending_has_no_peak_and_hides_no_other(tmp_path):
    words = ["qemu-x86_64", "settings=/r/gups/.record-1/settings"]
    for pid in (10, 12):
        process(tmp_path, pid, "qemu-x86_64", words, 3000)
        (tmp_path / str(pid) / "status").write_text("Name:\tqemu-x86_64\nState:\tZ (zombie)\n")
    process(tmp_path, 11, "qemu-x86_64", words, 3000)
    peak = PeakMemory("/r/gups/", tmp_path)
    peak.look()
    assert peak.bytes == 3000 << 10


def test_peak_memory_of_nothing_is_unknown(tmp_path):
    peak = PeakMemory("/r/gups/", tmp_path)
    peak.look()
    assert peak.bytes is None


def test_peak_memory_of_this_process_is_the_kernels(monkeypatch):
    name = open(f"/proc/{os.getpid()}/comm").read().strip()
    word = open(f"/proc/{os.getpid()}/cmdline").read().split("\0")[-2]
    peak = PeakMemory(word, name=name)
    peak.look()
    assert peak.bytes and peak.bytes > 10 * MB
