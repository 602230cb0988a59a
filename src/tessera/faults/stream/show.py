"""A recording as lines for people."""

from __future__ import annotations

from tessera.faults.comb import comb
from tessera.faults.kinds import BATCH, TABLE
from tessera.faults.stream.counts import in_order, largest, lines_by_structure, ordinary, summary
from tessera.faults.stream.recording import Recording

Lines = tuple[list[str], list[list[str]]]
#: Instructions vary less than time: a tooth has this many times those around it.
FACTOR = 1.2
NONE = (0, 0, 0)


def kind_lines(recording: Recording) -> Lines:
    """A line for each kind: counts of all its faults."""
    heads = [
        "kind", "faults", "instructions: least", "median", "largest", "loads", "stores", "bytes by strings",
        "lines of 64 bytes",
    ]  # fmt: skip
    rows = []
    for kind, counts in recording.counts.items():
        one = summary(counts)
        numbers = (*one.instructions, one.loads, one.stores, one.string_bytes, one.lines)
        rows.append([kind, str(one.faults), *(f"{number:,.0f}" for number in numbers)])
    return heads, rows


def structure_lines(recording: Recording, kind: str) -> Lines:
    """A line for each structure: lines of 64 bytes of the ordinary fault, and of the largest."""
    heads = ["structure", "lines loaded", "lines stored", "lines", "lines of the largest fault"]
    one, other = (lines_by_structure(of(recording.chosen[kind])) for of in (ordinary, largest))
    names = sorted({*one, *other}, key=lambda name: [-both.get(name, NONE)[2] for both in (one, other)])
    return heads, [[name, *map(str, one.get(name, NONE)), str(other.get(name, NONE)[2])] for name in names]


def comb_lines(recording: Recording) -> Lines:
    """The combs of the kinds that have them, in instructions instead of time."""
    heads = ["kind", "reason", "period", "hits", "asked", "extra instructions"]
    rows = []
    for kind, teeth in (("write-4kb", TABLE), ("write-4kb", BATCH), ("read-zero", TABLE)):
        found = comb([in_order(recording.counts[kind])], teeth, FACTOR)
        rows.append(
            [kind, teeth.reason, str(teeth.period), str(found.hits), str(found.asked), f"{found.extra:,.0f}"]
        )
    return heads, rows
