"""Reads and writes mapping files (docs/mappings.md); a mapping's name is the stem of its file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tessera.core.errors import TesseraError
from tessera.core.files import writing
from tessera.mapping.check import checked
from tessera.mapping.grammar import HEADER, parse
from tessera.mapping.rows import POOLS, SIZE_NAMES
from tessera.mapping.states import Mapping

_LINES_AT_ONCE = 1 << 16


def read_mapping(path: Path | str) -> Mapping:
    """Read a mapping file and check every rule.

    Raises:
        MappingRefused: the file breaks a rule (:mod:`tessera.mapping.rules`).
        TesseraError: the file can't be read; ``code`` is ``mapping-file``.
    """
    path = Path(path)
    if not path.is_file():  # reading a pipe without a writer would never end
        found = "this is not a regular file" if path.exists() else "the file does not exist"
        remedy = "make a mapping: tessera mapping generate --help"
        raise TesseraError(f"mapping {path}", found, remedy, code="mapping-file")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TesseraError(
            f"mapping {path}", error.strerror or str(error), "check the path", code="mapping-file"
        ) from None
    return checked(path.stem, path, *parse(path, data))


def write_mapping(mapping: Mapping, path: Path | str) -> None:
    """Write the rows of all epochs in the canonical form, after the checks that a reader makes.

    Raises:
        MappingRefused: the mapping breaks a rule, for example a frame is too large; nothing is written.
        TesseraError: ``path`` can't be written.
    """
    epochs = list(mapping.epochs.items())
    numbers = [np.full(len(rows), epoch, dtype=np.int64) for epoch, rows in epochs]
    if epochs:
        parts = [rows for _, rows in epochs]
        checked(mapping.name, path, np.concatenate(numbers), parts[0].joined(parts))
    with writing(path) as stream:
        stream.write(",".join(HEADER) + "\n")
        for epoch, rows in epochs:
            for low in range(0, len(rows), _LINES_AT_ONCE):
                stream.write(_lines(epoch, rows.where(slice(low, low + _LINES_AT_ONCE))))


def _lines(epoch: int, rows) -> str:
    columns = zip(*(column.tolist() for column in rows.columns()), strict=True)
    return "".join(
        f"{epoch},{POOLS[pool]},{page},{'' if frame < 0 else frame},{pages},{SIZE_NAMES[size]}\n"
        for pool, page, frame, pages, size in columns
    )
