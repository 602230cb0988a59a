"""Memory whose frames the kernel writes to past the page tables: the frames must stay."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.toolchain, pytest.mark.hugepages]

# Bits of enum mosalloc_pin, and places in unsplit_by, of pool_map.h.
MEMORY, IO_URING, AIO, DIRECT = 1, 2, 4, 8
NO_GATE, PINNED = 0, 1
WINDOW = "mmap,2MB,0,8MB"
PAGES = 4
MANY = 24
MANY_WINDOW, MANY_PAGES = "mmap,2MB,0,80MB", 40


@pytest.mark.parametrize("ring", ["open", "closed", "thread"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("act", ["guard", "readonly", "fork", "file"])
def test_registered_buffers(hostile, program, exactly, tmp_path, act, when, ring):
    """READ_FIXED and WRITE_FIXED of 1MB after another part of the huge page has changed; no page is free."""
    exactly(PAGES)
    done = hostile([program("pins_uring"), tmp_path / "file", act, when, ring], WINDOW)
    assert done.right, done.err
    assert done.map["split_pages"] == (1 if when == "after" else 0)
    refused = act == "file" and "refused" in done.out
    if act in ("guard", "readonly") or refused:
        assert (done.map["unsplit_pages"], done.map["unsplit_by"][PINNED]) == (1, 1)
        assert done.map["pin_kinds"] & (MEMORY | IO_URING)
    if act == "fork":  # the parent keeps its frames
        assert (done.map["forks"], done.map["copied_forks"], done.map["fork_risks"]) == (1, 1, 0)


@pytest.mark.parametrize("kind", ["buffers", "own"])
def test_what_the_kernel_looks_up_in_memory_of_the_program(hostile, program, huge_pages, kind):
    """A ring of provided buffers, and an io_uring whose queues are memory of the program."""
    huge_pages(PAGES)
    done = hostile([program("pins_rings"), kind], WINDOW)
    assert done.right, done.err
    assert done.map["pin_kinds"] & IO_URING
    assert done.map["unsplit_by"][PINNED] == 1


def test_a_ring_without_descriptor_in_memory_of_the_program(hostile, program, huge_pages):
    huge_pages(PAGES)
    assert hostile([program("pins_rings"), "hidden"], WINDOW).right


def test_linux_aio_in_flight(hostile, program, huge_pages, disk_file):
    huge_pages(MANY_PAGES)
    done = hostile([program("pins_aio"), disk_file, MANY], MANY_WINDOW)
    assert done.right, done.err
    assert done.map["pin_kinds"] & AIO
    assert done.map["unsplit_by"][PINNED] == MANY


def test_direct_reads_of_another_thread(hostile, program, huge_pages, disk_file):
    huge_pages(MANY_PAGES)
    done = hostile([program("pins_direct"), disk_file, MANY], MANY_WINDOW)
    assert done.right, done.err
    assert done.map["pin_kinds"] & DIRECT
    assert done.map["unsplit_by"][PINNED] >= MANY


def test_a_ring_that_is_gone_before_the_first_split(hostile, program, huge_pages):
    huge_pages(PAGES)
    done = hostile([program("ring_gone")], WINDOW)
    assert done.right, done.err
    assert (done.map["split_pages"], done.map["unsplit_pages"], done.map["pin_kinds"]) == (1, 0, 0)
