"""Notes on a trace that has, or that layouts reach, only a part of a program: written and read here only.

They are parts of the column ``message`` of cells (docs/contracts.md).

- A trace has the accesses of one thread. If more threads ran in its region of interest, all that is simulated
  from it belongs to that thread, not to the program: ``one of 8 threads``, with the thread's number by
  creation and its share of the blocks if the trace has them: ``one of 8 threads (thread 3, 12.50% of their
  blocks)``.
- Accesses of an imported trace to pages in no pool have 4KB pages under every layout: ``33.6% of accesses
  outside the pools``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

#: Between the parts of a message.
SEPARATOR = "; "
#: Behind the name of a workload in figures and pages.
MARK = "\u2020"
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
    return joined(thread_note(info), pools_note(info))


def note_in(message: object) -> str:
    """The notes in a message; empty if it has none (or if it is no text, as an empty cell)."""
    parts = message.split(SEPARATOR) if isinstance(message, str) else []
    return joined(*(part for part in parts if _THREADS.fullmatch(part) or _POOLS.fullmatch(part)))


def notes_in(messages: Iterable) -> list[str]:
    """The different notes in messages, in their order."""
    return list(dict.fromkeys(filter(None, map(note_in, messages))))


def note_of_all(messages: Iterable) -> str:
    """The different notes in messages, as one part of a message."""
    parts = SEPARATOR.join(notes_in(messages)).split(SEPARATOR)
    return joined(*dict.fromkeys(parts))


def joined(*parts: str) -> str:
    """One message of its parts; empty ones are left out."""
    return SEPARATOR.join(filter(None, parts))


def sentence(note: str) -> str:
    """What the note means for a reader of the numbers; empty without a note."""
    meanings = []
    for part in filter(None, note.split(SEPARATOR)):
        if _POOLS.fullmatch(part):
            meanings.append(f"the trace has {part}: they have 4KB pages under every layout")
        else:
            meanings.append(f"the trace has {part}: its numbers are those of this thread, not of the program")
    return SEPARATOR.join(meanings)
