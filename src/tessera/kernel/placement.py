"""The placement of page tables and their pointers: the table behind Figures 3 and 4 of the Mitosis paper.

Columns ``workload,config,observer,level,socket,target_socket,pages,pointers``: ``pages`` tables of ``level``
(4 = root, 1 = leaves) lie on ``socket``; they hold ``pointers`` present entries to ``target_socket``.
``pages`` repeats in the rows of a level and socket. ``observer`` is whose tree this is: ``home``, or the
socket whose processors walk it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.tables import table_text
from tessera.kernel.walker import PRESENT, GuestMemory, Tree
from tessera.results.schema.kernel import PLACEMENT

COLUMNS = list(PLACEMENT.names)
#: Observer of the tables that the kernel itself walks.
HOME = "home"


def of_tree(tree: Tree, memory: GuestMemory, nodes: int) -> list[tuple[int, int, int, int, int]]:
    """Rows (level, socket, target socket, pages, pointers) of a tree seen from outside."""
    rows = []
    for level, tables in tree.levels.items():
        sockets = memory.node(tables.physical)
        frame = tables.entries & np.uint64(0x000F_FFFF_FFFF_F000)
        targets = np.where(tables.entries & PRESENT != 0, memory.node(frame), -1)
        for socket in range(nodes):
            here = sockets == socket
            for target in range(nodes):
                count = int((targets[here] == target).sum())
                rows.append((level, socket, target, int(here.sum()), count))
    return rows


def of_dump(text: str) -> pd.DataFrame:
    """Table of the kernel's dump (``<debugfs>/pgtable_replication/dump``), without workload and config."""
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("root")]
    if not lines or lines[0][:4] != ["tree", "level", "socket", "pages"]:
        raise TesseraError(
            "a dump of page tables",
            f"its first line is '{' '.join(lines[0])}'" if lines else "it is empty",
            "copy <debugfs>/pgtable_replication/dump of a kernel with the patches",
        )
    sockets = [int(name.removeprefix("to")) for name in lines[0][4:]]
    rows = []
    for tree, level, socket, pages, *pointers in lines[1:]:
        for target, count in zip(sockets, pointers, strict=True):
            rows.append((tree, int(level), int(socket), target, int(pages), int(count)))
    return pd.DataFrame(rows, columns=COLUMNS[2:])


def remote_leaf_share(table: pd.DataFrame, sockets: Iterable[int]) -> pd.Series:
    """Share of the leaf tables' entries that a processor of each socket finds on another socket (Figure 4).

    A socket with a tree of its own walks that, every other one walks the home tables.
    """
    shares = {}
    for socket in sockets:
        seen = leaves_of(table, socket)
        total = seen.pointers.sum()
        shares[socket] = seen[seen.socket != socket].pointers.sum() / total if total else float("nan")
    return pd.Series(shares, name="remote_leaf_share")


def leaves_of(table: pd.DataFrame, socket: int) -> pd.DataFrame:
    """Rows of the leaf tables that a processor of the socket walks: its own, or else the home tables."""
    leaves = table[table.level == 1]
    own = leaves[leaves.observer.astype(str) == str(socket)]
    return own if len(own) else leaves[leaves.observer == HOME]


def figure3(table: pd.DataFrame, observer: str = HOME) -> str:
    """Text in the form of Figure 3: a cell shows pages, [pointers to each socket], (remote share)."""
    seen = table[table.observer.astype(str) == observer]
    sockets = sorted(set(seen.socket) | set(seen.target_socket))
    rows = []
    for level in (4, 3, 2, 1):
        cells = []
        for socket in sockets:
            cell = seen[(seen.level == level) & (seen.socket == socket)].set_index("target_socket")
            counts = [int(cell.pointers.get(target, 0)) for target in sockets]
            pages = int(cell.pages.iloc[0]) if len(cell) else 0
            total = sum(counts)
            share = f"{1 - counts[sockets.index(socket)] / total:.0%}" if total else "-"
            cells.append(f"{pages} [{' '.join(map(str, counts))}] ({share})")
        rows.append((f"L{level}", *cells))
    return table_text(("level", *(f"socket {socket}" for socket in sockets)), rows) + "\n"
