"""Kinds of first touches of memory (``artifacts/faults/kinds.c``), and the periods of their latencies.

A *comb* is a series with larger values at regular distances, its *teeth*. Linux has these reasons for one:

- a last-level page table has 512 entries, so each 512th fault of ascending pages allocates a table. The
  address decides where;
- new pages are collected in a batch for each processor. A full batch goes to the LRU lists: 31 pages
  (``PAGEVEC_SIZE``, include/linux/pagevec.h of Linux 6.12). Other programs add pages to the batch, too, so
  the place shifts;
- a fault on a cached file maps the cached pages of the 64KB around it (``fault_around_bytes``).
"""

from __future__ import annotations

from dataclasses import dataclass

from tessera.core.errors import unknown_name


@dataclass(frozen=True)
class Teeth:
    """A reason for a comb.

    Attributes:
        period: touches from one tooth to the next.
        reason: what the kernel does at a tooth.
        fixed: teeth are at multiples of the period; else their place may shift.
    """

    period: int
    reason: str
    fixed: bool


TABLE = Teeth(512, "page table", True)
BATCH = Teeth(31, "LRU batch", False)
AROUND = Teeth(16, "fault-around", True)


@dataclass(frozen=True)
class Kind:
    """A kind of first touch.

    Attributes:
        name: as ``tessera-faults --kind`` takes it.
        about: what is touched.
        faults: whether each touch is a fault.
        huge: whether a page has 2MB.
        teeth: combs to look for.
    """

    name: str
    about: str
    faults: bool = True
    huge: bool = False
    teeth: tuple[Teeth, ...] = ()


KINDS = (
    Kind("write-4kb", "store to a new anonymous 4KB page", teeth=(TABLE, BATCH)),
    Kind("read-zero", "load from a new anonymous page (zero page)", teeth=(TABLE,)),
    Kind("read-file", "load from a cached page of a file", faults=False, teeth=(AROUND,)),
    Kind("write-2mb", "store to a new anonymous 2MB page", huge=True),
    Kind("touch-again", "store to a mapped page (no fault)", faults=False),
)


def kind_named(name: str) -> Kind:
    """The kind of that name."""
    for kind in KINDS:
        if kind.name == name:
            return kind
    raise unknown_name("kind of touch", name, tuple(kind.name for kind in KINDS))
