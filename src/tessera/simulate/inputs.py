"""The layouts, mappings or logs that a command names: folders, files and patterns."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.layouts.layout import canonical_name, layout_files, name_notes
from tessera.core.table_columns import warn_of_spelling


@dataclass(frozen=True)
class PageSource:
    """What decides the pages of a cell: layouts, or mappings or logs (``tessera lab os``) in their place."""

    word: str
    make: str  #: the command that makes such files
    option: str  #: of the command lines (``tessera simulate``, ``tessera-sim run``)
    suffix: str = ".csv"  #: of the files that a folder is searched for

    def name_of(self, path: Path) -> str:
        """The stem of a file, of a layout its canonical name; bytes that are no UTF-8 as ``\\xff``."""
        stem = os.fsencode(path.stem).decode(errors="backslashreplace")
        return canonical_name(stem) if self == LAYOUT else stem


LAYOUT = PageSource("layout", "tessera layouts generate --trace T --platform P --out DIR", "--layouts")
MAPPING = PageSource("mapping", "tessera mapping generate --trace T --kind medium --out FILE", "--mappings")
LOG = PageSource("log", "tessera lab os run --trace T --scenario thp-always --out FILE", "--os", ".oslog")


def find_inputs(words: Iterable[str], kind: PageSource) -> list[Path]:
    """Files in the order of the words; those of a folder in natural order, of a pattern by name.

    Raises:
        TesseraError: a word names nothing, or two files have the same name.
    """
    files: list[Path] = []
    for word in words:
        files += _files(word, kind)
    by_name: dict[str, Path] = {}
    for path in files:
        name = kind.name_of(path)
        other = by_name.setdefault(name, path)
        if other is not path:
            also = " (4kb is growing-0, 2mb is growing-8)" if kind == LAYOUT else ""
            found = f"two files have this name: {other} and {path}{also}"
            raise TesseraError(f"{kind.word} {name}", found, "give one of them")
    if kind == LAYOUT:
        warn_of_spelling(name_notes(path.stem for path in files))
    return files


def file_bytes(path: Path, kind: PageSource = LAYOUT) -> bytes:
    """Content of a layout or mapping, not validated: the simulator does that.

    Raises:
        TesseraError: the file can't be read: it is a folder or a dangling link, or permission is denied.
    """
    asked, remedy = f"{kind.word} {path}", f"replace it by the {kind.word}'s file, or remove it"
    if path.exists() and not path.is_file():
        found = "this is a folder" if path.is_dir() else "this is not a regular file"
        raise TesseraError(asked, found, remedy, exit_code=EXIT_FAILED)
    try:
        return path.read_bytes()
    except OSError as error:
        raise TesseraError(asked, str(error.strerror), remedy, exit_code=EXIT_FAILED) from error


def _files(word: str, kind: PageSource) -> list[Path]:
    path = Path(word)
    if path.is_dir():
        return layout_files(path) if kind == LAYOUT else _of_folder(path, kind)
    if path.is_file():
        return [path]
    found = [Path(name) for name in sorted(glob.glob(word))]
    if kind == LAYOUT:
        found = [path for path in found if path.name != "manifest.csv"]
    if not found:
        raise _nothing(word, kind, "this is no folder and no file, and no file matches it as a pattern")
    return found


def _of_folder(folder: Path, kind: PageSource) -> list[Path]:
    found = list(folder.glob(f"*{kind.suffix}"))
    if not found:
        raise _nothing(folder, kind, f"the folder contains no *{kind.suffix}")
    return sorted(found, key=_in_natural_order)


def _in_natural_order(path: Path) -> list[int | str]:
    return [int(part) if part.isdigit() else part for part in re.split(r"([0-9]+)", path.stem)]


def _nothing(word: str | Path, kind: PageSource, found: str) -> TesseraError:
    remedy = f"make {kind.word}s: {kind.make}"
    return TesseraError(f"{kind.option} {word}", found, remedy, code=f"no-{kind.word}-found")
