"""Status of rows, outcomes of parts and recordings, and notes on traces that lack a part of the program."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tessera.core.errors import TesseraError
from tessera.core.results.tree import TRACE_NAME

if TYPE_CHECKING:
    import pandas as pd


# Status of a row, a recording or a part of a run. Numbers count only if it is `ok`.

OK, FAILED, SKIPPED = STATUSES = ("ok", "failed", "skipped")


def is_ok(record: Mapping | str) -> bool:
    """Whether the status of a row (or of info.json, or attempt.json) is ok. Also takes a status itself."""
    return (record if isinstance(record, str) else record["status"]) == OK


def ok_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Rows whose ``status`` is ok; all rows if the table has no such column (samples of a user)."""
    return table[table["status"].astype(str) == OK] if "status" in table.columns else table


def other_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that :func:`ok_rows` leaves out."""
    return table[table["status"].astype(str) != OK] if "status" in table.columns else table.iloc[:0]


# Outcomes of the parts of a run that can fail (docs/contracts.md, "Parts of the kernel").

#: Name of the file in a part's folder.
OUTCOME_FILE = "attempt.json"


def part_outcomes(folder: Path) -> dict[str, dict]:
    """Part -> outcome, for every attempted part below ``folder``."""
    return {
        path.parent.name: json.loads(path.read_text()) for path in sorted(folder.glob(f"*/{OUTCOME_FILE}"))
    }


# Recordings: info.json has the outcome; the trace is beside it (docs/contracts.md, "Traces").


def read_recording(info_path: Path) -> tuple[dict, Path]:
    """The info of a recording and the path of its trace.

    Raises:
        TesseraError: the file is not the info.json of a recording.
    """
    try:
        info = json.loads(info_path.read_text())
    except ValueError as error:
        remedy = "name the info.json of a recording; ./run reproduce makes them"
        raise TesseraError(f"recording {info_path}", f"not JSON: {error}", remedy) from error
    return info, info_path.with_name(TRACE_NAME)


# Notes on a trace that has, or that layouts reach, only a part of a program: written and read here only.
#
# They are parts of the column ``message`` of cells (docs/contracts.md).
#
# - A trace has the accesses of one thread. If more threads ran in its region of interest, all that is
#   simulated from it belongs to that thread, not to the program: ``one of 8 threads``, with the thread's
#   number by creation and its share of the blocks if the trace has them: ``one of 8 threads (thread 3,
#   12.50% of their blocks)``.
# - Accesses of an imported trace to pages in no pool have 4KB pages under every layout: ``33.6% of accesses
#   outside the pools``.

#: Between the parts of a message.
NOTE_SEPARATOR = "; "
#: Behind the name of a workload in figures and pages.
NOTE_MARK = "\u2020"
#: A smaller share outside the pools is no note: a stack and the program's own data are there.
LEAST_OUTSIDE = 0.01
_THREADS = re.compile(r"one of \d+ threads( \(thread \d+, \d+\.\d\d% of their blocks\))?")
_POOLS = re.compile(r"\d+\.\d% of accesses outside the pools")


def thread_note(info: Mapping) -> str:
    """The note of a trace from :func:`tessera.record.traces.info` or an info.json; empty for one thread."""
    threads = info.get("threads") or 1
    if threads < 2:
        return ""
    text = f"one of {threads} threads"
    if thread := info.get("thread"):
        share = thread["blocks"] / max(1, thread["all_blocks"])
        text += f" (thread {thread['number']}, {share:.2%} of their blocks)"
    return text


def pools_note(info: Mapping) -> str:
    """The note on accesses outside the pools; empty below :data:`LEAST_OUTSIDE`, and for recordings.

    The tracer does not count these accesses in recordings: its allocator puts what a program allocates into
    the pools.
    """
    outside, accesses = info.get("outside_accesses"), info.get("accesses")
    if not outside or not accesses or outside < LEAST_OUTSIDE * accesses:
        return ""
    return f"{outside / accesses:.1%} of accesses outside the pools"


def note_of(info: Mapping) -> str:
    """All notes of a trace, as one part of a message; empty if there are none."""
    return joined_notes(thread_note(info), pools_note(info))


def note_in(message: object) -> str:
    """The notes in a message; empty if it has none (or if it is no text, as an empty cell)."""
    parts = message.split(NOTE_SEPARATOR) if isinstance(message, str) else []
    return joined_notes(*(part for part in parts if _THREADS.fullmatch(part) or _POOLS.fullmatch(part)))


def notes_in(messages: Iterable) -> list[str]:
    """The different notes in messages, in their order."""
    return list(dict.fromkeys(filter(None, map(note_in, messages))))


def note_of_all(messages: Iterable) -> str:
    """The different notes in messages, as one part of a message."""
    parts = NOTE_SEPARATOR.join(notes_in(messages)).split(NOTE_SEPARATOR)
    return joined_notes(*dict.fromkeys(parts))


def joined_notes(*parts: str) -> str:
    """One message of its parts; empty ones are left out."""
    return NOTE_SEPARATOR.join(filter(None, parts))


def note_sentence(note: str) -> str:
    """What the note means for a reader of the numbers; empty without a note."""
    meanings = []
    for part in filter(None, note.split(NOTE_SEPARATOR)):
        if _POOLS.fullmatch(part):
            meanings.append(f"the trace has {part}: they have 4KB pages under every layout")
        else:
            meanings.append(f"the trace has {part}: its numbers are those of this thread, not of the program")
    return NOTE_SEPARATOR.join(meanings)
