"""Recorded faults: their text, and their counts."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tessera.core.errors import TesseraError

# A recording of page faults as text: what the plugin writes, and the same with a structure for each access.
#
# ::
#
#     tessera-fault-stream 1
#     fault 401925                           address of the instruction that faulted
#     4 s fffffe0000002fc8 1e614fc8 8 stack  4 instructions, the last one stores 8 bytes: two addresses
#     1 S ffff888003000000 3000000 4096 page accesses of a repeated string instruction, which counts once
#     end 12 0 0                             12 more instructions; interrupts; their instructions, taken out
#     touch 7f0000200000 3000000 1           the access of the instruction that faulted, repeated
#
# ``l`` and ``L`` are loads. A fault may end with ``drop REASON`` instead: it is left out. Addresses are
# hexadecimal, the virtual one first. The last word of an access is its structure, with ``_`` for spaces; the
# plugin leaves it out.

RECORDING_HEAD = "tessera-fault-stream 1"
LINE_BYTES = 64
#: The longest run of a string instruction: a 1GB page.
MOST_BYTES = 1 << 30
_HEX = re.compile(r"[0-9a-f]{1,16}")
_DECIMAL = re.compile(r"[0-9]{1,12}")
_NAME = re.compile(r"[A-Za-z0-9_:.-]{1,64}")
ACCESS_KINDS = {"l": (False, False), "s": (True, False), "L": (False, True), "S": (True, True)}


@dataclass(frozen=True, slots=True)
class Access:
    """A load or store.

    Attributes:
        instructions: since the access before; the last of them makes this access.
        string: of a repeated string instruction, all its consecutive accesses together.
        structure: name; empty if unknown.
    """

    instructions: int
    store: bool
    string: bool
    virtual: int
    physical: int
    bytes_: int
    structure: str = ""

    @property
    def lines(self) -> range:
        """Physical lines of 64 bytes, by number."""
        return range(self.physical // LINE_BYTES, (self.physical + self.bytes_ - 1) // LINE_BYTES + 1)


@dataclass(frozen=True)
class Fault:
    """A page fault from the kernel's entry to the program's next instruction.

    Attributes:
        pc: address of the instruction that faulted.
        accesses: in order.
        tail: instructions after the last access.
        interrupts: that were taken out, with their instructions in ``removed``.
        touch: virtual and physical address that the instruction then accessed.
    """

    pc: int
    accesses: tuple[Access, ...]
    tail: int
    interrupts: int
    removed: int
    touch: tuple[int, int]

    @property
    def instructions(self) -> int:
        """All instructions; a repeated string instruction counts once."""
        return sum(access.instructions for access in self.accesses) + self.tail


@dataclass(frozen=True)
class Dropped:
    """A fault that is left out.

    Attributes:
        pc: address of the instruction that faulted.
        reason: a word of the plugin.
    """

    pc: int
    reason: str


class _Damaged(Exception):
    """A wrong line; the text is the reason."""


def faults_of_lines(lines: Iterable[str], owner: str) -> Iterator[Fault | Dropped]:
    """The faults of a recording, in order.

    Args:
        owner: names the recording in errors.

    Raises:
        TesseraError: a line is wrong, or the recording ends inside a fault.
    """
    numbered = _Numbered(lines)
    try:
        if next(numbered, "").rstrip("\n") != RECORDING_HEAD:
            raise _Damaged(f"the first line must be '{RECORDING_HEAD}'")
        for line in numbered:
            words = _words(line)
            if words[0] != "fault" or len(words) != 2:
                raise _Damaged("a fault must begin here")
            yield _fault(_hexadecimal(words[1]), numbered)
    except _Damaged as error:
        raise TesseraError(
            f"recording {owner} line {numbered.number}",
            str(error),
            "record again: ./run tessera lab faults stream record",
        ) from None


class _Numbered:
    """Lines, with the number of the last one that was taken."""

    def __init__(self, lines: Iterable[str]):
        self._lines, self.number = iter(lines), 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        return line


def _fault(pc: int, lines: Iterator[str]) -> Fault | Dropped:
    """The fault whose first line was read."""
    accesses: list[Access] = []
    end: list[int] | None = None
    for line in lines:
        words = _words(line)
        if words[0] == "drop" and len(words) == 2:
            return Dropped(pc, words[1])
        if words[0] == "end" and len(words) == 4 and end is None:
            end = [_decimal(word) for word in words[1:]]
        elif words[0] == "touch" and len(words) == 4 and end is not None:
            touch = _hexadecimal(words[1]), _hexadecimal(words[2])
            _decimal(words[3])
            return Fault(pc, tuple(accesses), end[0], end[1], end[2], touch)
        elif len(words) in (5, 6) and words[1] in ACCESS_KINDS and end is None:
            accesses.append(_access(words))
        else:
            raise _Damaged(f"'{line.strip()[:60]}' cannot follow")
    raise _Damaged("the recording ends inside a fault")


def _access(words: list[str]) -> Access:
    store, string = ACCESS_KINDS[words[1]]
    bytes_ = _decimal(words[4])
    if not 1 <= bytes_ <= MOST_BYTES or (bytes_ > LINE_BYTES and not string):
        raise _Damaged(f"an access of {bytes_} bytes")
    name = words[5] if len(words) == 6 else ""
    if name and not _NAME.fullmatch(name):
        raise _Damaged(f"'{name[:60]}' is no structure")
    return Access(
        _decimal(words[0]), store, string, _hexadecimal(words[2]), _hexadecimal(words[3]), bytes_,
        name.replace("_", " "),
    )  # fmt: skip


def _words(line: str) -> list[str]:
    return line.split() or [""]


def _hexadecimal(word: str) -> int:
    if not _HEX.fullmatch(word):
        raise _Damaged(f"'{word[:30]}' is no hexadecimal address")
    return int(word, 16)


def _decimal(word: str) -> int:
    if not _DECIMAL.fullmatch(word):
        raise _Damaged(f"'{word[:30]}' is no number")
    return int(word)


def text_of_faults(found: Iterable[Fault]) -> Iterator[str]:
    """The lines of a recording of these faults."""
    yield RECORDING_HEAD
    letters = {value: key for key, value in ACCESS_KINDS.items()}
    for fault in found:
        yield f"fault {fault.pc:x}"
        for one in fault.accesses:
            name = f" {one.structure.replace(' ', '_')}" if one.structure else ""
            letter = letters[one.store, one.string]
            yield f"{one.instructions} {letter} {one.virtual:x} {one.physical:x} {one.bytes_}{name}"
        yield f"end {fault.tail} {fault.interrupts} {fault.removed}"
        yield f"touch {fault.touch[0]:x} {fault.touch[1]:x} 1"


# Counts of recorded faults: instructions, loads, stores, lines, and lines by structure.
#
# A line is 64 bytes of physical memory, and counts once in a fault and structure, however often it is
# accessed. A repeated string instruction counts as one instruction, and each of its runs of bytes as one
# load or store.


@dataclass(frozen=True)
class Count:
    """Counts of one fault; ``number`` is its place among the faults of its kind, dropped ones included."""

    number: int
    instructions: int
    loads: int
    stores: int
    string_bytes: int
    lines: int
    interrupts: int


def counts_of_fault(fault: Fault, number: int) -> Count:
    """Count one fault."""
    stores = sum(access.store for access in fault.accesses)
    lines: set[int] = set()
    for access in fault.accesses:
        lines.update(access.lines)
    return Count(
        number, fault.instructions, len(fault.accesses) - stores, stores,
        sum(access.bytes_ for access in fault.accesses if access.string), len(lines), fault.interrupts,
    )  # fmt: skip


def lines_by_structure(fault: Fault) -> dict[str, tuple[int, int, int]]:
    """Structure -> its lines that the fault loads, stores, or either."""
    loads, stores = defaultdict(set), defaultdict(set)
    for access in fault.accesses:
        (stores if access.store else loads)[access.structure].update(access.lines)
    return {
        name: (len(loads[name]), len(stores[name]), len(loads[name] | stores[name]))
        for name in dict.fromkeys([*loads, *stores])
    }


def ordinary(found: Sequence[Fault]) -> Fault:
    """The first fault with the most common number of instructions."""
    common, _ = Counter(fault.instructions for fault in found).most_common(1)[0]
    return next(fault for fault in found if fault.instructions == common)


def largest(found: Sequence[Fault]) -> Fault:
    """The first fault with the most instructions."""
    return max(found, key=lambda fault: fault.instructions)


def in_order(counts: Sequence[Count]) -> np.ndarray:
    """Instructions by the fault's number; dropped faults get the median."""
    made = np.full(max(one.number for one in counts) + 1, np.median([one.instructions for one in counts]))
    made[[one.number for one in counts]] = [one.instructions for one in counts]
    return made


@dataclass(frozen=True)
class Summary:
    """Counts of a kind: medians, and instructions at some quantiles."""

    faults: int
    instructions: tuple[float, float, float]  # least, median, largest
    loads: float
    stores: float
    string_bytes: float
    lines: float


def summary_of_counts(counts: Iterable[Count]) -> Summary:
    """Of at least one fault."""
    rows = list(counts)
    instructions = np.array([row.instructions for row in rows])
    medians = [
        float(np.median([getattr(row, name) for row in rows]))
        for name in ("loads", "stores", "string_bytes", "lines")
    ]
    ends = float(instructions.min()), float(np.median(instructions)), float(instructions.max())
    return Summary(len(rows), ends, *medians)
