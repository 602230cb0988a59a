"""``evidence.csv``: what is known of a walk's cost before its first load, and whether a source may decide it.

A paper's own numbers may bound the value or stand beside it. They never decide: claims of the same paper are
judged with the value. The reader refuses a file that breaks this rule.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError

FILE = Path(__file__).with_name("evidence.csv")
COLUMNS = ("source", "processor", "what", "cycles_low", "cycles_high", "may_decide", "why")
#: papers whose claims are judged with the value; their sources begin with these words
JUDGED = ("MICRO'20", "OPERA", "Mitosis")
_TRUTH = {"true": True, "false": False}


@dataclass(frozen=True)
class Source:
    """One source; ``None``: it gives no such bound."""

    source: str
    processor: str
    what: str
    cycles_low: float | None
    cycles_high: float | None
    may_decide: bool
    why: str


def sources(path: Path = FILE) -> tuple[Source, ...]:
    """All sources, in the order of the file.

    Raises:
        TesseraError: other columns, an empty text, a wrong number, or a judged paper that would decide.
    """
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise _bad(path, 1, f"columns {reader.fieldnames}; expected {', '.join(COLUMNS)}")
        return tuple(_source(path, number, row) for number, row in enumerate(reader, 2))


def deciding(found: tuple[Source, ...]) -> tuple[Source, ...]:
    """The sources that may decide the value."""
    return tuple(one for one in found if one.may_decide)


def _source(path: Path, line: int, row: dict) -> Source:
    if None in row or None in row.values():
        raise _bad(path, line, f"not {len(COLUMNS)} cells")
    if empty := [name for name in ("source", "processor", "what", "why") if not row[name].strip()]:
        raise _bad(path, line, f"{', '.join(empty)} is empty")
    if row["may_decide"] not in _TRUTH:
        raise _bad(path, line, f"may_decide is '{row['may_decide']}'; it must be true or false")
    low, high = (_cycles(path, line, row, name) for name in ("cycles_low", "cycles_high"))
    if low is not None and high is not None and low > high:
        raise _bad(path, line, f"cycles_low {low:g} is above cycles_high {high:g}")
    decides = _TRUTH[row["may_decide"]]
    if decides and (low is None or high is None):
        raise _bad(path, line, "a source that may decide needs cycles_low and cycles_high")
    if decides and row["source"].startswith(JUDGED):
        raise _bad(path, line, f"'{row['source']}' would decide claims of its own paper")
    return Source(row["source"], row["processor"], row["what"], low, high, decides, row["why"])


def _cycles(path: Path, line: int, row: dict, name: str) -> float | None:
    if not row[name]:
        return None
    try:
        value = float(row[name])
    except ValueError:
        value = -1.0
    if not 0 <= value < 4000:  # as the simulator's key
        raise _bad(path, line, f"{name} is '{row[name]}', not a number of cycles from 0 to 4000")
    return value


def _bad(path: Path, line: int, found: str) -> TesseraError:
    return TesseraError(f"evidence {path.name} line {line}", found, "see docs/studies.md, Cost of a walk")
