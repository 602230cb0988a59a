"""A process beside the imitation's: the start state with its root table, what is mapped, and what differs."""

import numpy as np

from tessera.lab.kernel.page_tables import GuestMemory
from tessera.lab.oracle.imitation import Agreement
from tessera.lab.oracle.process_faults import (
    PAGE,
    REGION,
    ZERO,
    ProcessMap,
    _follow,
    compare_frames,
    mapped,
    with_root,
)

STATE = """\
tessera-phys 1
cpu DMA32 0 high 3 high_min 3 high_max 9 batch 7 free_count 2 alloc_factor 1 flags - drift 0 threshold 2
cpu Normal 0 high 3 high_min 3 high_max 9 batch 7 free_count 5 alloc_factor 1 flags - drift 0 threshold 2
percpu DMA32 0 0 Movable 600
percpu Normal 0 0 Unmovable 1048600 1048601
end
"""
FIRST = REGION // PAGE


def test_the_root_comes_first_in_the_list_that_the_next_request_takes_from():
    found = with_root(STATE, 1048599).splitlines()
    assert found[4:6] == [
        "percpu Normal 0 0 Unmovable 1048599",
        "percpu Normal 0 0 Unmovable 1048600 1048601",
    ]
    # A request halves the count of frees in a row.
    assert " free_count 10 " in found[2] and " free_count 2 " in found[1]


def test_a_list_that_was_empty_gets_its_place_in_the_order_of_zones_and_types():
    assert with_root(STATE, 700).splitlines()[3] == "percpu DMA32 0 0 Unmovable 700"
    without = "".join(line for line in STATE.splitlines(keepends=True) if not line.startswith("percpu"))
    assert with_root(without, 1048599).splitlines()[3:] == ["percpu Normal 0 0 Unmovable 1048599", "end"]


OUTPUT = f"""\
> mmap {REGION:#x} 0x400000 rw
> touch {REGION:#x} w
fault {REGION:#x} w page order=9 frame=1024 tables=5,6,7 lru
> touch {REGION + 0x200000:#x} r
fault {REGION + 0x200000:#x} r zero order=9 tables=8
> touch 0x1000 r
fault 0x1000 r bad-access
> touch {REGION + 0x201000:#x} w
fault {REGION + 0x201000:#x} w copy order=0 frame=77 split
> madvise {REGION:#x} 0x1000 dontneed
> munmap {REGION + 0x202000:#x} 0x1fe000
> touch 0x1000 r
fault 0x1000 r bad-access
"""


def test_what_the_imitation_maps_at_each_look():
    found = _follow(OUTPUT, ["one", "two"])
    assert len(found["one"].pages) == 1024 and found["one"].tables == {5, 6, 7, 8}
    assert found["one"].pages[FIRST + 511] == 1024 + 511 and found["one"].pages[FIRST + 512] == ZERO
    assert FIRST not in found["two"].pages and found["two"].pages[FIRST + 1] == 1025
    assert found["two"].pages[FIRST + 513] == 77 and FIRST + 514 not in found["two"].pages


def test_pages_are_compared_when_they_are_new():
    guest = {"one": ProcessMap({1: 10, 2: 20}, {5}), "two": ProcessMap({1: 10, 2: 21}, {5, 6})}
    mine = {"one": ProcessMap({1: 10, 2: 20}, {5}), "two": ProcessMap({1: 99, 2: 21, 3: 30}, {5})}
    found = compare_frames(guest, mine)
    assert found["one"] == (Agreement(2, 2), Agreement(1, 1))
    # Page 2 is new and equal, page 3 is the imitation's only; page 1 changed in the imitation only.
    pages, tables = found["two"]
    assert (pages.compared, pages.equal, tables) == (3, 1, Agreement(2, 1))
    assert pages.first == "look two: address 0x1000: guest 10, imitation 99"


def test_the_guests_page_tables_are_read_with_their_zero_pages(tmp_path):
    words = np.zeros(1 << 17, dtype=np.uint64)
    root, pud, pmd, pte = 0x1000, 0x2000, 0x3000, 0x4000
    words[root // 8 + (REGION >> 39)] = pud | 7
    words[root // 8] = 0x5000 | 7  # another region: not read
    words[pud // 8] = pmd | 7
    words[pmd // 8] = pte | 7
    words[pmd // 8 + 1] = 0x40_0000 | 0x87
    words[pte // 8 + 3] = 0x9000 | 7
    words[pte // 8 + 4] = 0xA000 | 5  # read-only
    path = tmp_path / "memory"
    path.write_bytes(words.tobytes())
    found = mapped(GuestMemory([path], 1 << 20), root)
    assert found.tables == {2, 3, 4}
    assert len(found.pages) == 514 and found.pages[FIRST + 3] == 9 and found.pages[FIRST + 4] == ZERO
    assert found.pages[FIRST + 512] == 1024 and found.pages[FIRST + 1023] == 1535
