"""How much memory a program needs, and the huge pages that its layout needs on this machine.

The memory is that of one run under libmosalloc with 4KB pages. A machine without enough huge pages gets them
by commands that are shown, or with permission.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import with_names
from tessera.core.layouts.layout import ALL_4KB, Layout, write_layout
from tessera.core.units import GB, MB, PAGE_1GB, PAGE_2MB, format_bytes
from tessera.machine.limits import Room, huge_pages_room
from tessera.machine.reserve import reserving_allowed
from tessera.machine.reserve.pools import command_for, free_in_pool, huge_pages_total, nodes, pool_folder
from tessera.measure.mosalloc.launcher import run_under_layout
from tessera.measure.mosalloc.report import read_report

# Pool sizes of a layout without size rows, as in the library's ``core/layout.h`` (a test compares).

DEFAULT_POOL_BYTES = {"brk": 64 * GB, "mmap": 256 * GB}


# The memory: one run on this machine.

#: Address space only: pages that the program doesn't touch cost nothing.
ROOM_BYTES = 64 * GB


@dataclass(frozen=True)
class PoolPeaks:
    """High-water marks of the two pools (bytes)."""

    heap: int
    anon: int

    @property
    def footprint(self) -> int:
        """The program's largest memory use, without its files, stacks and code."""
        return self.heap + self.anon

    def pools(self) -> tuple[int, int]:
        """Sizes of heap and anonymous pool for it: an eighth more, in whole GB so that a 1GB page fits."""
        return _whole_gb(self.heap), _whole_gb(self.anon)


def measure_footprint(
    argv: Sequence[str], *, cwd: Path, target: str | None = None, env: Mapping[str, str] | None = None
) -> PoolPeaks:
    """Run ``argv`` once; ``target`` is the executable to look at when ``argv`` is a script that starts it.

    Raises:
        TesseraError: libmosalloc can't work in the program, the program failed, or it used no pool memory.
    """
    said = f"'{' '.join(argv)}'"
    with tempfile.TemporaryDirectory(prefix="tessera-measure-") as name:
        layout, report = Path(name) / "growing-0.csv", Path(name) / "report.json"
        write_layout(Layout(ALL_4KB, {"brk": ROOM_BYTES, "mmap": ROOM_BYTES}), layout)
        whole = os.environ | dict(env or {})
        done = run_under_layout(argv, layout, env=whole, capture=True, cwd=cwd, report=report, target=target)
        if done.returncode != 0:
            message = with_names(done.stderr or done.stdout, {layout: "the layout of 4KB pages"})
            tail = "\n".join(message.strip().splitlines()[-5:])
            raise TesseraError(
                f"measuring {said}",
                f"the program exited with status {done.returncode}" + (f":\n{tail}" if tail else ""),
                "run it by hand until it succeeds, then add it as a workload",
                exit_code=EXIT_FAILED,
            )
        used = read_report(report).used_bytes
    found = PoolPeaks(used.get("brk", 0), used.get("mmap", 0))
    if found.footprint == 0:
        of = f" of {target}" if target else ""
        raise TesseraError(
            f"measuring {said}",
            f"the program used no memory{of} in libmosalloc's pools",
            "give the executable itself; for a script, give the program that it starts with --target",
            exit_code=EXIT_FAILED,
        )
    if max(found.pools()) > ROOM_BYTES:
        raise TesseraError(
            f"measuring {said}",
            f"the program used {format_bytes(found.footprint)}; pools of traced programs have at most 64GB",
            "give the program a smaller input",
        )
    return found


def _whole_gb(used: int) -> int:
    return max(1, -(-(used + used // 8 + 16 * MB) // GB)) * GB


# The huge pages that a layout needs, those that this machine has, and the commands to add the rest.


@dataclass(frozen=True)
class PageNeed:
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


def page_needs(layout: Layout, node: int | None = None) -> list[PageNeed]:
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
            PageNeed(
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


# Permission to change the machine's pools of huge pages: --yes, TESSERA_RESERVE=1, or an answer.


def may_add_pages(yes: bool, question: str) -> bool:
    """Whether pages may be added; asks only where somebody can answer."""
    if yes or reserving_allowed():
        return True
    return sys.stdin.isatty() and click.confirm(question, default=False, err=True)
