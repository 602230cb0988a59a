"""The kernel's virtual memory through page tables that are written here."""

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.lab.kernel.page_tables import GuestMemory
from tessera.lab.kernel.qemu import EmulatedMachine
from tessera.lab.oracle.guest_memory import KernelMemory

MB = 1 << 20
TABLE, HUGE = 0x003, 0x083  # present and writable; and a large page


@pytest.fixture
def memory(tmp_path):
    """8 MB, 6 of them below 4 GB. From 2^47 on: pages 5, 6, 4, one above 4 GB; then 2MB; then nothing."""
    words = np.zeros(8 * MB // 8, dtype=np.uint64)
    root, pdpt, pd, pt = 0x1000, 0x2000, 0x3000, 0x8000
    words[root // 8 + 256] = pdpt | TABLE
    words[pdpt // 8] = pd | TABLE
    words[pd // 8] = pt | TABLE
    words[pd // 8 + 1] = 4 * MB | HUGE
    for index, page in enumerate((5, 6, 4)):
        words[pt // 8 + index] = page << 12 | TABLE
    words[pt // 8 + 3] = 1 << 32 | TABLE  # the first page above 4 GB
    data = words.view(np.uint8)
    for page in (4, 5, 6):
        data[page << 12 : (page + 1) << 12] = page
    data[6 * MB : 6 * MB + 4096] = 9
    data[4 * MB + 0x1234] = 77
    path = tmp_path / "memory"
    path.write_bytes(data.tobytes())
    return KernelMemory(GuestMemory([path], 8 * MB, 6 * MB), root)


BASE = 0xFFFF_8000_0000_0000


def test_reads_go_across_pages_in_virtual_order(memory):
    got = memory.read(BASE + 4094, 4 + 4096)
    assert got[:2].tolist() == [5, 5] and got[2:4098].tolist() == [6] * 4096 and got[4098:].tolist() == [4, 4]


def test_2mb_pages_and_memory_above_4gb(memory):
    assert memory.number(BASE + 2 * MB + 0x1234, 1) == 77
    assert memory.number(BASE + 3 * 4096, 2) == 0x0909


def test_numbers_are_little_endian_and_signed_on_demand(memory):
    assert memory.number(BASE, 4) == 0x05050505
    memory._physical._nodes[0] = np.full(1 << 20, 0xFFFF_FFFF_FFFF_FFFE, dtype=np.uint64)
    assert memory.number(BASE, 8, signed=True) == -2


def test_an_address_that_nothing_maps_is_named(memory):
    with pytest.raises(TesseraError, match="0xffff800000400000") as caught:
        memory.read(BASE + 4 * MB, 1)
    assert caught.value.code == "not-mapped"


def test_a_machine_with_memory_above_4gb(tmp_path):
    split = EmulatedMachine(nodes=1, cpus=1, memory_mb=1024, low_mb=512).command(tmp_path, tmp_path, tmp_path)
    whole = EmulatedMachine(nodes=1, cpus=1, memory_mb=1024).command(tmp_path, tmp_path, tmp_path)
    assert "pc,max-ram-below-4g=512M" in split and "pc" in whole


def test_memory_that_does_not_exist_is_an_error(memory):
    with pytest.raises(IndexError, match="0x100200000"):
        memory._physical.read(0x1_0020_0000, 1)
