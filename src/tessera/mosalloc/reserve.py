"""The huge pages that a layout needs, those that this machine has, and the commands to add the rest."""

from __future__ import annotations

from dataclasses import dataclass

from tessera.core.units import PAGE_1GB, PAGE_2MB, format_bytes
from tessera.layouts.model import Layout
from tessera.machine.limits import Room, huge_pages_room
from tessera.machine.reserve.pools import (
    command_for,
    free_in_pool,
    huge_pages_total,
    nodes,
    pool_folder,
)


@dataclass(frozen=True)
class Need:
    """Pages of one size that a layout needs on the machine, or on one NUMA node.

    Attributes:
        free: pages of the pool, whoever may have them.
        free_on_nodes: node -> free pages; empty where the kernel has no NUMA nodes.
        room: what the limits of a cgroup leave; None without a limit.
    """

    page_bytes: int
    pages: int
    free: int
    total: int
    free_on_nodes: dict[int, int]
    node: int | None = None
    room: Room | None = None

    @property
    def missing(self) -> int:
        """Pages to add."""
        return max(0, self.pages - self.free)

    @property
    def command(self) -> str:
        """The command that adds them; pages in use stay."""
        return command_for(self.page_bytes, self.total + self.missing, self.node)

    @property
    def forbidden(self) -> str:
        """Why this process cannot have the pages, however many are added; empty if it can."""
        if self.room is None or self.room.pages >= self.pages:
            return ""
        return f"{self.room.limit} leaves {self.room.pages} to this process"

    def sentence(self) -> str:
        """One line: needed, free (and where), to be added."""
        where = f" on node {self.node}" if self.node is not None else ""
        spread = ", ".join(f"node {node}: {free}" for node, free in self.free_on_nodes.items())
        beside = f" ({spread})" if spread else ""
        size = format_bytes(self.page_bytes)
        return (
            f"{size} pages: {self.pages} needed{where}, {self.free} free{beside}, {self.missing} to be added"
        )


def needs(layout: Layout, node: int | None = None) -> list[Need]:
    """One entry for each size of huge pages that the layout uses.

    Raises:
        TesseraError: this machine has no pages of a size, or no such node.
    """
    found = []
    for page_bytes in (PAGE_2MB, PAGE_1GB):
        pages = layout.pages(page_bytes)
        if not pages:
            continue
        pool_folder(page_bytes, node)
        chosen = () if node is None else (node,)
        found.append(
            Need(
                page_bytes,
                pages,
                free_in_pool(page_bytes, *chosen),
                huge_pages_total(page_bytes, *chosen),
                {each: free_in_pool(page_bytes, each) for each in nodes()},
                node,
                huge_pages_room(page_bytes),
            )
        )
    return found
