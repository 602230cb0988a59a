"""Captures of one program under each combination of large pages, fragmented memory and co-runners.

Source of the three: Park (KAIST 2019), 3.2, who varied co-runners and machines.

A *case* is one combination. Each has a mapping file with its facts, and a row in ``matrix.csv``; a case that
failed has a row with the reason. The order is: fragment free memory, start the co-runners, capture. Frames of
one case are free again before the next one starts. The kernel may still keep some of them in lists of its
own, where they do not merge. If memory is therefore more fragmented than a case asks for, it is compacted
first, which returns these lists.

Settings of the machine are changed for the whole matrix, with permission only
(:mod:`tessera.machine.reserve.settings`): transparent huge pages on request, if no program could have them,
and no compaction of locked pages, which would undo the fragmentation.
"""

from __future__ import annotations

import contextlib
import csv
import io
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np

from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.core.mapping.contiguity import ChunkHistogram, MappingSummary
from tessera.core.mapping.free_blocks import machine_free_blocks, unusable_index
from tessera.core.mapping.mapping_file import read_mapping
from tessera.core.processes import module_command
from tessera.core.results.schema import columns
from tessera.machine.container.watchdog import ProgramHangs, watchdog
from tessera.machine.reserve.settings import changed_settings, chosen_word
from tessera.measure.mosalloc.background import co_running, fragmented_memory
from tessera.measure.mosalloc.pools import LARGE_PAGE_SYSFS

OK, FAILED = "ok", "failed"
TABLE, PICTURE = "matrix.csv", "contiguity.svg"
ENABLED = LARGE_PAGE_SYSFS / "enabled"
_VM = Path("/proc/sys/vm")
COMPACT = _VM / "compact_memory"  #: not a setting: each writing compacts once
#: setting -> value for the time of the matrix
QUIET = {_VM / "compact_unevictable_allowed": "0", _VM / "compaction_proactiveness": "0"}
MATRIX_TABLE = columns("""
case                text    -       name of the combination
thp                 text    -       setting of transparent huge pages
target_index        number  1       unusable index that was asked for; empty: memory is unchanged
co_runners          count   1       programs beside it
status              text    -       ok, or failed
message             text    -       the reason
index_before        number  1       unusable index before the fragmentation
index_at_start      number  1       the same at the start of the program
index_at_end        number  1       the same at its end
co_runners_at_end   count   1       co-runners that still ran then
mapped_pages        count   pages   as tessera mapping show prints it
chunks              count   chunks  as tessera mapping show prints it
median_chunk_pages  count   pages   half of the memory is in chunks of at most so many pages
share_2mb           number  1       as tessera mapping show prints it
distance_count      count   pages   as tessera mapping show prints it
mapping             text    -       file of the mapping
provenance          text    -       measured
""")
COLUMNS = tuple(column.name for column in MATRIX_TABLE)


@dataclass(frozen=True)
class MemoryState:
    """One combination; ``index`` is None if free memory stays as it is."""

    thp: str
    index: float | None
    co_runners: int

    @property
    def name(self) -> str:
        """``never-index-0.9-with-2``; stem of its mapping file."""
        index = "as-is" if self.index is None else f"{self.index:g}"
        return f"{self.thp}-index-{index}-with-{self.co_runners}"


@dataclass(frozen=True)
class Asked:
    """A matrix.

    Attributes:
        options: further options of ``tessera mapping capture``.
        partners: programs of co-runners; empty: copies of ``program``.
        warm_seconds: between the start of the co-runners and that of the program.
    """

    program: Sequence[str]
    folder: Path
    thp: Sequence[str]
    indices: Sequence[float | None]
    co_runners: Sequence[int]
    partners: Sequence[Sequence[str]] = ()
    options: Sequence[str] = ()
    warm_seconds: float = 2.0
    progress: Callable[[str], None] = field(default=lambda line: None)

    def cases(self) -> Iterator[MemoryState]:
        """Every combination once; large pages change first."""
        for index, copies, thp in product(self.indices, self.co_runners, self.thp):
            yield MemoryState(thp, index, copies)


def settings_for(asked: Asked, enabled: Path = ENABLED) -> dict[Path, str]:
    """The settings that the matrix needs and that this machine does not have."""
    found = {}
    breaks = any(index is not None for index in asked.indices)
    needs_pages = breaks or any(thp != "never" for thp in asked.thp)
    if needs_pages and enabled.exists() and chosen_word(enabled) == "never":
        found[enabled] = "madvise"
    if breaks:
        found |= {
            path: value for path, value in QUIET.items() if path.exists() and chosen_word(path) != value
        }
    return found


def capture_matrix(asked: Asked, *, allowed: bool | None = None) -> list[dict]:
    """Capture all cases; writes mappings, ``matrix.csv`` and ``contiguity.svg``. Returns the rows.

    Raises:
        TesseraError: no permission to change settings, or they cannot be changed.
    """
    rows, histograms = [], {}
    with changed_settings(settings_for(asked), allowed=allowed):
        for number, case in enumerate(asked.cases(), 1):
            asked.progress(f"case {number}: {case.name}")
            row = _captured(asked, case)
            asked.progress(f"  {row['status']} {row['message']}".rstrip())
            rows.append(row)
            if row["status"] == OK:
                histograms[case.name] = _summary(asked, case).histogram
            _write(rows, asked.folder / TABLE)
    if histograms:
        from tessera.core.mapping.contiguity_figure import draw_contiguity

        draw_contiguity(histograms, asked.folder / PICTURE)
    return rows


def _captured(asked: Asked, case: MemoryState) -> dict:
    row: dict[str, object] = dict.fromkeys(COLUMNS, "") | {
        "case": case.name, "thp": case.thp, "target_index": "" if case.index is None else case.index,
        "co_runners": case.co_runners, "index_before": _index(), "provenance": "measured",
    }  # fmt: skip
    if case.index is not None and row["index_before"] > case.index:
        _compact()
    try:
        with (
            fragmented_memory(case.index),
            co_running(asked.partners or [asked.program], case.co_runners, asked.warm_seconds) as running,
        ):
            row["index_at_start"] = _index()
            said = _capture(asked, case)
            row |= {"index_at_end": _index(), "co_runners_at_end": running()}
    except TesseraError as error:
        said = error.sentence
    if said:
        return row | {"status": FAILED, "message": " ".join(said.split())}
    return row | {"status": OK} | chunk_columns(_summary(asked, case)) | {"mapping": f"{case.name}.csv"}


def chunk_columns(found: MappingSummary) -> dict[str, object]:
    """Columns about the chunks."""
    return {
        "mapped_pages": found.mapped_pages,
        "chunks": found.histogram.chunks,
        "median_chunk_pages": median_chunk(found.histogram),
        "share_2mb": round(found.share("2MB"), 6),
        "distance_count": found.distances["count"][0],
    }


def median_chunk(histogram: ChunkHistogram) -> int:
    """Half of the memory is in chunks of at most so many pages."""
    pages = np.cumsum(histogram.contiguity * histogram.frequency)
    return int(histogram.contiguity[np.searchsorted(pages, pages[-1] / 2)])


def _capture(asked: Asked, case: MemoryState) -> str:
    """Run ``tessera mapping capture``; the empty text, or why it failed."""
    argv = module_command("tessera", "mapping", "capture", "--out", str(_file(asked, case)))
    argv += ["--thp", case.thp, *asked.options, "--", *asked.program]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            with watchdog(process, f"case {case.name}", lambda: None):
                _, errors = process.communicate()
        except ProgramHangs as error:
            return error.one_line
        except BaseException:  # told to end: so is the program, which may save its data
            process.terminate()
            process.wait()
            raise
    return "" if process.returncode == 0 else errors.strip() or f"status {process.returncode}"


def _summary(asked: Asked, case: MemoryState) -> MappingSummary:
    return MappingSummary.of(read_mapping(_file(asked, case)).at(0))


def _file(asked: Asked, case: MemoryState) -> Path:
    return asked.folder / f"{case.name}.csv"


def _compact(place: Path = COMPACT) -> None:
    """Compact free memory. If this is not possible, the fragmenter says that memory is too fragmented."""
    with contextlib.suppress(OSError):
        place.write_text("1\n")


def _index() -> float:
    return round(unusable_index(machine_free_blocks()), 4)


def _write(rows: Sequence[dict], path: Path) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, text.getvalue())
