"""The outside walker on memory that is written here, bit by bit, after the processor's manual."""

import numpy as np
import pytest

from tessera.lab.kernel import page_tables
from tessera.lab.kernel.page_tables import GuestMemory, tree_differences, walk

NODE_BYTES = 1 << 20
PRESENT_WRITABLE_USER = 7
ACCESSED, DIRTY, LARGE = 1 << 5, 1 << 6, 1 << 7


class Memory:
    """Two nodes of 1 MB as files; tables are written entry by entry."""

    def __init__(self, folder):
        self.files = [folder / "node0", folder / "node1"]
        self.words = np.zeros(2 * NODE_BYTES // 8, dtype=np.uint64)

    def set(self, table, index, value):
        self.words[table // 8 + index] = value

    def read(self):
        half = len(self.words) // 2
        for path, part in zip(self.files, (self.words[:half], self.words[half:]), strict=True):
            path.write_bytes(part.tobytes())
        return GuestMemory(self.files, NODE_BYTES)


#: Tables of two replicas: level -> physical address, on node 0 and on node 1.
ONE = {4: 0x1000, 3: 0x2000, 2: 0x3000, 1: 0x4000}
OTHER = {level: address + NODE_BYTES for level, address in ONE.items()}
#: 0x7f0012345000 has indices 254, 0, 145, 325 on levels 4 to 1.
INDEX = {4: 254, 3: 0, 2: 145, 1: 325}
ADDRESS = 0x7F00_1234_5000


@pytest.fixture
def memory(tmp_path):
    memory = Memory(tmp_path)
    for tables in (ONE, OTHER):
        for level in (4, 3, 2):
            memory.set(tables[level], INDEX[level], tables[level - 1] | PRESENT_WRITABLE_USER)
        memory.set(tables[1], INDEX[1], 0x10_8000 | PRESENT_WRITABLE_USER)
        memory.set(tables[2], 3, 0x20_0000 | LARGE | PRESENT_WRITABLE_USER)
        memory.set(tables[4], 300, 0xABC000 | 3)  # kernel half
    return memory


def test_leaf_is_found_at_its_address(memory):
    tree = walk(memory.read(), ONE[4])
    leaves = tree.levels[1]
    assert leaves.virtual.tolist() == [ADDRESS & ~((1 << 21) - 1)]
    assert leaves.entries[0, INDEX[1]] == 0x10_8007
    assert np.count_nonzero(leaves.entries) == 1
    assert tree.levels[4].entries[0, 300] == 0 and tree.kernel_half[300 - 256] == 0xABC003


def test_replicas_differ_in_nothing_but_where_they_lie(memory):
    found = memory.read()
    assert tree_differences(walk(found, ONE[4]), walk(found, OTHER[4])) == []


def test_accessed_and_dirty_bits_may_differ(memory):
    memory.set(OTHER[1], INDEX[1], 0x10_8000 | PRESENT_WRITABLE_USER | ACCESSED | DIRTY)
    found = memory.read()
    assert tree_differences(walk(found, ONE[4]), walk(found, OTHER[4])) == []


@pytest.mark.parametrize(
    ("level", "index", "value", "address"),
    [
        (1, 325, 0x10_8005, ADDRESS),  # write permission lost
        (1, 325, 0x10_9007, ADDRESS),  # another frame
        (1, 325, 0, ADDRESS),  # gone
        (1, 7, 0x10_A007, 0x7F00_1220_7000),  # extra
        (2, 3, 0x40_0000 | LARGE | 7, 0x7F00_0060_0000),  # another large frame
        (4, 300, 0xABC001, 0xFFFF_0000_0000_0000 | 300 << 39),  # kernel half
    ],
)
def test_one_changed_entry_is_named(memory, level, index, value, address):
    memory.set(OTHER[level], index, value)
    found = memory.read()
    (difference,) = tree_differences(walk(found, ONE[4]), walk(found, OTHER[4]))
    assert (difference.level, difference.address) == (level, address)
    assert difference.expected != difference.found


def test_a_missing_table_is_named(memory):
    memory.set(OTHER[2], INDEX[2], 0)
    found = memory.read()
    assert [d.level for d in tree_differences(walk(found, ONE[4]), walk(found, OTHER[4]))] == [2, 1]


def test_placement_counts_tables_and_pointers_by_node(memory):
    found = memory.read()
    rows = page_tables.placement_of_tree(walk(found, ONE[4]), found, 2)
    assert (1, 0, 1, 1, 1) in rows  # the leaf table on node 0 points to a frame on node 1
    assert (1, 0, 0, 1, 0) in rows
    assert (2, 0, 0, 1, 1) in rows  # the large page lies outside memory and counts nowhere
    assert (4, 1, 0, 0, 0) in rows


def test_memory_above_the_hole_follows_the_low_memory(tmp_path):
    # 4 GB in two nodes: 3 GB low, the rest from 4 GB on; only the arithmetic is asked, so the files are tiny.
    for node in range(2):
        (tmp_path / str(node)).write_bytes(b"\0" * 8)
    memory = GuestMemory([tmp_path / "0", tmp_path / "1"], 2 << 30)
    addresses = np.array(
        [0, (2 << 30) - 1, 2 << 30, (3 << 30) - 1, 4 << 30, (5 << 30) - 1, 5 << 30], dtype=np.uint64
    )
    assert memory.node(addresses).tolist() == [0, 0, 1, 1, 1, 1, -1]
