"""The fragmenter's loop on a buddy allocator of its own, and readings of free memory from a fake /proc."""

from __future__ import annotations

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.core.mapping.free_blocks import machine_free_blocks, unusable_index
from tessera.core.units import GB, MB
from tessera.measure.mosalloc.background import Blocks, FreeMemory, Unreachable, fragment

BUDDYINFO = """\
Node 0, zone      DMA      0      0      0      0      0      0      0      0      1      1      3
Node 0, zone   Normal      4      0      1      0      0      0      0      0      0      2     10 
"""


class Machine:
    """Free blocks of order 9, and free frames below; a step breaks one block and keeps one of its frames."""

    def __init__(self, blocks, below=0, available=4 * GB):
        self.blocks, self.below, self.bytes, self.kept = blocks, below, available, 0

    def index(self):
        return self.below / (self.blocks * 512 + self.below)

    def take(self):
        if not self.blocks:
            raise Unreachable("no-blocks")
        self.blocks, self.below, self.bytes = self.blocks - 1, self.below + 511, self.bytes - 4096

    def keep(self):
        self.kept += 1

    @property
    def memory(self):
        return FreeMemory(self.index, lambda: self.bytes, self.take, self.keep)


def test_it_breaks_as_many_blocks_as_the_index_needs():
    machine = Machine(1000)
    # n of 1000 blocks broken: 511 n / (512000 - n) >= 0.5 from n = 501 on, in steps of 8
    assert fragment(0.5, machine.memory) == 504
    assert machine.index() >= 0.5 and machine.kept == 1
    assert machine.bytes == 4 * GB - 504 * 4096


def test_nothing_is_done_if_memory_has_the_index():
    machine = Machine(10, below=5120)
    assert fragment(0.5, machine.memory) == 0
    machine = Machine(10, below=6000)  # 6000 of 11120 frames: 0.5396
    assert fragment(0.5, machine.memory) == 0


@pytest.mark.parametrize(
    ("machine", "target", "code"),
    [
        (Machine(10, below=7000), 0.5, "above-target"),
        (Machine(1000, available=512 * MB + 4096 * 9), 0.9, "no-memory"),
        (Machine(20, below=100_000), 0.999, "no-blocks"),
    ],
)
def test_targets_that_cannot_be_reached(machine, target, code):
    with pytest.raises(Unreachable) as refused:
        fragment(target, machine.memory)
    assert str(refused.value) == code


def test_all_blocks_broken_is_an_index_of_1():
    machine = Machine(64)
    assert fragment(1, machine.memory) == 64 and machine.index() == 1


@pytest.fixture
def proc(tmp_path):
    (tmp_path / "buddyinfo").write_text(BUDDYINFO)
    return tmp_path


def test_zones_are_added(proc):
    blocks = machine_free_blocks(proc)
    assert blocks == [4, 0, 1, 0, 0, 0, 0, 0, 1, 3, 13]
    # below order 9: 4 + 4 + 256 frames; from 9 on: 3 x 512 + 13 x 1024
    assert unusable_index(blocks) == pytest.approx(264 / (264 + 1536 + 13312))
    assert unusable_index([0] * 11) == 0 and unusable_index([1] + [0] * 10) == 1


@pytest.mark.parametrize("text", [None, "", "Node 0, zone DMA x\n", "Node 0, zone A 1 2\nNode 0, zone B 1\n"])
def test_a_file_of_another_form_is_refused(proc, text):
    (proc / "buddyinfo").unlink()
    if text is not None:
        (proc / "buddyinfo").write_text(text)
    with pytest.raises(TesseraError) as refused:
        machine_free_blocks(proc)
    assert refused.value.code == "mapping/buddyinfo"


def test_one_block_of_this_machine_is_split():
    """2MB, for a moment: the first page stays, and the other 511 are free again."""
    blocks = Blocks()
    try:
        blocks.take()
    except Unreachable as error:
        pytest.skip(f"this machine gives no free block of 2MB to this user ({error})")
    resident = int(open("/proc/self/statm").read().split()[1])
    blocks.keep()
    assert abs(int(open("/proc/self/statm").read().split()[1]) - resident) < 64  # locked, and not filled
    assert blocks.resident(0) == [True] + [False] * 511
    frame = blocks.frame(0)
    try:
        with open("/proc/kpageflags", "rb") as stream:
            stream.seek(8 * frame)
            flags = np.frombuffer(stream.read(8 * 512), dtype="<u8")
    except OSError:
        return
    assert frame % 512 == 0 and not (flags & np.uint64(1 << 22)).any()  # THP: none is part of a 2MB page
