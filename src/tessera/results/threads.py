"""The note on a recording of one of several threads: written and read here, and nowhere else.

A trace has the accesses of one thread. If more threads ran in its region of interest, all that is simulated
from it belongs to that thread, not to the program. The note is one part of the column ``message`` of cells
(docs/contracts.md): ``one of 8 threads``, with the thread's number by creation and its share of the blocks if
the trace has them: ``one of 8 threads (thread 3, 12.50% of their blocks)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

#: Between the parts of a message.
SEPARATOR = "; "
#: Behind the name of a workload in figures and pages.
MARK = "\u2020"
_NOTE = re.compile(r"one of \d+ threads( \(thread \d+, \d+\.\d\d% of their blocks\))?")


def note_of(info: Mapping) -> str:
    """The note of a trace from :func:`tessera.record.traces.info` or an info.json; empty for one thread."""
    threads = info.get("threads") or 1
    if threads < 2:
        return ""
    text = f"one of {threads} threads"
    if thread := info.get("thread"):
        share = thread["blocks"] / max(1, thread["all_blocks"])
        text += f" (thread {thread['number']}, {share:.2%} of their blocks)"
    return text


def note_in(message: object) -> str:
    """The note in a message; empty if it has none (or if it is no text, as an empty cell)."""
    parts = message.split(SEPARATOR) if isinstance(message, str) else []
    return next((part for part in parts if _NOTE.fullmatch(part)), "")


def notes_in(messages: Iterable) -> list[str]:
    """The different notes in messages, in their order."""
    return list(dict.fromkeys(filter(None, map(note_in, messages))))


def joined(*parts: str) -> str:
    """One message of its parts; empty ones are left out."""
    return SEPARATOR.join(filter(None, parts))


def sentence(note: str) -> str:
    """What the note means for a reader of the numbers; empty without a note."""
    return note and f"the trace has {note}: its numbers are those of this thread, not of the program"
