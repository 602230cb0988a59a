"""The effect of a proposal in the simulator: exact TLB misses of several layouts in one pass.

The profile alone is not enough: a huge page still misses, and pages that no longer use 4KB TLB entries make
room for others. So a search with the simulator finds the number of pages.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.layouts.model import Layout, write_layout
from tessera.mosalloc.suggest.choose import windows
from tessera.mosalloc.suggest.profile import Page
from tessera.platforms import Platform
from tessera.results.status import is_ok
from tessera.simulate.cache import CellCache
from tessera.simulate.plan import Sampling
from tessera.simulate.runner import simulate

#: Layouts of one pass: the simulator's lanes.
LANES = 64

#: Only M is used, which is exact whatever is sampled.
SMALL_SAMPLE = Sampling(1, 1000, 1000)


def count_misses(
    trace: Path,
    platform: Platform,
    choices: Sequence[Sequence[Page]],
    pool_bytes: dict[str, int],
    folder: Path,
) -> list[int]:
    """TLB misses of the trace with each choice of pages in 2MB (an empty choice: all 4KB)."""
    with tempfile.TemporaryDirectory(prefix="choices-", dir=folder) as name:
        paths = []
        for number, pages in enumerate(choices):
            path = Path(name) / f"choice-{number}.csv"
            write_layout(Layout(path.stem, dict(pool_bytes), windows(pages)), path)
            paths.append(path)
        rows = simulate(
            trace,
            platform,
            paths,
            workload="suggest",
            engine="partial",
            sampling=SMALL_SAMPLE,
            cache=CellCache(None),
        )
    for row in rows:
        if not is_ok(row):
            raise TesseraError(
                "simulation of a proposed layout",
                row["message"],
                "report this as a bug, with the command line",
                exit_code=EXIT_FAILED,
            )
    return [row["stlb_misses"] for row in rows]


def search(
    pages: Sequence[Page], guess: int, wanted: float, misses: Callable[[list[int]], list[int]]
) -> tuple[int, int, bool]:
    """The fewest of ``pages``, in their order, that leave at most ``wanted`` misses.

    Args:
        guess: a first number to try, such as what the profile says.
        misses: how many misses are left with each of these numbers of pages huge.

    Returns:
        number, misses left, and whether that is few enough; if no number is, the one that leaves fewest.
    """
    low, high, known = 0, len(pages) + 1, {}
    while high - low > 1:
        tries = _between(low, high, guess)
        known |= dict(zip(tries, misses(tries), strict=True))
        good = [count for count in tries if known[count] <= wanted]
        if good:
            high = good[0]
        elif high > len(pages):
            break  # all of them were among the tries: none is enough
        low = max([low, *(count for count in tries if count < high)])
    if high <= len(pages):
        return high, known[high], True
    if not known:
        return 0, misses([0])[0], False
    best = min(known, key=lambda count: (known[count], count))
    return best, known[best], False


def _between(low: int, high: int, guess: int) -> list[int]:
    """At most :data:`LANES` - 1 numbers in (low, high), spread evenly, the guess and the largest included."""
    inside = range(low + 1, high)
    if len(inside) < LANES:
        return list(inside)
    step = len(inside) / (LANES - 2)
    chosen = {inside[min(int(i * step), len(inside) - 1)] for i in range(LANES - 3)} | {inside[-1]}
    if guess in inside:
        chosen.add(guess)
    return sorted(chosen)
