"""Templates of the committed recording: with the recorded operands they are the recording."""

from dataclasses import replace

import pytest

from tessera.core.errors import TesseraError
from tessera.lab.faults.recorded_faults import Access, Fault, ordinary
from tessera.lab.faults.recording import DIRECT_MAP, RECORDED, VMEMMAP, load_recording
from tessera.lab.faults.weave import FIXED, Operands, Template, operands_of

KINDS = (
    "write-4kb", "read-zero", "write-zero", "read-file", "write-private", "write-cow", "write-reuse",
    "write-2mb",
)  # fmt: skip
#: Structures whose place depends on the state of the kernel, not on the fault.
OF_STATE = {"struct page of another", "LRU batch", "page cache", "page table"}


@pytest.fixture(scope="module")
def recording(root):
    return load_recording(root / RECORDED)


def frames_of(kind):
    return 512 if kind == "write-2mb" else 1


@pytest.mark.parametrize("kind", KINDS)
def test_with_the_recorded_operands_a_template_is_the_recording(recording, kind):
    assert recording.chosen[kind]
    for fault in recording.chosen[kind]:
        operands = operands_of(fault, frames_of(kind))
        assert Template(fault, frames_of(kind)).fault(operands) == fault


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "read-file"])
def test_with_the_operands_of_another_fault_it_is_that_fault(recording, kind):
    """Of equally long faults: 99.5% of the accesses, and what differs depends on the kernel's state."""
    first = ordinary(recording.chosen[kind])
    template = Template(first, frames_of(kind))
    others = [
        one for one in recording.chosen[kind] if one.instructions == first.instructions and one is not first
    ]
    assert others
    for other in others:
        made = template.fault(operands_of(other, frames_of(kind)))
        differ = [b for a, b in zip(made.accesses, other.accesses, strict=True) if a != b]
        assert len(differ) <= 0.005 * len(other.accesses)
        assert {one.structure for one in differ} <= OF_STATE


def access(structure, virtual, physical, **more):
    return replace(Access(1, False, False, virtual, physical, 8, structure), **more)


#: Touch of address 0x40203004: entry 3 of the last-level table, 1 of level 2, 1 of level 3, 0 of level 4.
BY_HAND = Fault(
    1,
    (
        access("mm", DIRECT_MAP + 0x9000, 0x9000),
        access("page", DIRECT_MAP + 0x5000, 0x5000, store=True, string=True, bytes_=4096),
        access("struct page", VMEMMAP + 5 * 64 + 8, 0x70000 + 5 * 64 + 8),
        access("page table 1", DIRECT_MAP + 0x6018, 0x6018, store=True),
        access("page table 2", DIRECT_MAP + 0x7008, 0x7008),
        access("page table 1", DIRECT_MAP + 0x6000, 0x6000, store=True, string=True, bytes_=4096),
        access("another page", DIRECT_MAP + 0x8040, 0x8040),
        access("struct page of another", VMEMMAP + 8 * 64, 0x70000 + 8 * 64),
        access("struct page of another", VMEMMAP + 9 * 64, 0x70000 + 9 * 64),
    ),
    3, 0, 0, (0x40203004, 0x5004),
)  # fmt: skip
MOVED = Operands(0x40405008, 0x105, 0x90000, {1: 0x106, 2: 0x107}, 0x108)


def test_operands_by_hand():
    assert operands_of(BY_HAND) == Operands(0x40203004, 5, 0x70000, {1: 6, 2: 7}, 8)


def test_every_operand_moves_its_accesses():
    """Address 0x40405008: entry 5 of the last-level table, entry 2 of level 2."""
    made = Template(BY_HAND).fault(MOVED)
    assert [one.physical for one in made.accesses] == [
        0x9000,
        0x105000,
        0x90000 + 0x105 * 64 + 8,
        0x106028,
        0x107010,
        0x106000,
        0x108040,
        0x90000 + 0x108 * 64,
        0x70000 + 9 * 64,
    ]
    assert [one.virtual for one in made.accesses][:5] == [
        DIRECT_MAP + 0x9000,
        DIRECT_MAP + 0x105000,
        VMEMMAP + 0x105 * 64 + 8,
        DIRECT_MAP + 0x106028,
        DIRECT_MAP + 0x107010,
    ]
    assert made.touch == (0x40405008, 0x105004)
    template = Template(BY_HAND)
    moving = [step for step in template.steps if step.base != FIXED]  # addresses depend on the operands
    assert (template.instructions, len(moving)) == (12, 7)


@pytest.mark.parametrize(
    ("change", "code"), [({"tables": {1: 0x106}}, "no-table"), ({"source": None}, "no-source")]
)
def test_a_missing_operand_is_named(change, code):
    with pytest.raises(TesseraError) as error:
        Template(BY_HAND).fault(replace(MOVED, **change))
    assert error.value.code == code


@pytest.mark.parametrize("structure", ["page table 1", "another page"])
def test_two_frames_of_one_operand_are_refused(structure):
    more = (*BY_HAND.accesses, access(structure, DIRECT_MAP + 0xA000, 0xA000))
    with pytest.raises(TesseraError) as error:
        operands_of(replace(BY_HAND, accesses=more))
    assert error.value.code == "two-frames" and "0xa" in error.value.found
