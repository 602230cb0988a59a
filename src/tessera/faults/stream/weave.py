"""The file of templates that ``tessera-sim run --weave`` reads: accesses relative to what they move with.

Its format is in ``artifacts/simulator/src/engine/weave/templates.h``. Of each kind, the file has a fault for
each number of page tables that it allocates, without and with a batch of pages that moves to the LRU lists.
The kind ``table`` is the allocation of a last-level page table: what a load of an untouched page does beyond
the ordinary one. Faults that allocate more tables than their template get it once for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.faults.stream.counts import ordinary
from tessera.faults.stream.format import KINDS, Access, Fault
from tessera.faults.stream.recording import PAGE_BYTES, Recording, load
from tessera.faults.stream.structures import PAGE, STRUCT_PAGE, VMEMMAP
from tessera.faults.stream.templates import (
    ENTRY_BYTES,
    FIXED,
    OF_ANOTHER,
    OF_PAGE,
    OF_SOURCE,
    OF_SOURCE_STRUCT,
    OF_STRUCT,
    TABLES,
    Step,
    Template,
    operands_of,
)

HEAD = "tessera-fault-templates 1"
#: Pages that move to the LRU lists together (PAGEVEC_SIZE, include/linux/pagevec.h of Linux 6.12).
BATCH = 31
#: Bytes of the last-level entries that fault-around may fill: 16 of a 64KB window.
AROUND_BYTES = 16 * ENTRY_BYTES
#: The kind whose entries are those of the window, not of the touched page.
MAPS_AROUND = "read-file"
#: The kind whose faults with and without a table differ by the allocation alone.
OF_TABLES, TABLE = "read-zero", "table"
STACKS = ("stack", "entry stack")
BASES = {OF_PAGE: "page", OF_STRUCT: "struct", OF_SOURCE: "source", OF_SOURCE_STRUCT: "source-struct"}
LETTERS = {value: letter for letter, value in KINDS.items()}


def file_of(folder: Path) -> bytes:
    """The file for the recording in ``folder``; errors as :func:`lines` and :func:`load`."""
    return "\n".join([*lines(load(folder)), ""]).encode()


def lines(recording: Recording) -> Iterator[str]:
    """The file, line by line.

    Raises:
        TesseraError: the recording has no fault that allocates a table, or not what its template needs.
    """
    yield HEAD
    yield f"kernel {recording.facts['kernel']}"
    for kind, found in recording.chosen.items():
        for fault in _one_of_each(found):
            yield f"template {kind} {tables_of(fault)} {int(moves_batch(fault))}"
            yield from _template(kind, fault)
    yield f"template {TABLE} 1 0"
    yield from _allocation(recording.chosen.get(OF_TABLES, []))


def tables_of(fault: Fault) -> int:
    """Page tables that a fault allocates: those it clears."""
    return sum(_clears_table(one) for one in fault.accesses)


def moves_batch(fault: Fault) -> bool:
    """Whether a fault moves a batch of pages: it accesses the struct pages of at least as many others."""
    others = (one for one in fault.accesses if one.structure == OF_ANOTHER)
    return len({line for one in others for line in one.lines}) >= BATCH


def _one_of_each(found: Sequence[Fault]) -> list[Fault]:
    """The ordinary fault, then the first of each other number of tables, with and without a batch."""
    first = ordinary(found)
    chosen = {(tables_of(first), moves_batch(first)): first}
    for fault in found:
        chosen.setdefault((tables_of(fault), moves_batch(fault)), fault)
    return list(chosen.values())


def _clears_table(one: Access) -> bool:
    return one.structure in TABLES and one.store and one.string and one.bytes_ == PAGE


def _template(kind: str, fault: Fault) -> Iterator[str]:
    frames = PAGE_BYTES.get(kind, PAGE) // PAGE
    operands = operands_of(fault, frames)
    inside = operands.entry(1) % AROUND_BYTES if 1 in operands.tables else 0
    for step in Template(fault, frames).steps:
        one = step.access
        if kind == MAPS_AROUND and step.base == "entry 1":
            yield _line(one, "around", one.physical + inside)
        else:
            yield _line(one, *_based(step))
    yield f"end {fault.tail}"


def _based(step: Step) -> tuple[str, int]:
    one = step.access
    if step.base != FIXED:
        return BASES.get(step.base, step.base.replace(" ", "-")), one.physical
    if one.structure == OF_ANOTHER:
        return "memory-map", one.virtual - VMEMMAP
    return "stack" if one.structure in STACKS else "fixed", one.physical


def _line(one: Access, base: str, offset: int) -> str:
    return f"{one.instructions} {LETTERS[one.store, one.string]} {base} {offset:x} {one.bytes_}"


def _allocation(found: Sequence[Fault]) -> Iterator[str]:
    """The kind ``table``: the run of accesses by which a fault with a table is longer than one without."""
    longer = next((fault for fault in found if tables_of(fault) == 1 and not moves_batch(fault)), None)
    shorter = next((fault for fault in found if tables_of(fault) == 0), None)
    if longer is None or shorter is None:
        raise TesseraError(
            f"the allocation of a page table, from faults of kind {OF_TABLES}",
            "the recording has none with a table, or none without",
            "record again: ./run tessera faults stream record",
            code="no-table",
        )
    begin, end = inserted(longer.accesses, shorter.accesses)
    run = list(longer.accesses[begin:end])
    run[0] = replace(run[0], instructions=max(run[0].instructions, 1))
    frame = next((one.physical // PAGE for one in run if _clears_table(one)), None)
    level = TABLES[next(one.structure for one in longer.accesses if _clears_table(one))]
    parent = f"entry {level + 1}"
    steps = Template(longer).steps[begin:end]
    if frame is None or not any(step.base == parent and step.access.store for step in steps):
        raise TesseraError(
            f"the allocation of a page table, from faults of kind {OF_TABLES}",
            "what the longer fault has more does not clear the table, or does not store its entry",
            "record again: ./run tessera faults stream record",
            code="no-table",
        )
    for one, step in zip(run, steps, strict=True):
        struct = one.virtual - VMEMMAP - frame * STRUCT_PAGE
        if one.physical // PAGE == frame:
            yield _line(one, "new-table", one.physical % PAGE)
        elif step.base == parent:
            yield _line(one, "parent", step.access.physical)
        elif one.structure == OF_ANOTHER and 0 <= struct < STRUCT_PAGE:
            yield _line(one, "new-struct", struct)
        else:
            yield _line(one, *_based(step))
    yield "end 0"


def inserted(longer: Sequence[Access], shorter: Sequence[Access]) -> tuple[int, int]:
    """Where a run of accesses stands that the longer list has more: the place with the most equal accesses
    before and behind it.

    Returns:
        begin and end of the run in ``longer``.
    """

    def key(one: Access) -> tuple:
        return one.instructions, one.store, one.string, one.bytes_, one.structure

    more = len(longer) - len(shorter)
    a, b = [key(one) for one in longer], [key(one) for one in shorter]
    equal = sum(x == y for x, y in zip(a[more:], b, strict=True))  # the run stands in front
    best, place = equal, 0
    for at in range(len(b)):  # the run moves behind access `at`
        equal += (a[at] == b[at]) - (a[at + more] == b[at])
        if equal > best:
            best, place = equal, at + 1
    return place, place + more
