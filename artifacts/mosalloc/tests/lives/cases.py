"""The layouts of the random lives, what is left out under each, and the mechanisms that must be hit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

POOLS = "type,pageSize,startOffset,endOffset\nbrk,-1,0,256MB\nmmap,-1,0,1000MB\n"


@dataclass(frozen=True)
class Case:
    """A layout, the library's settings, and the operations without an exact result under it."""

    rows: str = ""
    environment: tuple[tuple[str, str], ...] = ()
    without: tuple[str, ...] = ()
    pages_2mb: int = 0  # for one life at a time
    few: bool = False  # the library sees no free huge page after its start
    part: int = 1000  # operations of one life, without events and children
    mechanisms: dict[str, str] = field(default_factory=dict)  # shown name to the map's name

    def windows(self) -> Iterator[tuple[str, int, int]]:
        """Name, pool and start of each window."""
        for row in self.rows.split():
            pool, _, start, _ = row.split(",")
            yield f"window {pool} {start}", ("brk", "mmap").index(pool), int(start.rstrip("MB")) << 20

    def window_names(self) -> list[str]:
        return [name for name, _, _ in self.windows()]

    def windows_reached(self, counters: dict[str, int]) -> list[str]:
        """Those that a process used."""
        if not counters["window_count"]:
            return []
        return [name for name, pool, start in self.windows() if counters[f"pools[{pool}].used_bytes"] > start]


_2MB = "brk,2MB,0,4MB\nmmap,2MB,0,4MB\nmmap,2MB,6MB,10MB\n"
_WINDOWS = 6
#: A life, three generations of children or programs, and a child beside it, each with copies of all pages;
#: and some that the kernel still holds for rings of the life before.
_FAMILY = 5 * _WINDOWS + 10
# --no-locks: mlock of a part of a huge page. --no-marks: huge pages take policies for whole pages only.
_HUGE = ("--windows", "--no-locks", "--no-marks")

_FORKS = {"forks": "forks", "children": "children.processes", "ended marks": "ended_marks"}
_SPLITS = {
    "splits": "split_pages",
    "exchanges": "exchanged_pages",
    "zeroed bytes": "zeroed_bytes",
    "ignored advice": "ignored_advice",
}
_CHILDREN = {"children's splits": "children.split_pages"}
#: Huge pages that have to stay whole: the calls that are refused, and those that are softened.
_WHOLE = {
    "softened": "softened_protections",
    "kept by pins": "unsplit_by[1]",
    "kept without userfaultfd": "unsplit_by[0]",
    "refused calls": "refused_calls",
    "refused marks": "refused_marks",
}
_COPIES = {"copied forks": "copied_forks", "copied bytes": "fork_copied_bytes"}


def _windows(*without: str, mechanisms: dict[str, str], few: bool = False, **settings: str) -> Case:
    """The layout with 2MB windows; settings are the library's, in lower case."""
    environment = tuple((f"MOSALLOC_{name.upper()}", value) for name, value in settings.items())
    return Case(_2MB, environment, (*_HUGE, *without), _FAMILY, few, 500, mechanisms)


CASES = {
    "4kb": Case(mechanisms=_FORKS),
    # Guards: memory that gains access in parts is softened, so faults are not exact.
    "2mb": _windows("--no-faults", mechanisms=_FORKS | _SPLITS | _CHILDREN | _WHOLE),
    # A child of a raw clone copies huge pages, and the kernel has none: it may only read.
    "2mb-few": _windows("--no-faults", "--no-raw-copies", few=True, mechanisms=_FORKS | _SPLITS | _COPIES),
    "demand": _windows("--no-faults", mechanisms=_FORKS | _SPLITS | _CHILDREN | _WHOLE, prefault="0"),
    # Pinned pages are softened, which is not exact.
    "exact": _windows(
        "--no-hole-faults",
        "--no-pins",
        "--no-direct",
        mechanisms=_FORKS | _SPLITS | _CHILDREN,
        protections="exact",
    ),
    "stacks": _windows("--no-faults", mechanisms=_FORKS | _SPLITS | _CHILDREN | _WHOLE, stacks="pool"),
}
