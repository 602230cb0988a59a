"""Relations between runs: rounds are complete, pages are those of the layout, equal layouts agree."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import zip_longest

from tessera.bundles import cells as computed
from tessera.bundles.model import Bundle
from tessera.bundles.protocol import protocols
from tessera.core.units import PAGE_1GB, PAGE_2MB, PAGE_4KB
from tessera.layouts.model import Layout
from tessera.layouts.names import ALL_1GB, ALL_2MB, ALL_4KB
from tessera.results.schema.cells import CELLS
from tessera.results.status import is_ok

#: 4KB pages of a program vary a little between its runs.
PAGES_SHARE, PAGES_COUNT = 0.01, 16


def rounds(bundle: Bundle) -> Iterator[str]:
    """Rounds count from 0, and in each round every layout that still runs has all passes."""
    passes = set(bundle.passes())
    for workload, layouts in bundle.by_workload.items():
        last = max((len(by_round) for by_round in layouts.values()), default=0)
        for layout, by_round in layouts.items():
            place = f"{workload}, {layout}"
            # links.check: rounds of a layout are 0 to n - 1
            ended = [number for number, runs in by_round.items() if not all(run.good for run in runs)]
            for number in by_round if ended else ():
                if number > ended[0]:
                    yield f"{place}: round {number} comes after a run that is not ok"
            for number, runs in by_round.items():
                missing = passes - {run.pass_name for run in runs}
                if missing and not (ended and number >= ended[0]):
                    yield f"{place}, round {number}: no run of {_some(missing)}"
            if not ended and len(by_round) < last:
                yield f"{place}: {len(by_round)} rounds; another layout of {workload} has {last}"


def _some(words: set[str]) -> str:
    few = sorted(words)[:5]
    return ", ".join(few) + (f" and {len(words) - len(few)} more" if len(words) > len(few) else "")


def workloads(bundle: Bundle) -> Iterator[str]:
    """Runs have the size of their workload, and the results of programs were checked."""
    for run in bundle.runs:
        wanted = bundle.workloads[run.workload].size
        if run.size != wanted:
            yield f"run {run.run}: size {run.size}; workloads.json has {wanted}"
        if run.good and run.roi_ns == 0:
            yield f"run {run.run}: roi_ns is 0"
    for workload in bundle.workloads.values():
        if not workload.verified:
            yield f"{workload.name}: the results of its runs were not verified"


def pages(bundle: Bundle) -> Iterator[str]:
    """Runs had the huge pages of their layout; no more 4KB pages than its pools have room for."""
    for (workload, name), by_round in bundle.rounds.items():
        layout = bundle.layouts[workload, name]
        huge = layout.pages(PAGE_2MB), layout.pages(PAGE_1GB)
        room = _room(layout)
        good = [run for runs in by_round.values() for run in runs if run.good]
        for run in good:
            place = f"run {run.run} ({workload}, {name})"
            if (run.pages_2mb, run.pages_1gb) != huge:
                yield (
                    f"{place}: {run.pages_2mb} pages of 2MB and {run.pages_1gb} of 1GB; its layout has"
                    f" {huge[0]} and {huge[1]}"
                )
            if room is not None and run.pages_4kb > room:
                yield f"{place}: {run.pages_4kb} pages of 4KB; its pools have room for {room}"
            first = good[0].pages_4kb
            if abs(run.pages_4kb - first) > PAGES_SHARE * first + PAGES_COUNT:
                yield f"{place}: {run.pages_4kb} pages of 4KB; run {good[0].run} had {first}"


def _room(layout: Layout) -> int | None:
    """4KB pages in all pools outside of huge windows; None if a pool has no size."""
    if not {window.pool for window in layout.windows} <= set(layout.pool_bytes) or not layout.pool_bytes:
        return None
    huge = sum(w.end - w.start for w in layout.windows if w.page_bytes != PAGE_4KB)
    return -(-(sum(layout.pool_bytes.values()) - huge) // PAGE_4KB)


def layouts(bundle: Bundle) -> Iterator[str]:
    """Layouts of a workload have the same pools, and named ones the pages of their name."""
    for workload, mine in bundle.layouts_by_workload.items():
        pools = {n: sorted(one.pool_bytes.items()) for n, one in mine.items() if n != ALL_1GB}
        first = min(pools, default="")
        yield from (
            f"{workload}: pools of {name} differ from those of {first}"
            for name in sorted(pools)
            if pools[name] != pools[first]
        )
        for name, page_bytes in ((ALL_4KB, PAGE_4KB), (ALL_2MB, PAGE_2MB), (ALL_1GB, PAGE_1GB)):
            if name in mine and any(window.page_bytes != page_bytes for window in mine[name].windows):
                yield f"{workload}: a window of {name} has pages of another size"


def equal_layouts(bundle: Bundle) -> Iterator[str]:
    """Layouts with the same windows are the same experiment, so their R agrees."""
    rule = protocols().get(bundle.about.protocol)
    if rule is None:
        return
    groups: dict[tuple, list[str]] = {}
    for (workload, name), layout in bundle.layouts.items():
        pools = tuple(sorted(layout.pool_bytes.items()))
        groups.setdefault((workload, pools, tuple(sorted(layout.windows))), []).append(name)
    table = _runtimes(bundle)
    for (workload, *_), names in groups.items():
        found = {name: table[workload, name] for name in names if table.get((workload, name))}
        if len(found) > 1:
            least, most = min(found, key=found.get), max(found, key=found.get)
            if found[most] - found[least] > rule.largest_runtime_spread * found[most]:
                yield (
                    f"{workload}: {least} and {most} have equal windows, but R of {found[least]} and"
                    f" {found[most]} cycles"
                )


def _runtimes(bundle: Bundle) -> dict[tuple[str, str], int]:
    if bundle.counter_class is None:
        return {}
    rows = computed.rows_of(bundle)
    return {(row["workload"], row["layout"]): row["runtime_cycles"] for row in rows if is_ok(row)}


def cells(bundle: Bundle) -> Iterator[str]:
    """``cells.csv`` is what its runs and counts give, to the last digit; no cell failed by its counts."""
    if bundle.cells is None or bundle.counter_class is None:
        return
    rows = computed.rows_of(bundle)
    if bundle.cells != (wanted := computed.text(rows)):
        yield from _difference(bundle.cells, wanted)
    for row in rows:
        runs = [run for by in bundle.rounds[row["workload"], row["layout"]].values() for run in by]
        if not is_ok(row) and all(run.good for run in runs):
            yield f"{row['workload']}, {row['layout']}: {row['message']}"


def _difference(found: str, wanted: str) -> Iterator[str]:
    """The first cell that differs."""
    try:
        tables = [csv.reader(io.StringIO(text)) for text in (found, wanted)]
        for number, lines in enumerate(zip_longest(*tables, fillvalue=[]), start=1):
            for column, (a, b) in enumerate(zip_longest(*lines, fillvalue="nothing")):
                if a != b:
                    name = CELLS.names[column] if column < len(CELLS.names) else f"cell {column + 1}"
                    here, there = a[:80] or "nothing", b or "nothing"
                    yield f"cells.csv line {number}, {name}: {here}; the counts give {there}"
                    return
    except csv.Error as error:
        yield f"cells.csv is not CSV: {error}"
        return
    yield "cells.csv has another form than Tessera writes"
