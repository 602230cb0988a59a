"""Write a bundle while it is measured: the heads first, then each run as soon as it ends; then seal it.

Sealing computes the cells, packs the counts, and writes the sums last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import append_lines, remove_leftovers, write_text, writing
from tessera.core.layouts.layout import Layout, layout_text
from tessera.machine.environment.condition import Condition
from tessera.measure.bundles import archive, cell_arithmetic, csv_files, file_format, json_files
from tessera.measure.bundles.archive import contents, pack_counts, unpack_counts
from tessera.measure.bundles.bundle import (
    About,
    Bundle,
    CountedEvent,
    EventCount,
    MeasuredMachine,
    MeasuredRun,
    MeasuredWorkload,
)
from tessera.measure.bundles.file_format import wrong
from tessera.measure.bundles.reader import parse_bundle, read_bundle
from tessera.measure.bundles.texts import clean, clean_cell

# While measuring.
#
# A killed process loses at most the run that it was in. Counts are written before their run; so at the next
# start, counts without a run and a line that is cut off belong to the lost run, and are removed.


class Writer:
    """The runs of a bundle that is not sealed; made by :func:`create_bundle` or :func:`resume_bundle`.

    Args:
        folder: the bundle.
        runs, counts: rows that it has.
    """

    def __init__(self, folder: Path, runs: int = 0, counts: int = 0):
        self.folder, self.runs, self.counts = folder, runs, counts

    def append(self, run: MeasuredRun, counts: Iterable[EventCount] = ()) -> None:
        """Add a run with its counts; both are on the disk when this returns. Its message is cleaned.

        Raises:
            TesseraError: a value is not of its kind, the bundle has as many rows as one may have
                (``bundle-full``), or the disk is full.
        """
        counts = list(counts)
        self.runs, self.counts = self.runs + 1, self.counts + len(counts)
        most_runs, most_counts = file_format.MOST_RUNS, file_format.MOST_COUNTS
        if self.runs > most_runs or self.counts > most_counts:
            found = f"it is full: a bundle has at most {most_runs} runs and {most_counts} counts"
            raise wrong(str(self.folder), found, "full", "measure the other workloads into another folder")
        run = replace(run, message=clean_cell(run.message))
        lines = csv_files.csv_text(csv_files.COUNTS_SHAPE, counts, header=False)
        row = csv_files.csv_text(csv_files.RUNS_SHAPE, [run], header=False)
        append_lines(self.folder / file_format.COUNTS_FILE, lines)
        append_lines(self.folder / file_format.RUNS_FILE, row)


def create_bundle(
    folder: Path,
    about: About,
    machine: MeasuredMachine,
    environment: Iterable[Condition],
    events: Iterable[CountedEvent],
    workloads: Mapping[str, MeasuredWorkload],
    layouts: Mapping[tuple[str, str], Layout],
) -> Writer:
    """Write everything but runs. ``environment`` can be written again later (:func:`write_environment`).

    Raises:
        TesseraError: the folder has files already, or a value is not of its kind.
    """
    if folder.exists() and any(folder.iterdir()):
        raise TesseraError(f"bundle {folder}", "this folder has files", "name a new folder, or resume it")
    for name, text in head_files(about, machine, environment, events, workloads, layouts).items():
        write_text(folder / name, text)
    return Writer(folder)


def head_files(
    about: About,
    machine: MeasuredMachine,
    environment: Iterable[Condition],
    events: Iterable[CountedEvent],
    workloads: Mapping[str, MeasuredWorkload],
    layouts: Mapping[tuple[str, str], Layout],
) -> dict[str, str]:
    """Name -> content of every file of a bundle without runs."""
    mitigations = {name: clean(text) for name, text in machine.mitigations.items()}
    return {
        file_format.ABOUT_FILE: json_files.about_text(about),
        file_format.MACHINE_FILE: json_files.machine_text(replace(machine, mitigations=mitigations)),
        file_format.ENVIRONMENT_FILE: environment_text(environment),
        file_format.EVENTS_FILE: csv_files.csv_text(csv_files.EVENTS_SHAPE, events),
        file_format.WORKLOADS_FILE: json_files.workloads_text(dict(workloads)),
        **{file_format.layout_file(*place): layout_text(layout) for place, layout in layouts.items()},
        file_format.COUNTS_FILE: csv_files.csv_text(csv_files.COUNTS_SHAPE, ()),
        file_format.RUNS_FILE: csv_files.csv_text(csv_files.RUNS_SHAPE, ()),
    }


def write_environment(folder: Path, environment: Iterable[Condition]) -> None:
    """Replace the conditions, for those that follow from the runs."""
    write_text(folder / file_format.ENVIRONMENT_FILE, environment_text(environment))


def environment_text(environment: Iterable[Condition]) -> str:
    """The content of ``environment.csv``, cleaned."""
    rows = []
    for row in environment:
        texts = {name: clean_cell(getattr(row, name)) for name in ("wanted", "found", "remedy")}
        rows.append(replace(row, **texts))
    return csv_files.csv_text(csv_files.ENVIRONMENT_SHAPE, rows)


def resume_bundle(folder: Path) -> tuple[Writer, Bundle]:
    """The writer for more runs, and what the folder has. A run that a kill cut off is removed.

    Raises:
        TesseraError: the folder is sealed, or a file is wrong beyond its end.
    """
    if (folder / file_format.SUMS_FILE).exists():
        raise wrong(str(folder), "it is sealed, so no run can be added", "sealed", "name a new folder")
    remove_leftovers(folder)
    if (folder / file_format.COUNTS_FILE).exists():
        for made in (file_format.PACKED_FILE, file_format.CELLS_FILE):  # sealing was killed
            (folder / made).unlink(missing_ok=True)
    elif (folder / file_format.PACKED_FILE).exists():
        raise wrong(str(folder), "its counts are packed already", "sealed", "seal it")
    _drop_torn(folder)
    bundle = read_bundle(folder)
    return Writer(folder, len(bundle.runs), int(bundle.counts.sizes.sum())), bundle


def _drop_torn(folder: Path) -> None:
    for name in (file_format.COUNTS_FILE, file_format.RUNS_FILE):
        path = folder / name
        if not path.is_file():
            raise wrong(name, "the file is missing", "file-missing")
        data = path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if name == file_format.COUNTS_FILE:
            whole = _of_runs(whole, _complete_numbers(folder / file_format.RUNS_FILE))
        if whole != data:
            with writing(path, "wb") as stream:
                stream.write(whole)


def _complete_numbers(runs: Path) -> set[bytes]:
    """Numbers of the runs whose lines are complete."""
    data = runs.read_bytes()
    lines = data[: data.rfind(b"\n") + 1].splitlines()
    return {line.split(b",", 1)[0] for line in lines[1:]}


def _of_runs(counts: bytes, runs: set[bytes]) -> bytes:
    """Counts without those of the last run, if that run is not in ``runs``."""
    lines = counts.splitlines(keepends=True)
    if len(lines) > 1:
        last = lines[-1].split(b",", 1)[0]
        while last not in runs and len(lines) > 1 and lines[-1].split(b",", 1)[0] == last:
            lines.pop()
    return b"".join(lines)


# Sealing.


def seal(folder: Path | str) -> Bundle:
    """Seal the folder, and return the bundle. If the process is killed, seal again.

    Raises:
        TesseraError: the folder has no run that is ok, a file is wrong, or it is sealed already.
    """
    folder = Path(folder)
    remove_leftovers(folder)
    files = contents(folder)
    if file_format.SUMS_FILE in files:
        raise wrong(str(folder), "it is sealed already", "sealed", "name a folder that is still measured")
    made = sealed_files(str(folder), files)
    bundle = parse_bundle(str(folder), made)
    _write_sealed(folder, {name: made[name] for name in (file_format.PACKED_FILE, file_format.CELLS_FILE)})
    (folder / file_format.COUNTS_FILE).unlink(missing_ok=True)
    _write_sealed(folder, {file_format.SUMS_FILE: made[file_format.SUMS_FILE]})
    return bundle


def sealed_files(name: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of the sealed bundle from those of an open one; raises as :func:`seal`."""
    made = dict(files)
    # An attempt to seal that was killed may have packed the counts already.
    if file_format.COUNTS_FILE not in made and file_format.PACKED_FILE in made:
        made[file_format.COUNTS_FILE] = unpack_counts(made[file_format.PACKED_FILE])
    for old in (file_format.PACKED_FILE, file_format.CELLS_FILE):
        made.pop(old, None)
    bundle = parse_bundle(name, made)
    if not any(run.good for run in bundle.runs):
        raise wrong(file_format.RUNS_FILE, "no run is ok, so there is nothing to seal", "empty")
    made[file_format.PACKED_FILE] = pack_counts(made.pop(file_format.COUNTS_FILE))
    made[file_format.CELLS_FILE] = cell_arithmetic.cells_text(cell_arithmetic.rows_of_bundle(bundle)).encode()
    made[file_format.SUMS_FILE] = archive.sums_text(made).encode()
    return made


def _write_sealed(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        with writing(folder / name, "wb") as stream:
            stream.write(data)
