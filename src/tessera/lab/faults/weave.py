"""Templates of recorded faults, and the file of them that ``tessera-sim run --weave`` reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.lab.faults.kinds import BATCH
from tessera.lab.faults.recorded_faults import ACCESS_KINDS, Access, Fault, ordinary
from tessera.lab.faults.recording import (
    DIRECT_MAP,
    PAGE,
    PAGE_BYTES,
    RECORDED,
    STRUCT_PAGE,
    VMEMMAP,
    RecordedFaults,
    load_recording,
)
from tessera.lab.study import Run, study

# Templates: recorded faults whose page, struct page and table entries are operands.
#
# A simulator that needs the kernel's work of a fault takes a recorded fault of the same kind, and moves what
# the fault's own page decides:
#
# - accesses to the page move with its frame;
# - accesses to its struct page move with that struct;
# - accesses to the page that is copied, and to its struct page, move with the frame of that page;
# - accesses to a page table move with the entry of the touched address; those that write a whole table move
#   with the table.
#
# Everything else keeps its address: stack, mm, VMA, zone, per-CPU lists. So do structs of other pages, which
# depend on the state of the kernel's lists and not on the fault; and the place in the LRU batch.

ENTRY_BYTES = 8
#: Structure of a table of this level, 1 for last-level tables.
TABLES = {f"page table {level}": level for level in (1, 2, 3, 4)}
FIXED, OF_PAGE, OF_STRUCT = "fixed", "page", "struct page"
OF_SOURCE, OF_ANOTHER, OF_SOURCE_STRUCT = (
    "another page",
    "struct page of another",
    "struct page of the source",
)


@dataclass(frozen=True)
class Operands:
    """What a fault is about.

    Attributes:
        virtual: touched address.
        frame: of the page that the touch got; of a 2MB page, its first frame.
        memory_map: physical address of the struct page of frame 0; the map is contiguous.
        tables: level -> frame of the page table that the fault accesses.
        source: frame of the page that is copied; None if there is none.
    """

    virtual: int
    frame: int
    memory_map: int
    tables: Mapping[int, int]
    source: int | None = None

    def source_frame(self) -> int:
        """The frame that is copied.

        Raises:
            TesseraError: there is none.
        """
        if self.source is None:
            raise TesseraError(
                "a template that copies a page",
                "the operands have no source",
                "give the frame of the page that is copied",
                code="no-source",
            )
        return self.source

    def entry(self, level: int) -> int:
        """Physical address of the table entry of the touched address.

        Raises:
            TesseraError: there is no table of this level.
        """
        if level not in self.tables:
            raise TesseraError(
                f"a template with an access to a page table of level {level}",
                f"the operands have tables of levels {sorted(self.tables)}",
                "give the frame of that table",
                code="no-table",
            )
        index = self.virtual >> (12 + 9 * (level - 1)) & 511
        return self.tables[level] * PAGE + index * ENTRY_BYTES


def operands_of(fault: Fault, frames: int = 1) -> Operands:
    """The operands of a recorded fault.

    Args:
        frames: of the touched page: 1, or 512 for a 2MB page.

    Raises:
        TesseraError: the fault accesses two tables of one level, or two pages besides the touched one.
    """
    virtual, physical = fault.touch
    frame = physical // PAGE // frames * frames
    memory_map, found = 0, {}
    for one in fault.accesses:
        name = one.structure
        if name in (OF_STRUCT, OF_ANOTHER):
            memory_map = one.physical - (one.virtual - VMEMMAP)
        elif name in TABLES or name == OF_SOURCE:
            if found.setdefault(name, one.physical // PAGE) != one.physical // PAGE:
                raise TesseraError(
                    f"the operands of a fault at {virtual:#x}",
                    f"it accesses two frames as {name}: {found[name]:#x} and {one.physical // PAGE:#x}",
                    "use another fault of the kind",
                    code="two-frames",
                )
    tables = {level: found[name] for name, level in TABLES.items() if name in found}
    return Operands(virtual, frame, memory_map, tables, found.get(OF_SOURCE))


@dataclass(frozen=True)
class TemplateAccess:
    """An access of a template: ``access`` with addresses relative to ``base``."""

    access: Access
    base: str


class Template:
    """A recorded fault without its operands.

    Args:
        fault: with a structure for each access.
        frames: of the touched page: 1, or 512 for a 2MB page.
    """

    def __init__(self, fault: Fault, frames: int = 1):
        operands = operands_of(fault, frames)
        self._fault = fault
        self._touch_offset = fault.touch[1] - operands.frame * PAGE
        self._steps = [_step(one, operands) for one in fault.accesses]

    @property
    def instructions(self) -> int:
        """Instructions of the fault."""
        return self._fault.instructions

    @property
    def steps(self) -> list[TemplateAccess]:
        """The accesses in order, relative to what they move with."""
        return list(self._steps)

    def fault(self, operands: Operands) -> Fault:
        """The fault with these operands."""
        accesses = []
        for step in self._steps:
            virtual, physical = _base(step, operands)
            one = step.access
            accesses.append(replace(one, virtual=one.virtual + virtual, physical=one.physical + physical))
        touch = operands.virtual, operands.frame * PAGE + self._touch_offset
        return replace(self._fault, accesses=tuple(accesses), touch=touch)


def _step(one: Access, operands: Operands) -> TemplateAccess:
    base = _base_of(one, operands)
    virtual, physical = _base(TemplateAccess(one, base), operands)
    return TemplateAccess(replace(one, virtual=one.virtual - virtual, physical=one.physical - physical), base)


def _base_of(one: Access, operands: Operands) -> str:
    """What an access moves with."""
    if one.structure in (OF_PAGE, OF_STRUCT, OF_SOURCE):
        return one.structure
    if one.structure in TABLES:
        # A string instruction clears or copies a whole table: it does not depend on the entry.
        return f"table {TABLES[one.structure]}" if one.string else f"entry {TABLES[one.structure]}"
    if one.structure == OF_ANOTHER and (one.virtual - VMEMMAP) // STRUCT_PAGE == operands.source:
        return OF_SOURCE_STRUCT
    return FIXED


def _base(step: TemplateAccess, operands: Operands) -> tuple[int, int]:
    """Virtual and physical address that a step's addresses are relative to."""
    if step.base == FIXED:
        return 0, 0
    if step.base in (OF_STRUCT, OF_SOURCE_STRUCT):
        frame = operands.frame if step.base == OF_STRUCT else operands.source_frame()
        return VMEMMAP + frame * STRUCT_PAGE, operands.memory_map + frame * STRUCT_PAGE
    if step.base in (OF_PAGE, OF_SOURCE):
        physical = (operands.frame if step.base == OF_PAGE else operands.source_frame()) * PAGE
    else:
        what, level = step.base.split()
        entry = operands.entry(int(level))
        physical = entry if what == "entry" else entry // PAGE * PAGE
    return DIRECT_MAP + physical, physical


# The file of templates that ``tessera-sim run --weave`` reads: accesses relative to what they move with.
#
# Its format is in ``artifacts/simulator/src/engine/weave/templates.h``. Of each kind, the file has a fault
# for each number of page tables that it allocates, without and with a batch of pages that moves to the LRU
# lists. The kind ``table`` is the allocation of a last-level page table: what a load of an untouched page
# does beyond the ordinary one. Faults that allocate more tables than their template get it once for each.

TEMPLATES_HEAD = "tessera-fault-templates 1"
#: Bytes of the last-level entries that fault-around may fill: 16 of a 64KB window.
AROUND_BYTES = 16 * ENTRY_BYTES
#: The kind whose entries are those of the window, not of the touched page.
MAPS_AROUND = "read-file"
#: The kind whose faults with and without a table differ by the allocation alone.
OF_TABLES, TABLE = "read-zero", "table"
STACKS = ("stack", "entry stack")
BASES = {OF_PAGE: "page", OF_STRUCT: "struct", OF_SOURCE: "source", OF_SOURCE_STRUCT: "source-struct"}
LETTERS = {value: letter for letter, value in ACCESS_KINDS.items()}


def file_of(folder: Path) -> bytes:
    """The file for the recording in ``folder``.

    Raises:
        TesseraError: as :func:`load_recording` and :func:`template_lines`.
    """
    return "\n".join([*template_lines(load_recording(folder)), ""]).encode()


@study()
def templates(run: Run, recording: Path = RECORDED) -> None:
    """Write the file of templates that `tessera-sim run --weave` reads: templates.txt, or the name of --out.

    Example: ./run tessera lab run fault-templates --out /tmp/templates.txt

    Args:
        recording: folder that `tessera lab faults stream record` wrote.

    Raises:
        TesseraError: as :func:`file_of`.
    """
    text, file = file_of(recording).decode(), run.file("templates.txt")
    write_text(file, text)
    run.say(f"{text.count(chr(10) + 'template ')} templates -> {file}")


def template_lines(recording: RecordedFaults) -> Iterator[str]:
    """The file, line by line.

    Raises:
        TesseraError: the recording has no fault that allocates a table, or not what its template needs.
    """
    yield TEMPLATES_HEAD
    yield f"kernel {recording.facts['kernel']}"
    for kind, found in recording.chosen.items():
        for fault in _one_of_each(found):
            yield f"template {kind} {allocated_tables(fault)} {int(moves_batch(fault))}"
            yield from _template(kind, fault)
    yield f"template {TABLE} 1 0"
    yield from _allocation(recording.chosen.get(OF_TABLES, []))


def allocated_tables(fault: Fault) -> int:
    """Page tables that a fault allocates: those it clears."""
    return sum(_clears_table(one) for one in fault.accesses)


def moves_batch(fault: Fault) -> bool:
    """Whether a fault moves a batch of pages: it accesses the struct pages of at least as many others."""
    others = (one for one in fault.accesses if one.structure == OF_ANOTHER)
    return len({line for one in others for line in one.lines}) >= BATCH.period


def _one_of_each(found: Sequence[Fault]) -> list[Fault]:
    """The ordinary fault, then the first of each other number of tables, with and without a batch."""
    first = ordinary(found)
    chosen = {(allocated_tables(first), moves_batch(first)): first}
    for fault in found:
        chosen.setdefault((allocated_tables(fault), moves_batch(fault)), fault)
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


def _based(step: TemplateAccess) -> tuple[str, int]:
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
    longer = next((fault for fault in found if allocated_tables(fault) == 1 and not moves_batch(fault)), None)
    shorter = next((fault for fault in found if allocated_tables(fault) == 0), None)
    if longer is None or shorter is None:
        raise TesseraError(
            f"the allocation of a page table, from faults of kind {OF_TABLES}",
            "the recording has none with a table, or none without",
            "record again: ./run tessera lab faults stream record",
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
            "record again: ./run tessera lab faults stream record",
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
