"""The layouts that a command names: folders, files and patterns."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.layouts.folder import layout_files
from tessera.layouts.model import canonical_name


def find_layouts(words: Iterable[str]) -> list[Path]:
    """Layout files in the order of the words; those of a folder in natural order, of a pattern by name.

    Raises:
        TesseraError: a word names nothing, or two files name the same layout.
    """
    files: list[Path] = []
    for word in words:
        files += _files(word)
    by_name: dict[str, Path] = {}
    for path in files:
        name = canonical_name(path.stem)
        other = by_name.setdefault(name, path)
        if other is not path:
            raise TesseraError(
                f"layout {name}",
                f"two files have this name: {other} and {path} (4kb is growing-0, 2mb is growing-8)",
                "give one of them",
            )
    return files


def layout_bytes(path: Path) -> bytes:
    """Content of a layout file, not validated: the simulator does that.

    Raises:
        TesseraError: the file can't be read: it is a folder or a dangling link, or permission is denied.
    """
    remedy = "replace it by the layout's CSV file, or remove it"
    if path.exists() and not path.is_file():
        found = "this is a folder" if path.is_dir() else "this is not a regular file"
        raise TesseraError(f"layout {path}", found, remedy, exit_code=EXIT_FAILED)
    try:
        return path.read_bytes()
    except OSError as error:
        raise TesseraError(f"layout {path}", str(error.strerror), remedy, exit_code=EXIT_FAILED) from error


def _files(word: str) -> list[Path]:
    path = Path(word)
    if path.is_dir():
        return layout_files(path)
    if path.is_file():
        return [path]
    found = [Path(name) for name in sorted(glob.glob(word)) if Path(name).name != "manifest.csv"]
    if not found:
        raise TesseraError(
            f"--layouts {word}",
            "this is no folder and no file, and no file matches it as a pattern",
            "make layouts: tessera layouts generate --trace T --platform P --out DIR",
            code="no-layout-found",
        )
    return found
