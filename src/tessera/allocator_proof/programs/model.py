"""A program of the table, and the result of one run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tessera.core.units import MB

if TYPE_CHECKING:
    from tessera.allocator_proof.programs.box import Box

PASS, FAIL, SKIP = "PASS", "FAIL", "SKIP"


class WrongAnswer(Exception):
    """A program's own check failed."""


@dataclass(frozen=True)
class Need:
    """A file that must exist: a command in PATH, or a pattern with a slash; and its Debian package."""

    probe: str
    package: str


@dataclass(frozen=True)
class Program:
    """One row of the table.

    Contract of ``drive``: runs the program in the box it gets (under a mosaic, or plain), raises
    :class:`WrongAnswer` when a check fails, and returns the answer as text. The answer must be the same in
    every run, so it holds no time, address, process id or path.

    Attributes:
        name: how it is asked for.
        what: what runs and how it is checked, in one line.
        needs: what must be installed.
        heap_bytes: part of the heap pool that ``2mb`` backs with huge pages, from offset 0.
        anon_bytes: the same of the anonymous pool.
        processes: processes with the layout that can be alive at the same time (children of the same
            executable count, forks don't); each needs its own huge pages.
        splits: it protects parts of huge pages, so that some are split; ``fallback`` is then expected.
        maps_huge_pages: it maps huge pages itself (MAP_HUGETLB), where the machine has free ones; the layout
            does not have them, so ``fallback`` is then expected.
        options: more options of mosalloc-run.
        timeout_seconds: for one run, all its steps together.
    """

    name: str
    what: str
    drive: Callable[[Box], str]
    needs: tuple[Need, ...]
    heap_bytes: int = 32 * MB
    anon_bytes: int = 64 * MB
    processes: int = 1
    splits: bool = False
    maps_huge_pages: bool = False
    options: tuple[str, ...] = ()
    timeout_seconds: float = 60


@dataclass(frozen=True)
class ProgramOutcome:
    """One program under one layout; numbers are None where the run gave none.

    ``heap_used_bytes`` and ``anon_used_bytes`` are high-water marks of the largest process,
    ``outside_bytes`` what it had outside the pools when it ended, ``calls`` how many calls of all processes
    reached the pools or were handed to the kernel.
    """

    program: str
    layout: str
    verdict: str
    reason: str = ""
    seconds: float | None = None
    pages_2mb: int | None = None
    split_pages: int | None = None
    heap_used_bytes: int | None = None
    anon_used_bytes: int | None = None
    outside_bytes: int | None = None
    pool_calls: int | None = None
    kernel_calls: int | None = None
    tail: str = field(default="", compare=False)
    repeat: str = field(default="", compare=False)
