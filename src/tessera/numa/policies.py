"""On which socket leaf page tables lie, and how many leaf entries each socket finds remote.

A leaf table maps 512 successive 4KB pages, 2MB. A policy gives each table a socket, from the order in which
pages are touched first and the socket that touches them (Mitosis, section 3.1). A new policy is a function
and a line in :data:`POLICIES`.

A socket that walks finds an entry remote if its table lies elsewhere. Every entry is remote for all sockets
but one, so the shares of N sockets sum to N - 1, whatever the policy. Not modelled: the levels above, pages
of the program and its libraries, and walks that prefer some pages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tessera.core.errors import TesseraError
from tessera.mapping.touches import read_touches

TABLE_PAGES = 512  #: 4KB pages that a leaf table maps


@dataclass(frozen=True)
class Touched:
    """Pages by number in the order of their first touch, each once, and the socket that touches each."""

    pages: np.ndarray
    sockets: np.ndarray
    nodes: int

    def __post_init__(self) -> None:
        found = f"{len(self.pages)} pages, {len(self.sockets)} touches, {self.nodes} sockets"
        if not (len(self.pages) == len(self.sockets) > 0 and self.nodes >= 1):
            raise TesseraError("first touches", found, "give at least one page, and a socket for each")
        if self.sockets.min() < 0 or self.sockets.max() >= self.nodes:
            raise TesseraError(
                "first touches", f"a socket outside 0 to {self.nodes - 1}", "correct --sockets"
            )


def split(pages: np.ndarray, nodes: int, how: str) -> Touched:
    """First touches by threads on ``nodes`` sockets.

    ``one``: a thread on socket 0 touches all; ``blocks``: each of successive blocks of equal size has its own
    socket; ``pages``: page by page in turn. The programs ``touched-by-*`` of docs/kernel.md do the same.
    """
    span = int(pages.max()) - int(pages.min()) + 1
    from_first = pages - pages.min()
    owners = {
        "one": np.zeros(len(pages), np.int64),
        "blocks": from_first * nodes // span,
        "pages": from_first % nodes,
    }
    return Touched(pages, owners[how], nodes)


SPLITS = ("one", "blocks", "pages")


def pages_of(file: Path | None, count: int | None) -> np.ndarray:
    """Pages in the order of their first touch: of a file of ``tessera trace touches``, or 0 to ``count`` - 1.

    Raises:
        TesseraError: neither or both are given, or the file cannot be read.
    """
    if (file is None) == (count is None):
        found = "neither is given" if file is None else "both are given"
        raise TesseraError("--touches, --pages", found, "give one of the two", code="numa-pages")
    if file is None:
        return np.arange(count)
    found = read_touches(file)
    return (found.pool.astype(np.int64) << 40) + found.page


def first_touch(touches: Touched) -> tuple[np.ndarray, np.ndarray]:
    """The first of a table's 512 pages to be touched decides the socket of the table."""
    tables, first = np.unique(touches.pages // TABLE_PAGES, return_index=True)
    return tables, touches.sockets[first]


def interleave(touches: Touched) -> tuple[np.ndarray, np.ndarray]:
    """Tables go round the sockets in the order in which their first pages are touched."""
    tables, first = np.unique(touches.pages // TABLE_PAGES, return_index=True)
    order = np.empty(len(tables), np.int64)
    order[np.argsort(first)] = np.arange(len(tables))
    return tables, order % touches.nodes


def auto(touches: Touched) -> tuple[np.ndarray, np.ndarray]:
    """Automatic page migration moves data only: page tables stay where first touch put them (3.1)."""
    return first_touch(touches)


#: name -> tables by number, ascending, and the socket of each
POLICIES: dict[str, Callable[[Touched], tuple[np.ndarray, np.ndarray]]] = {
    "first-touch": first_touch,
    "interleave": interleave,
    "auto": auto,
}


def remote_shares(touches: Touched, policy: str) -> np.ndarray:
    """Share of the leaf entries that each socket finds on another socket."""
    tables, sockets = POLICIES[policy](touches)
    entries = np.bincount(np.searchsorted(tables, touches.pages // TABLE_PAGES), minlength=len(tables))
    local = np.bincount(sockets, weights=entries, minlength=touches.nodes)
    return 1 - local / len(touches.pages)
