"""A layout and its CSV file (MICRO'20 section V; docs/layout-format.md).

A layout says for each pool how large it is and which windows of it are backed with 2MB or 1GB pages; the
rest is 4KB. Offsets are bytes from the pool's base, end exclusive.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.layouts.grammar import HEADER, POOLS, Parser
from tessera.layouts.names import ALL_1GB, ALL_2MB, ALL_4KB

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
    found = Parser(path, data)
    return Layout(path.stem, found.pools, tuple(Window(*row[:4]) for row in found.windows))


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
