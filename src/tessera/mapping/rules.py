"""The reasons to reject a mapping file: one row per rule (docs/mappings.md). Codes are stable."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError


@dataclass(frozen=True)
class Rule:
    """The text after the value, and the next step."""

    found: str
    remedy: str


_AGAIN = "correct the row, or make the file again: tessera mapping generate --help"
_SAVE = (
    "save it in UTF-8 without a byte order mark, with commas between cells (docs/table-files.md, Mappings)"
)

RULES = {
    "mapping/header": Rule(
        "the first line must be epoch,pool,page,frame,pages,page_size", "make this the first line of the file"
    ),
    "mapping/columns": Rule("a row must have 6 cells", "write epoch,pool,page,frame,pages,page_size"),
    "mapping/pool": Rule("the pool must be brk or mmap", "write one of the two pools"),
    "mapping/number": Rule(
        "must be a whole number in decimal digits, without a sign",
        "write digits only; only a frame may be empty",
    ),
    "mapping/page-size": Rule("the page size must be 4KB, 2MB or 1GB", "write one of the three sizes"),
    "mapping/range": Rule(
        "out of range: epoch < 2^63, page and pages < 2^36, frame < 2^40, pages at least 1", _AGAIN
    ),
    "mapping/unmapped-size": Rule(
        "a range without a frame (unmapped) must have the page size 4KB", "write 4KB in this row"
    ),
    "mapping/alignment": Rule(
        "page, frame and pages must be multiples of the page size (in pages of 4KB)", _AGAIN
    ),
    "mapping/unsorted": Rule(
        "rows must be sorted by epoch, pool (brk first) and page", "sort the rows by these three columns"
    ),
    "mapping/overlap": Rule(
        "begins inside the range of the row above, of the same epoch and pool", "end the row above earlier"
    ),
    "mapping/no-rows": Rule("the file has no rows, so no page is mapped", _AGAIN),
    "mapping/first-epoch": Rule(
        "the first epoch must be 0, with every page that is mapped then", "give the first rows the epoch 0"
    ),
    "mapping/first-unmapped": Rule(
        "the first epoch must not have a row without a frame: nothing is mapped before it", "remove the row"
    ),
    "mapping/cut-page": Rule(
        "the range replaces a part of a larger page", "add rows for the rest of that page in this epoch"
    ),
    "mapping/frames": Rule("two pages have the same frame at the same time", _AGAIN),
}


class MappingRefused(TesseraError):
    """The error for a file that breaks a rule; ``rule`` (also ``code``) names it, ``line`` counts from 1.

    ``why`` says how the file was saved, if that is what is wrong.
    """

    def __init__(self, name: Path | str, line: int, column: str, value: object, rule: str, why: str = ""):
        words = RULES[rule]
        super().__init__(
            f"mapping {name} line {line}, column {column}",
            f"'{_shown(str(value))}': {words.found} [{rule}]{why}",
            f"{words.remedy}; {_SAVE}" if why else words.remedy,
            code=rule,
        )
        self.rule = rule
        self.line = line


def _shown(value: str, most: int = 40) -> str:
    """The beginning of a value; a byte that is not printable becomes ``\\xNN``."""
    cut = "".join(c if " " <= c <= "~" else f"\\x{ord(c):02x}" for c in value[:most])
    return cut + "..." * (len(value) > most)
