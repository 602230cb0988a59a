"""Templates: recorded faults whose page, struct page and table entries are operands.

A simulator that needs the kernel's work of a fault takes a recorded fault of the same kind, and moves what
the fault's own page decides:

- accesses to the page move with its frame;
- accesses to its struct page move with that struct;
- accesses to the page that is copied, and to its struct page, move with the frame of that page;
- accesses to a page table move with the entry of the touched address; those that write a whole table move
  with the table.

Everything else keeps its address: stack, mm, VMA, zone, per-CPU lists. So do structs of other pages, which
depend on the state of the kernel's lists and not on the fault; and the place in the LRU batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tessera.core.errors import TesseraError
from tessera.faults.stream.format import Access, Fault
from tessera.faults.stream.structures import DIRECT_MAP, PAGE, STRUCT_PAGE, VMEMMAP

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
class Step:
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
    def steps(self) -> list[Step]:
        """The accesses in order, relative to what they move with."""
        return list(self._steps)

    @property
    def moving(self) -> int:
        """Accesses whose addresses depend on the operands."""
        return sum(step.base != FIXED for step in self._steps)

    def fault(self, operands: Operands) -> Fault:
        """The fault with these operands."""
        accesses = []
        for step in self._steps:
            virtual, physical = _base(step, operands)
            one = step.access
            accesses.append(replace(one, virtual=one.virtual + virtual, physical=one.physical + physical))
        touch = operands.virtual, operands.frame * PAGE + self._touch_offset
        return replace(self._fault, accesses=tuple(accesses), touch=touch)


def _step(one: Access, operands: Operands) -> Step:
    base = _base_of(one, operands)
    virtual, physical = _base(Step(one, base), operands)
    return Step(replace(one, virtual=one.virtual - virtual, physical=one.physical - physical), base)


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


def _base(step: Step, operands: Operands) -> tuple[int, int]:
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
