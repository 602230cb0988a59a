"""The layout files of a folder, in natural order (growing-2 before growing-10)."""

from __future__ import annotations

import re
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.layouts.model import canonical_name
from tessera.layouts.names import ALL_1GB


def layout_files(folder: Path | str) -> list[Path]:
    """Every layout CSV of a folder (``manifest.csv`` is not one), in natural order, ``1gb`` last.

    Raises:
        TesseraError: the folder does not exist or has no layout, or two files have the name of one layout.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise TesseraError(
            f"layouts folder {folder}",
            "the folder does not exist",
            "make layouts: tessera layouts generate --trace T --platform P --out DIR",
        )
    files = [path for path in folder.glob("*.csv") if path.name != "manifest.csv"]
    if not files:
        raise TesseraError(
            f"layouts folder {folder}",
            "the folder contains no layout (*.csv)",
            "make layouts: tessera layouts generate --help",
        )
    names = [canonical_name(path.stem) for path in files]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TesseraError(
            f"layouts folder {folder}",
            f"two files have the name {', '.join(twice)} (4kb is growing-0, 2mb is growing-8)",
            "keep one of them",
        )
    return sorted(files, key=_order)


def _order(path: Path) -> tuple:
    name = canonical_name(path.stem)
    parts = [int(p) if p.isdigit() else p for p in re.split(r"(\d+)", name)]
    return (name == ALL_1GB, [(isinstance(p, int), p) for p in parts if p != ""])
