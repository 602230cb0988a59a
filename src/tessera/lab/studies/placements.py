"""What a study simulates a window under: layouts of a manifest, and mappings of each kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import ALL_1GB, canonical_name
from tessera.core.mapping import kinds, synthetic
from tessera.core.mapping.contiguity import MappingSummary
from tessera.core.mapping.kinds import MappingInputs
from tessera.core.mapping.mapping_file import write_mapping
from tessera.core.mapping.page_mapping import PageMapping
from tessera.core.mapping.paging import Touches, read_touches
from tessera.core.platforms import Platform
from tessera.core.results.cell_tables import MANIFEST
from tessera.core.results.outcomes import FAILED, OK
from tessera.core.results.table_io import read_file
from tessera.lab.study import Inputs, Names, Recording, Run
from tessera.record import traces
from tessera.simulate.runner import CellCache
from tessera.simulate.sampling import FULL, Plan

# Which layouts of a manifest a study simulates.


def chosen_layouts(manifest: Path, names: list[str] | None = None) -> list[Path]:
    """Files of the named layouts in that order; without names, all of the manifest except ``1gb``,
    which is never fitted.

    Raises:
        TesseraError: the manifest is empty (the trace failed) or lacks a name.
    """
    there = list(read_file(MANIFEST, manifest)["layout"])
    if not there:
        raise TesseraError(
            f"layouts of {manifest}", "the manifest is empty", "see the message of the trace, then run again"
        )
    wanted = [canonical_name(name) for name in names] if names else [n for n in there if n != ALL_1GB]
    if missing := [name for name in wanted if name not in there]:
        raise TesseraError(
            f"layouts {', '.join(missing)}", f"they are not in {manifest}", f"use some of: {', '.join(there)}"
        )
    return [manifest.with_name(f"{name}.csv") for name in wanted]


def inputs_under_layouts(
    run: Run,
    trace: Recording,
    manifest: Path,
    platform: Platform,
    cache: CellCache,
    layouts: Names,
    sampling: Plan = FULL,
    jobs: int = 1,
) -> Inputs:
    """What a study of a recording simulates under these layouts; a failed recording is said first.

    Raises:
        TesseraError: the recording failed (it has no layouts, either), or as :func:`chosen_layouts`.
    """
    recorded = trace.trace
    files = chosen_layouts(manifest, layouts)
    return Inputs(trace.workload, recorded, platform, files, cache, sampling, jobs, run.say)


# Mappings: one of each kind for the pools that a window uses, and what they look like.
#
# A kind is one of ``tessera mapping generate``, also a guest over its host
# (:mod:`tessera.core.mapping.kinds`).

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
        kinds.kinds_of_name(kind)


def make_mappings(
    trace: Path, asked: Sequence[str], seed: int, folder: Path, progress: Callable[[str], None]
) -> Made:
    """Write ``<kind>.csv`` of each kind into ``folder``. A kind that cannot be made is a ``failed`` row.

    The order of first touches (kind ``demand``) is that of the window.

    Raises:
        TesseraError: the trace uses no pool, or is damaged.
    """
    check_kinds(asked)
    info = traces.trace_info(trace)
    used, touches = synthetic.regions_of_trace(info), _touches(trace, folder)
    about = {"seed": seed, "accesses": info["accesses"], "touched_pages": len(touches.page)}
    made = Made({}, [])
    for kind in dict.fromkeys(asked):
        progress(f"mapping {kind}")
        row = {"mapping": kind, "provenance": "simulated"} | about
        try:
            rows = kinds.make_mapping(kind, _request(kind, used, seed, touches)).rows
            written = PageMapping.fixed(kind, rows)
            write_mapping(written, folder / f"{kind}.csv")
        except TesseraError as error:
            made.rows.append(row | {"status": FAILED, "message": error.sentence})
            continue
        made.files[kind] = folder / f"{kind}.csv"
        made.rows.append(row | {"status": OK, "message": ""} | described(MappingSummary.of(written.at(0))))
    return made


def described(found: MappingSummary) -> Mapping[str, float]:
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


def _request(kind: str, used: list, seed: int, touches: Touches) -> MappingInputs:
    return MappingInputs(used, seed=seed, touches=touches if kinds.needs_touches(kind) else None)


def _touches(trace: Path, folder: Path) -> Touches:
    file = folder / "touches.txt"
    traces.write_touches(trace, file)
    return read_touches(file)
