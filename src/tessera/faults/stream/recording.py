"""A recording of Linux's faults in a folder.

- ``recording.json``: kernel, machine, program, what was dropped;
- ``faults.xz``: chosen faults of each kind with a structure for each access (:mod:`format`);
- ``counts.csv``: the counts of every fault, in order.
"""

from __future__ import annotations

import csv
import io
import json
import lzma
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import writing
from tessera.faults.stream.counts import Count
from tessera.faults.stream.format import LINE_BYTES, Dropped, Fault, faults, text
from tessera.faults.stream.structures import PAGE, Structures

FACTS, FAULTS, COUNTS = "recording.json", "faults.xz", "counts.csv"
#: Chosen faults of a kind: the first with the most common number of instructions, and all.
COMMON, MOST = 4, 8
#: Size of the page that a touch gets, if it is not 4KB.
PAGE_BYTES = {"write-2mb": 2 << 20}


@dataclass(frozen=True)
class Recording:
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
        chosen = "\n".join([*text(fault for all_ in self.chosen.values() for fault in all_), ""])
        facts = self.facts | {"kinds": {f"{pc:x}": name for pc, name in kinds.items()}}
        _write(folder / COUNTS, rows.getvalue().encode())
        _write(folder / FAULTS, lzma.compress(chosen.encode(), preset=9 | lzma.PRESET_EXTREME))
        _write(folder / FACTS, (json.dumps(facts, indent=2) + "\n").encode())


def load(folder: Path) -> Recording:
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
    for fault in faults(lines, str(folder / FAULTS)):
        if isinstance(fault, Dropped):
            raise _damaged(folder, f"{FAULTS} has a dropped fault")
        if fault.pc not in kinds:
            raise _damaged(folder, f"{FAULTS} has a fault at {fault.pc:x}, which {FACTS} does not name")
        chosen[kinds[fault.pc]].append(fault)
    return Recording(facts, dict(chosen), _read_counts(folder))


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
        f"recording {folder}", found, "record it: ./run tessera faults stream record --out FOLDER"
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


def named(fault: Fault, kind: str, structures: Structures) -> Fault:
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
