"""Seal a bundle: compute its cells, pack its counts, and write the sums last."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tessera.bundles import cells, names, sums
from tessera.bundles.contents import contents
from tessera.bundles.model import Bundle
from tessera.bundles.packed import pack, unpack
from tessera.bundles.reader import parse
from tessera.bundles.wrong import wrong
from tessera.core.files import writing


def seal(folder: Path | str) -> Bundle:
    """Seal the folder, and return the bundle. If the process is killed, seal again.

    Raises:
        TesseraError: the folder has no run that is ok, a file is wrong, or it is sealed already.
    """
    folder = Path(folder)
    files = contents(folder)
    if names.SUMS in files:
        raise wrong(str(folder), "it is sealed already", "sealed", "name a folder that is still measured")
    made = sealed(str(folder), files)
    bundle = parse(str(folder), made)
    _write(folder, {name: made[name] for name in (names.PACKED, names.CELLS)})
    (folder / names.COUNTS).unlink(missing_ok=True)
    _write(folder, {names.SUMS: made[names.SUMS]})
    return bundle


def sealed(name: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of the sealed bundle from those of an open one; raises as :func:`seal`."""
    made = dict(files)
    if names.COUNTS not in made and names.PACKED in made:  # of an attempt that was killed
        made[names.COUNTS] = unpack(made[names.PACKED])
    for old in (names.PACKED, names.CELLS):
        made.pop(old, None)
    bundle = parse(name, made)
    if not any(run.good for run in bundle.runs):
        raise wrong(names.RUNS, "no run is ok, so there is nothing to seal", "empty")
    made[names.PACKED] = pack(made.pop(names.COUNTS))
    made[names.CELLS] = cells.text(cells.rows_of(bundle)).encode()
    made[names.SUMS] = sums.text(made).encode()
    return made


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        with writing(folder / name, "wb") as stream:
            stream.write(data)
