"""Draw all figures of a report with two processes: drawing takes most of the time of a report."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeVar

from tessera.show.figures import registry, render
from tessera.show.figures.render import Drawn
from tessera.show.results import Results

T = TypeVar("T")
PROCESSES = 2  #: the two longest jobs, the figures of every pair, limit the speed-up
WORTH_IT = 4  #: with fewer figures, starting a second process takes longer than drawing

_shared: tuple[Results, Path, Path] | None = (
    None  #: inherited by forked processes, so that tables are read once
)


def draw(
    results: Results,
    reference: Path,
    out: Path,
    only: list[str] | None = None,
    meanwhile: Callable[[], T] = lambda: None,
) -> tuple[list[Drawn], T]:
    """Every figure (or the named ones) in the registry's order, drawn or with a reason.

    Args:
        meanwhile: called in this process while others draw; its result is the second one.
    """
    names = [entry.name for entry in registry.select(only)]
    processes = min(PROCESSES, len(os.sched_getaffinity(0)))
    if processes < 2 or len(names) < WORTH_IT:
        return render.render(results, reference, out, only), meanwhile()
    pairs_first = sorted(names, key=lambda name: not registry.get(name).per_pair)
    results.pairs()  # this and what follows is read before forking, not once per process
    results.models("errors"), results.models("predictions")
    global _shared
    _shared = (results, reference, out)
    try:
        # fork: the tables are inherited; nothing here has threads.
        with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("fork")) as pool:
            jobs = pool.map(_one, pairs_first)
            other = meanwhile()
            found = dict(zip(pairs_first, jobs, strict=True))
    finally:
        _shared = None
    for _, notes in found.values():
        results.notes += [note for note in notes if note not in results.notes]
    return [figure for name in names for figure in found[name][0]], other


def _one(name: str) -> tuple[list[Drawn], list[str]]:
    """The figures of one entry, and the notes on tables that it read."""
    results, reference, out = _shared
    return render.render(results, reference, out, [name]), list(results.notes)
