"""What the counters must show for a pointer chase: bounds that follow from its pages and loads alone.

The program ``chase`` loads a pointer from each of E pages in turn, in a random order that repeats. Two runs
differ only in their number of loads, so the difference of their counts belongs to LOADS loads of the chase.

- A page can hit in a TLB of K entries only if it was in there when its turn over all pages began. So a turn
  has at most K hits, whatever the TLB replaces: of E >> K pages, at least 1 - K/E of the loads walk.
- A load waits for the one before it, so the processor walks for hardly any other page. More than 5% of
  further walks is no chase.
- With a few pages, nothing misses. With more than the first TLB and fewer than the STLB have, loads hit the
  STLB.
- Each walk takes a cycle at least, and C counts at most one cycle a walker in each cycle.
- Before the loads, the program writes each page once in that order. These stores walk, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LOADS = 2_000_000  #: more loads in the second run
FIRST_LOADS = 300_000  #: of the first run: more than its warm-up, twice the pages

#: Entries of first-level data TLBs for 4KB pages, at most (Lion Cove: 48 + 128), and with those of the STLB
#: (Zen 5: 96 + 4096). The smallest STLB has 512 (SandyBridge).
MOST_FIRST_LEVEL, MOST_ENTRIES = 192, 4352


@dataclass(frozen=True)
class Chase:
    """A chase over so many pages of 4KB."""

    name: str
    pages: int


FEW = Chase("few pages", 16)
STLB = Chase("pages of the STLB", 384)
MANY = Chase("many pages", 131_072)
CHASES = (FEW, STLB, MANY)


@dataclass(frozen=True)
class Bound:
    """``least <= count <= most``; None: no bound. ``total``: of the first run; else of the difference."""

    role: str
    least: float
    most: float | None
    total: bool = False


def least_misses(pages: int) -> float:
    """Loads of :data:`LOADS` that must miss every TLB."""
    return LOADS * max(0.0, 1 - MOST_ENTRIES / pages)


def bounds(chase: Chase, cycles: int, walkers: int | None) -> list[Bound]:
    """Bounds of every role.

    Args:
        cycles: R of the difference, for those of C.
        walkers: page walkers of the class; None: unknown.
    """
    found = [
        Bound("R cycles", 3 * LOADS, 10 * LOADS if chase is FEW else None),
        Bound("R reference cycles", 1, None),
        Bound("instructions", 0.99 * LOADS, 4.1 * LOADS),
    ]
    hits, misses, walking = _translation(chase, cycles, walkers)
    for side in ("loads", "any"):
        found += [Bound(f"H {side}", *hits), Bound(f"M {side}", *misses), Bound(f"C {side}", *walking)]
        active = (walking[0] / walkers if walkers else 0, 0.02 * cycles if chase is FEW else cycles)
        found.append(Bound(f"C active {side}", *active))
    found += [Bound("H stores", 0, 0.02 * LOADS), Bound("M stores", 0, 0.02 * LOADS)]
    if chase is MANY:
        written = chase.pages - MOST_ENTRIES
        found += [Bound("M stores", written, 6 * chase.pages, True), Bound("C stores", written, None, True)]
    return found


def _translation(chase: Chase, cycles: int, walkers: int | None):
    """(least, most) of H, M and C of loads."""
    all_walkers = walkers * cycles if walkers else None
    if chase is FEW:
        return (0, 0.02 * LOADS), (0, 0.02 * LOADS), (0, 0.02 * cycles)
    if chase is STLB:
        least = LOADS * (1 - MOST_FIRST_LEVEL / chase.pages - 0.05)
        return (least, 1.05 * LOADS), (0, 0.05 * LOADS), (0, all_walkers)
    hits = LOADS * (MOST_ENTRIES / chase.pages + 0.02)
    return (0, hits), (least_misses(chase.pages), 1.05 * LOADS), (least_misses(chase.pages), all_walkers)


def judged(chase: Chase, first: Mapping[str, int], second: Mapping[str, int], walkers: int | None):
    """(bound, count, whether it holds) of each role that was counted."""
    cycles = second["R cycles"] - first["R cycles"]
    for bound in bounds(chase, cycles, walkers):
        if bound.role in first:
            count = first[bound.role] if bound.total else second[bound.role] - first[bound.role]
            yield bound, count, bound.least <= count and (bound.most is None or count <= bound.most)
