"""The layouts that every program must live on."""

from __future__ import annotations

from tessera.allocator_proof.programs.model import Program
from tessera.core.errors import unknown_name
from tessera.core.units import GB, MB, PAGE_1GB, PAGE_2MB
from tessera.layouts.model import Layout, Window

LAYOUTS = ("4kb", "2mb", "mixed")

#: Room for reservations that are mostly never touched (WebAssembly memories, Java's heap), and for sparse
#: heaps: where the heap pool is full, malloc goes on in scattered pieces and becomes many times slower.
POOL_BYTES = {"brk": 64 * GB, "mmap": 64 * GB}

#: In ``mixed`` 2MB and 4KB parts alternate with this period.
PERIOD_BYTES = 4 * MB

#: In ``mixed``, where a 1GB page can be had: far enough for the 2MB windows to lie below it. Only for
#: programs of one process: few machines have two such pages.
WINDOW_1GB = Window("mmap", 1 * GB, 2 * GB, PAGE_1GB)


def mosaic(name: str, program: Program, *, page_1gb: bool = False) -> Layout:
    """Layout ``name`` for the part of the pools that ``program`` uses.

    ``4kb`` has no windows, ``2mb`` one window over that part of both pools, ``mixed`` every second 2MB of it
    and, with ``page_1gb``, a window of 1GB if the program is one process.
    """
    if name not in LAYOUTS:
        raise unknown_name("layout", name, LAYOUTS)
    windows: list[Window] = []
    for pool, size in (("brk", program.heap_bytes), ("mmap", program.anon_bytes)):
        if name == "2mb":
            windows.append(Window(pool, 0, size, PAGE_2MB))
        if name == "mixed":
            windows += [Window(pool, at, at + PAGE_2MB, PAGE_2MB) for at in range(0, size, PERIOD_BYTES)]
    if name == "mixed" and page_1gb and program.processes == 1:
        windows.append(WINDOW_1GB)
    return Layout(name, dict(POOL_BYTES), tuple(sorted(windows)))


def pages_needed(name: str, program: Program) -> int:
    """2MB pages that one run needs: those of its windows, for each process that can be alive at a time."""
    return mosaic(name, program).pages(PAGE_2MB) * program.processes
