"""A recording of Linux's faults in a folder, and the structure of Linux that each line belongs to."""

from __future__ import annotations

import bisect
import csv
import io
import json
import lzma
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import writing
from tessera.lab.faults.recorded_faults import (
    LINE_BYTES,
    Count,
    Dropped,
    Fault,
    faults_of_lines,
    text_of_faults,
)

RECORDED = Path("artifacts/kernel-stream/recording")  #: page faults of Linux 6.12, in the repository

# Which structure of Linux an accessed line belongs to.
#
# Sources: the map of virtual memory (Documentation/arch/x86/x86_64/mm.rst, four levels, no randomisation);
# symbols of the kernel's image and of its per-CPU area; for the direct map, what is known of the frame: a
# cache of the slab allocator, a page table, a page.

PAGE = 4096
USER_END = 1 << 47
DIRECT_MAP, DIRECT_MAP_END = 0xFFFF_8880_0000_0000, 0xFFFF_C880_0000_0000
VMALLOC, VMALLOC_END = 0xFFFF_C900_0000_0000, 0xFFFF_E900_0000_0000
VMEMMAP, VMEMMAP_END = 0xFFFF_EA00_0000_0000, 0xFFFF_EB00_0000_0000
ENTRY_AREA, ENTRY_AREA_END = 0xFFFF_FE00_0000_0000, 0xFFFF_FE80_0000_0000
IMAGE = 0xFFFF_FFFF_8000_0000
STRUCT_PAGE = 64

#: Cache of the slab allocator -> structure. Others are "slab: <cache>".
CACHES = {
    "mm_struct": "mm", "vm_area_struct": "VMA", "vma_lock": "VMA", "maple_node": "VMA tree",
    "anon_vma": "anon_vma", "anon_vma_chain": "anon_vma", "task_struct": "task",
    "kmem_cache": "slab allocator",
    "kmem_cache_node": "slab allocator", "radix_tree_node": "page cache", "filp": "file",
    "ext2_inode_cache": "page cache",
}  # fmt: skip
#: Variable -> structure, in the image and in the per-CPU area. Others are "kernel data" and "per-CPU data".
VARIABLES = {
    "cpu_fbatches": "LRU batch", "vm_event_states": "counters", "memcg_stock": "memcg",
    "vm_zone_stat": "counters", "vm_node_stat": "counters", "vm_numa_event": "counters",
    "root_mem_cgroup": "memcg",
}  # fmt: skip


@dataclass(frozen=True)
class Range:
    """Virtual addresses of a structure; ``end`` is exclusive."""

    start: int
    end: int
    name: str


@dataclass(frozen=True)
class Facts:
    """What is known of a guest.

    Attributes:
        ranges: structures with known addresses; of nested ones, the inner one counts.
        symbols: (address, name) of the image, sorted.
        percpu_symbols: (offset, name) of the static per-CPU area, sorted.
        percpu_base: address of the per-CPU area.
        percpu_bytes: of its static part.
        caches: frame -> cache of the slab allocator.
        tables: frame -> level of a page table (1 for last-level tables); 0 if unknown.
        pages: frames of user pages.
    """

    ranges: Sequence[Range] = ()
    symbols: Sequence[tuple[int, str]] = ()
    percpu_symbols: Sequence[tuple[int, str]] = ()
    percpu_base: int = 0
    percpu_bytes: int = 0
    caches: Mapping[int, str] = field(default_factory=dict)
    tables: Mapping[int, int] = field(default_factory=dict)
    pages: frozenset[int] = frozenset()


class Structures:
    """Names of accesses in one guest."""

    def __init__(self, facts: Facts):
        self._facts = facts
        # Inner ranges are shorter: the first match counts.
        self._ranges = sorted(facts.ranges, key=lambda one: one.end - one.start)

    def name(self, virtual: int, physical: int, touched: range) -> str:
        """The structure at an address.

        Args:
            touched: physical addresses of the page that the program touched.
        """
        if virtual < USER_END:
            return "user memory"
        for one in self._ranges:
            if one.start <= virtual < one.end:
                return one.name
        if VMEMMAP <= virtual < VMEMMAP_END:
            return self._struct_page(virtual, touched)
        if ENTRY_AREA <= virtual < ENTRY_AREA_END:
            return "entry stack"
        if VMALLOC <= virtual < VMALLOC_END:
            return "vmalloc"
        if virtual >= IMAGE:
            return self._variable(self._facts.symbols, virtual, "kernel data")
        if DIRECT_MAP <= virtual < DIRECT_MAP_END:
            return self._direct(virtual, physical, touched)
        return "other"

    def _struct_page(self, virtual: int, touched: range) -> str:
        frame = (virtual - VMEMMAP) // STRUCT_PAGE
        return "struct page" if frame * PAGE in touched else "struct page of another"

    def _direct(self, virtual: int, physical: int, touched: range) -> str:
        facts, frame = self._facts, physical // PAGE
        offset = virtual - facts.percpu_base
        if 0 <= offset < facts.percpu_bytes:
            return self._variable(facts.percpu_symbols, offset, "per-CPU data")
        if physical in touched:
            return "page"
        if frame in facts.tables:
            level = facts.tables[frame]
            return f"page table {level}" if level else "page table"
        if frame in facts.caches:
            cache = facts.caches[frame]
            return CACHES.get(cache, f"slab: {cache}")
        return "another page" if frame in facts.pages else "other"

    def _variable(self, symbols: Sequence[tuple[int, str]], address: int, otherwise: str) -> str:
        at = bisect.bisect_right(symbols, address, key=lambda one: one[0]) - 1
        return VARIABLES.get(symbols[at][1], otherwise) if at >= 0 else otherwise


# A recording of Linux's faults in a folder.
#
# - ``recording.json``: kernel, machine, program, what was dropped;
# - ``faults.xz``: chosen faults of each kind with a structure for each access (:mod:`.recorded_faults`);
# - ``counts.csv``: the counts of every fault, in order.

FACTS, FAULTS, COUNTS = "recording.json", "faults.xz", "counts.csv"
#: Chosen faults of a kind: the first with the most common number of instructions, and all.
COMMON, MOST = 4, 8
#: Size of the page that a touch gets, if it is not 4KB.
PAGE_BYTES = {"write-2mb": 2 << 20}


@dataclass(frozen=True)
class RecordedFaults:
    """What was recorded.

    Attributes:
        facts: for people.
        chosen: kind -> faults with all accesses.
        counts: kind -> counts of all its faults, in order.
    """

    facts: dict
    chosen: dict[str, list[Fault]]
    counts: dict[str, list[Count]]

    def save(self, folder: Path, kinds: dict[int, str]) -> None:
        """Write the folder; ``kinds`` are names by the address of the instruction that faults."""
        rows = io.StringIO()
        writer = csv.writer(rows, lineterminator="\n")
        writer.writerow(["kind", *(one.name for one in fields(Count))])
        writer.writerows([kind, *astuple(one)] for kind, all_ in self.counts.items() for one in all_)
        chosen = "\n".join([*text_of_faults(fault for all_ in self.chosen.values() for fault in all_), ""])
        facts = self.facts | {"kinds": {f"{pc:x}": name for pc, name in kinds.items()}}
        _write(folder / COUNTS, rows.getvalue().encode())
        _write(folder / FAULTS, lzma.compress(chosen.encode(), preset=9 | lzma.PRESET_EXTREME))
        _write(folder / FACTS, (json.dumps(facts, indent=2) + "\n").encode())


def load_recording(folder: Path) -> RecordedFaults:
    """A recording.

    Raises:
        TesseraError: a file is missing or damaged.
    """
    for name in (FACTS, FAULTS, COUNTS):
        if not (folder / name).is_file():
            raise _damaged(folder, f"{name} is not there")
    try:
        facts = json.loads((folder / FACTS).read_text())
        kinds = {int(pc, 16): name for pc, name in facts["kinds"].items()}
        lines = lzma.decompress((folder / FAULTS).read_bytes()).decode().splitlines()
    except (ValueError, KeyError, lzma.LZMAError) as error:
        raise _damaged(folder, f"{FACTS} or {FAULTS}: {error}") from None
    chosen = defaultdict(list)
    for fault in faults_of_lines(lines, str(folder / FAULTS)):
        if isinstance(fault, Dropped):
            raise _damaged(folder, f"{FAULTS} has a dropped fault")
        if fault.pc not in kinds:
            raise _damaged(folder, f"{FAULTS} has a fault at {fault.pc:x}, which {FACTS} does not name")
        chosen[kinds[fault.pc]].append(fault)
    return RecordedFaults(facts, dict(chosen), _read_counts(folder))


def _read_counts(folder: Path) -> dict[str, list[Count]]:
    found = defaultdict(list)
    with (folder / COUNTS).open(newline="") as stream:
        for row in csv.DictReader(stream):
            try:
                kind = row.pop("kind")
                found[kind].append(Count(**{name: int(value) for name, value in row.items()}))
            except (TypeError, ValueError, KeyError):
                raise _damaged(folder, f"{COUNTS} has the row {row}") from None
    return dict(found)


def _damaged(folder: Path, found: str) -> TesseraError:
    return TesseraError(
        f"recording {folder}", found, "record it: ./run tessera lab faults stream record --out FOLDER"
    )


def choose(counts: Sequence[Count]) -> list[int]:
    """Which faults of a kind to keep, as indices into ``counts``: the first of the most common number of
    instructions, then the first of each other number, the most instructions first; in order."""
    by_instructions = defaultdict(list)
    for number, one in enumerate(counts):
        by_instructions[one.instructions].append(number)
    common = max(by_instructions.values(), key=len)
    others = [numbers[0] for size, numbers in sorted(by_instructions.items()) if numbers is not common]
    return sorted([*common[:COMMON], *others[::-1][: MOST - COMMON]])


def with_structures(fault: Fault, kind: str, structures: Structures) -> Fault:
    """The fault with a structure for each access."""
    bytes_ = PAGE_BYTES.get(kind, PAGE)
    start = fault.touch[1] // bytes_ * bytes_
    touched = range(start, start + bytes_)
    names = [structures.name(one.virtual, one.physical, touched) for one in fault.accesses]
    copied = _loaded_whole(fault, names)
    accesses = [
        replace(one, structure="another page" if one.physical // PAGE in copied else name)
        for one, name in zip(fault.accesses, names, strict=True)
    ]
    return replace(fault, accesses=tuple(accesses))


def _loaded_whole(fault: Fault, names: Sequence[str]) -> set[int]:
    """Unknown frames of which the fault loads every line: pages that were copied, and are free again when the
    guest's memory is read."""
    lines = defaultdict(set)
    for one, name in zip(fault.accesses, names, strict=True):
        if name == "other" and not one.store:
            for line in one.lines:
                lines[line * LINE_BYTES // PAGE].add(line)
    return {frame for frame, loaded in lines.items() if len(loaded) == PAGE // LINE_BYTES}


def _write(path: Path, data: bytes) -> None:
    with writing(path, "wb") as stream:
        stream.write(data)
