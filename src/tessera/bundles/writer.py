"""Write a bundle while it is measured: the heads first, then each run as soon as it ends.

A killed process loses at most the run that it was in. Counts are written before their run; so at the next
start, counts without a run and a line that is cut off belong to the lost run, and are removed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from tessera.bundles import documents, limits, names, private, shapes
from tessera.bundles.model import About, Bundle, Count, CountedEvent, Machine, Run, Workload
from tessera.bundles.reader import read
from tessera.bundles.wrong import wrong
from tessera.core.errors import TesseraError
from tessera.core.files import write_text, writing
from tessera.layouts.model import Layout, layout_text
from tessera.machine.environment.condition import Condition


class Writer:
    """The runs of a bundle that is not sealed; made by :func:`create` or :func:`resume`.

    Args:
        folder: the bundle.
        runs, counts: rows that it has.
    """

    def __init__(self, folder: Path, runs: int = 0, counts: int = 0):
        self.folder, self.runs, self.counts = folder, runs, counts

    def append(self, run: Run, counts: Iterable[Count] = ()) -> None:
        """Add a run with its counts; both are on the disk when this returns. Its message is cleaned.

        Raises:
            TesseraError: a value is not of its kind, the bundle has as many rows as one may have
                (``bundle-full``), or the disk is full.
        """
        counts = list(counts)
        self.runs, self.counts = self.runs + 1, self.counts + len(counts)
        if self.runs > limits.RUNS or self.counts > limits.COUNTS:
            found = f"it is full: a bundle has at most {limits.RUNS} runs and {limits.COUNTS} counts"
            raise wrong(str(self.folder), found, "full", "measure the other workloads into another folder")
        run = replace(run, message=private.clean(run.message))
        lines = shapes.text(shapes.COUNTS, counts, header=False)
        row = shapes.text(shapes.RUNS, [run], header=False)
        _append(self.folder / names.COUNTS, lines)
        _append(self.folder / names.RUNS, row)


def create(
    folder: Path,
    about: About,
    machine: Machine,
    environment: Iterable[Condition],
    events: Iterable[CountedEvent],
    workloads: Mapping[str, Workload],
    layouts: Mapping[tuple[str, str], Layout],
) -> Writer:
    """Write everything but runs. ``environment`` can be written again later (:func:`write_environment`).

    Raises:
        TesseraError: the folder has files already, or a value is not of its kind.
    """
    if folder.exists() and any(folder.iterdir()):
        raise TesseraError(f"bundle {folder}", "this folder has files", "name a new folder, or resume it")
    for name, text in heads(about, machine, environment, events, workloads, layouts).items():
        write_text(folder / name, text)
    return Writer(folder)


def heads(
    about: About,
    machine: Machine,
    environment: Iterable[Condition],
    events: Iterable[CountedEvent],
    workloads: Mapping[str, Workload],
    layouts: Mapping[tuple[str, str], Layout],
) -> dict[str, str]:
    """Name -> content of every file of a bundle without runs."""
    mitigations = {name: private.clean(text) for name, text in machine.mitigations.items()}
    return {
        names.ABOUT: documents.about_text(about),
        names.MACHINE: documents.machine_text(replace(machine, mitigations=mitigations)),
        names.ENVIRONMENT: environment_text(environment),
        names.EVENTS: shapes.text(shapes.EVENTS, events),
        names.WORKLOADS: documents.workloads_text(dict(workloads)),
        **{names.layout_file(*place): layout_text(layout) for place, layout in layouts.items()},
        names.COUNTS: shapes.text(shapes.COUNTS, ()),
        names.RUNS: shapes.text(shapes.RUNS, ()),
    }


def write_environment(folder: Path, environment: Iterable[Condition]) -> None:
    """Replace the conditions, for those that follow from the runs."""
    write_text(folder / names.ENVIRONMENT, environment_text(environment))


def environment_text(environment: Iterable[Condition]) -> str:
    """The content of ``environment.csv``, cleaned."""
    rows = []
    for row in environment:
        texts = {name: private.clean(getattr(row, name)) for name in ("wanted", "found", "remedy")}
        rows.append(replace(row, **texts))
    return shapes.text(shapes.ENVIRONMENT, rows)


def resume(folder: Path) -> tuple[Writer, Bundle]:
    """The writer for more runs, and what the folder has. A run that a kill cut off is removed.

    Raises:
        TesseraError: the folder is sealed, or a file is wrong beyond its end.
    """
    if (folder / names.SUMS).exists():
        raise wrong(str(folder), "it is sealed, so no run can be added", "sealed", "name a new folder")
    if (folder / names.COUNTS).exists():
        for made in (names.PACKED, names.CELLS):  # sealing was killed
            (folder / made).unlink(missing_ok=True)
    elif (folder / names.PACKED).exists():
        raise wrong(str(folder), "its counts are packed already", "sealed", "seal it")
    _drop_torn(folder)
    bundle = read(folder)
    return Writer(folder, len(bundle.runs), int(bundle.counts.sizes.sum())), bundle


def _drop_torn(folder: Path) -> None:
    for name in (names.COUNTS, names.RUNS):
        path = folder / name
        if not path.is_file():
            raise wrong(name, "the file is missing", "file-missing")
        data = path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if name == names.COUNTS:
            whole = _of_runs(whole, _numbers(folder / names.RUNS))
        if whole != data:
            with writing(path, "wb") as stream:
                stream.write(whole)


def _numbers(runs: Path) -> set[bytes]:
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


def _append(path: Path, text: str) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            data = text.encode()
            while data:
                data = data[os.write(descriptor, data) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise TesseraError(
            f"append to {path}", error.strerror or str(error), "free space on that disk, then run again"
        ) from error
