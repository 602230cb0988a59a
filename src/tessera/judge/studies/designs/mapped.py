"""The mappings of the study: one of each kind for the pools that a window uses, and what they look like.

A kind is one of ``tessera mapping generate``, also a guest over its host (:mod:`tessera.mapping.nested`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.mapping import nested, regions
from tessera.mapping import states as mapping_states
from tessera.mapping.file import write_mapping
from tessera.mapping.kinds import Request
from tessera.mapping.summary import Summary
from tessera.mapping.touches import Touches, read_touches
from tessera.record import traces
from tessera.results.status import FAILED, OK

#: As in Table 3.4 and 3.5.1 of Park: those of an operating system, then those of synthetic chunks.
KINDS = ("demand", "eager", "low", "medium", "high", "max")


@dataclass(frozen=True)
class Made:
    """The files by kind, and a row of the table of mappings for each kind that was asked for."""

    files: dict[str, Path]
    rows: list[dict]


def check_kinds(asked: Sequence[str]) -> None:
    """Raises TesseraError for a kind that ``tessera mapping generate`` does not know."""
    for kind in asked:
        nested.parts(kind)


def make(trace: Path, asked: Sequence[str], seed: int, folder: Path, progress: Callable[[str], None]) -> Made:
    """Write ``<kind>.csv`` of each kind into ``folder``. A kind that cannot be made is a ``failed`` row.

    The order of first touches (kind ``demand``) is that of the window.

    Raises:
        TesseraError: the trace uses no pool, or is damaged.
    """
    check_kinds(asked)
    info = traces.info(trace)
    used, touches = regions.of_trace(info), _touches(trace, folder)
    about = {"seed": seed, "accesses": info["accesses"], "touched_pages": len(touches.page)}
    made = Made({}, [])
    for kind in dict.fromkeys(asked):
        progress(f"mapping {kind}")
        row = {"mapping": kind, "provenance": "simulated"} | about
        try:
            rows = nested.make(kind, _request(kind, used, seed, touches)).rows
            written = mapping_states.Mapping.fixed(kind, rows)
            write_mapping(written, folder / f"{kind}.csv")
        except TesseraError as error:
            message = f"{error.asked}: {error.found}; {error.remedy}"
            made.rows.append(row | {"status": FAILED, "message": message})
            continue
        made.files[kind] = folder / f"{kind}.csv"
        made.rows.append(row | {"status": OK, "message": ""} | described(Summary.of(written.at(0))))
    return made


def described(found: Summary) -> Mapping[str, float]:
    """Columns of the table of mappings."""
    pages, chunks = found.mapped_pages, found.histogram.chunks
    row = {
        "mapped_pages": pages,
        "chunks": chunks,
        "pages_per_chunk": pages / chunks if chunks else None,
        "share_2mb": found.share("2MB"),
    }
    for reading, (distance, cost) in found.distances.items():
        row |= {f"distance_{reading}": distance, f"cost_{reading}": cost}
    return row


def _request(kind: str, used: list, seed: int, touches: Touches) -> Request:
    return Request(used, seed=seed, touches=touches if nested.needs_touches(kind) else None)


def _touches(trace: Path, folder: Path) -> Touches:
    file = folder / "touches.txt"
    traces.touches(trace, file)
    return read_touches(file)
