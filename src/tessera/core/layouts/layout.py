"""A layout, its name and its CSV file (MICRO'20 section V), and those of a folder.

See docs/reference/layout-format.md.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.core.layouts.layout_format import HEADER, POOLS, Parser

# Names of the layouts that the method itself names; every other name is a heuristic's (docs/contracts.md).

ALL_4KB = "growing-0"  #: no window: the base of every difference
ALL_2MB = "growing-8"  #: 2MB pages wherever one fits
ALL_1GB = "1gb"  #: 1GB pages: the test point, never fitted

#: The page size that stands for each in figures and tables.
PAGE_SIZE_OF = {ALL_4KB: "4KB", ALL_2MB: "2MB", ALL_1GB: "1GB"}


# A layout says for each pool how large it is and which windows of it are backed with 2MB or 1GB pages; the
# rest is 4KB. Offsets are bytes from the pool's base, end exclusive.

ALIASES = {"4kb": ALL_4KB, "2mb": ALL_2MB}
_ALL = {("4", "k"): ALL_4KB, ("2", "m"): ALL_2MB, ("1", "g"): ALL_1GB}
_FIRST = tuple("421gGrRsS")  #: of names that may have another spelling
_PAGES = re.compile("([421])-?([kmg])(?:i?b)?")
_HEURISTIC = re.compile("(?:growing|random|sliding)(?:-[0-9]+)+", re.ASCII)


@dataclass(frozen=True, order=True)
class Window:
    """A contiguous part of one pool with one page size (bytes; end exclusive)."""

    pool: str
    start: int
    end: int
    page_bytes: int

    @property
    def pages(self) -> int:
        """Number of pages of ``page_bytes``."""
        return (self.end - self.start) // self.page_bytes


@dataclass(frozen=True)
class Layout:
    """A named mosaic: pool sizes in bytes and huge-page windows, sorted by pool and offset."""

    name: str
    pool_bytes: dict[str, int]
    windows: tuple[Window, ...] = field(default=())

    def pages(self, page_bytes: int) -> int:
        """How many pages of this size the layout uses (all pools)."""
        return sum(w.pages for w in self.windows if w.page_bytes == page_bytes)


def canonical_name(name: str) -> str:
    """The one spelling of a layout's name, without blanks around it.

    ``4kb`` and ``2mb`` are other names of ``growing-0`` and ``growing-8``. The method's own names may be
    written in capitals, with blanks or with other units: ``4KB``, ``1 GiB``, ``Growing_3``.
    """
    text = name.strip()
    if text.isascii() and text[:1] not in _FIRST:
        return text
    form = re.sub(r"[\s_-]", "-", unicodedata.normalize("NFKC", text).casefold())
    if one := _PAGES.fullmatch(form):
        return _ALL.get((one[1], one[2]), text)
    return form if _HEURISTIC.fullmatch(form) else text


def name_notes(names: Iterable[str]) -> list[str]:
    """A note for the user on each name that has another spelling than :func:`canonical_name` gives."""
    return [
        f"layout '{name}' is read as {canonical_name(name)}"
        for name in dict.fromkeys(names)
        if name not in ALIASES and canonical_name(name) != name
    ]


def read_layout(path: Path | str) -> Layout:
    """Read and validate a layout file; its name is the file's stem.

    Raises:
        LayoutRefused: naming file, line, column, value and rule; a :class:`TesseraError`.
        TesseraError: the file can't be read.
    """
    path = Path(path)
    if path.exists() and not path.is_file():  # reading a pipe without a writer would never end
        found = "this is a folder" if path.is_dir() else "this is a pipe or a device"
        raise TesseraError(f"layout {path}", f"{found}, not a regular file", "give the path of a CSV file")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TesseraError(f"layout {path}", error.strerror or str(error), "check the path") from None
    parsed = Parser(path, data)
    return Layout(path.stem, parsed.pools, tuple(Window(*row[:4]) for row in parsed.windows))


def layout_text(layout: Layout) -> str:
    """The canonical form of a layout file: pool sizes first, windows in order, plain bytes."""
    pools = sorted(layout.pool_bytes.items(), key=lambda item: POOLS.index(item[0]))
    lines = [",".join(HEADER)]
    lines += [f"{pool},-1,0,{size}" for pool, size in pools]
    windows = sorted(layout.windows, key=lambda w: (POOLS.index(w.pool), w.start))
    lines += [f"{w.pool},{w.page_bytes},{w.start},{w.end}" for w in windows]
    return "\n".join(lines) + "\n"


def write_layout(layout: Layout, path: Path | str) -> None:
    """Write the CSV file in its canonical form (:func:`layout_text`)."""
    write_text(path, layout_text(layout))


# The layout files of a folder, in natural order (growing-2 before growing-10).


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
    return sorted(files, key=_natural_order)


def _natural_order(path: Path) -> tuple:
    name = canonical_name(path.stem)
    parts = [int(p) if p.isdigit() else p for p in re.split(r"(\d+)", name)]
    return (name == ALL_1GB, [(isinstance(p, int), p) for p in parts if p != ""])
