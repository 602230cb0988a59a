"""The reasons to reject a layout file: one row per rule (docs/layout-format.md).

The allocator and the simulator use the same table, ``rules.h`` in ``artifacts/layout-format``. A test checks
that both tables and the document agree. Codes are stable, texts are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError

#: Most windows in a file, over all pools and page sizes.
MAX_WINDOWS = 16384


@dataclass(frozen=True)
class Rule:
    """The text after the value (some rules append a number), and the next step."""

    found: str
    remedy: str


RULES = {
    "layout/byte": Rule("must be printable ASCII, a tab or a line end", "save the file as plain ASCII text"),
    "layout/quote": Rule("must not contain quotes", "write the cells without quotes"),
    "layout/header": Rule(
        "must be type,pageSize,startOffset,endOffset", "make this the first line of the file"
    ),
    "layout/columns": Rule("must have 4 columns, has", "write exactly type,pageSize,startOffset,endOffset"),
    "layout/type": Rule("must be one of brk, mmap, file", "write one of the three types"),
    "layout/page-size": Rule(
        "must be -1 or one of 4096, 2097152, 1073741824", "write one of these page sizes"
    ),
    "layout/file-pages": Rule("the file pool has 4KB pages only", "remove the row"),
    "layout/pool-twice": Rule("this pool already has a size row on line", "remove one of the two rows"),
    "layout/size": Rule(
        "must be bytes or a size like 64MB", "write digits with an optional unit: 4096, 64MB, 2GiB"
    ),
    "layout/too-large": Rule("must be below 2^63 bytes", "write a smaller size"),
    "layout/pool-start": Rule("must be 0 in a row that gives a pool's size", "write 0"),
    "layout/alignment": Rule("must be a multiple of the page size", "round the offset to such a multiple"),
    "layout/empty-window": Rule("must be above startOffset", "correct the row or remove it"),
    "layout/window-limit": Rule("too many windows in one layout, the limit is", "merge adjacent windows"),
    "layout/outside-pool": Rule(
        "the window ends outside its pool of", "enlarge the pool in its size row, or end the window inside it"
    ),
    "layout/overlap": Rule("overlaps the window", "move or shorten one of the two windows"),
}


class LayoutRefused(TesseraError):
    """The error for a file that breaks a rule; ``rule`` is the code, ``line`` counts from 1."""

    def __init__(self, path: Path, line: int, column: str, value: str, rule: str, detail: object = ""):
        words = RULES[rule]
        found = f"{words.found} {detail}" if detail != "" else words.found
        super().__init__(
            f"layout {path} line {line}, column {column}",
            f"'{_shown(value)}': {found} [{rule}]",
            words.remedy,
        )
        self.rule = rule
        self.line = line


def _shown(value: str, most: int = 40) -> str:
    """The beginning of a value; a byte that is not printable becomes ``\\xNN``."""
    cut = "".join(c if " " <= c <= "~" else f"\\x{ord(c):02x}" for c in value[:most])
    return cut + "..." * (len(value) > most)
