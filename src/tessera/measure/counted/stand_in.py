"""A bundle whose runs are planned: made-up counts in their place, for the question what it could decide.

The counts are those of no machine. They only have the form of good ones: all events of all passes, M and C
that fall with the memory on huge pages, C <= R, and a runtime that 1GB pages improve by more than 5%. No file
of a bundle ever contains them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from tessera.bundles.model import Bundle, Count, Counts, Run
from tessera.core.units import PAGE_1GB
from tessera.layouts.model import Layout
from tessera.results.status import OK

_PARTS = {"loads": 0.75, "stores": 0.25, "any": 1.0}  #: share of a side in a count


def stand_in(bundle: Bundle) -> Bundle:
    """``bundle`` with one round of every layout and pass, in the place of its runs."""
    runs, counts = [], []
    for run, made in _runs(bundle):
        runs.append(run)
        counts += made
    return replace(bundle, runs=tuple(runs), counts=Counts.of(counts), cells=None)


def _runs(bundle: Bundle) -> Iterator[tuple[Run, tuple[Count, ...]]]:
    number = 0
    widest: dict[str, int] = {}
    for (workload, _), layout in bundle.layouts.items():
        widest[workload] = max(widest.get(workload, 1), _covered(layout))
    for (workload, name), layout in bundle.layouts.items():
        numbers = _numbers(name, _covered(layout) / widest[workload], bool(layout.pages(PAGE_1GB)))
        size = bundle.workloads[workload].size
        for pass_name, events in bundle.passes().items():
            run = Run(number, workload, size, name, 0, pass_name, OK, "", numbers["R"] // 2, 0, 0, 0)
            made = (Count(number, event.name, _count(event.role, numbers), 1, 1) for event in events)
            yield run, tuple(made)
            number += 1


def _covered(layout: Layout) -> int:
    return sum(one.end - one.start for one in layout.windows)


def _numbers(layout: str, share: float, gigantic: bool) -> dict[str, int]:
    """H, M, C and R; ``share``: of the widest layout's memory on huge pages. Names seed what is irregular."""
    rng = random.Random(layout)
    small = 0.02 if gigantic else 1 - 0.9 * share
    misses = round(1e6 * small * rng.uniform(1, 1.1))
    walks = round(misses * rng.uniform(29, 31))
    hits = round(4e5 * small * rng.uniform(0.5, 1) + 1e4)
    return {"M": misses, "H": hits, "C": walks, "R": round(1e8 + 1.1 * walks + 7 * hits)}


def _count(role: str, numbers: dict[str, int]) -> int:
    """The count of a quantity: H, M and C by side; other events have a fixed number of their own."""
    words = role.split()
    if words == ["R", "cycles"]:
        return numbers["R"]
    if len(words) == 2 and words[0] in ("H", "M", "C") and words[1] in _PARTS:
        return round(numbers[words[0]] * _PARTS[words[1]])
    return 1000 + random.Random(role).randrange(1000)
