"""Why a layout file is refused: one row a rule (docs/layout-format.md).

The allocator and the simulator have the same table, ``rules.h`` in ``artifacts/layout-format``; a test holds
the two and the document together. Codes are stable, words are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError

#: Windows of a file, of all pools and page sizes.
MAX_WINDOWS = 16384


@dataclass(frozen=True)
class Rule:
    """What is said behind the value (some rules add a number), and the next step."""

    found: str
    remedy: str


RULES = {
    "layout/byte": Rule("must be printable ASCII, tabs and line ends", "save the file as plain text"),
    "layout/quote": Rule("must have no quotes", "write the cells without quotes"),
    "layout/header": Rule("must be type,pageSize,startOffset,endOffset", "begin the file with this line"),
    "layout/columns": Rule(
        "must have 4 columns, has", "write type,pageSize,startOffset,endOffset and nothing else"
    ),
    "layout/type": Rule("must be one of brk, mmap, file", "correct the type"),
    "layout/page-size": Rule("must be -1 or one of 4096, 2097152, 1073741824", "correct the page size"),
    "layout/file-pages": Rule("the file pool has 4KB pages only", "drop the row"),
    "layout/pool-twice": Rule("a second size row of this pool, the first is line", "keep one of the two"),
    "layout/size": Rule(
        "must be bytes or a size like 64MB", "write digits, and a unit if you like: 4096, 64MB, 2GiB"
    ),
    "layout/too-large": Rule("must be below 2^63 bytes", "write a smaller size"),
    "layout/pool-start": Rule("must be 0 in a row that gives a pool's size", "write 0"),
    "layout/alignment": Rule("must be a multiple of the page size", "round the offset"),
    "layout/empty-window": Rule("must be above startOffset", "drop the row or correct it"),
    "layout/window-limit": Rule("one window too many, a layout has at most", "merge windows that touch"),
    "layout/outside-pool": Rule(
        "window outside its pool of", "enlarge the pool's row or end the window with the pool"
    ),
    "layout/overlap": Rule("overlaps the window", "let each byte have one page size"),
}


class LayoutRefused(TesseraError):
    """A file that breaks a rule; ``rule`` is the code, ``line`` counts from 1."""

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
    """The beginning of a value; ``\\xNN`` for what is not printable."""
    cut = "".join(c if " " <= c <= "~" else f"\\x{ord(c):02x}" for c in value[:most])
    return cut + "..." * (len(value) > most)
