"""An experiment with everything real but the runs and the pages."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from tessera.core.layouts.layout import Layout, Window, write_layout
from tessera.core.results.table_io import write_cells
from tessera.core.units import MB, PAGE_2MB
from tessera.measure import hybrid_cells
from tessera.measure.counted import turns
from tessera.measure.counted.counted_run import Ended
from tessera.measure.counted.perf_stat import RunCounts

POOLS = {"brk": 2 * MB, "mmap": 128 * MB}
PAGES = {"growing-0": 0, "growing-4": 32, "growing-8": 64}


class Bench:
    """Layout files, invented run times, and what was asked of them."""

    def __init__(self, folder: Path, monkeypatch):
        self.folder = folder
        self.layouts = []
        self.seconds = {name: 1.0 - 0.1 * pages / 64 for name, pages in PAGES.items()}
        self.failing: dict[str, str] = {}
        self.launched: list[str] = []
        self.reserved: list[tuple[int, int]] = []
        self.programs = "1"
        self.noise = [1.0]  #: factors of successive runs
        for name, pages in PAGES.items():
            windows = (Window("mmap", 0, pages * PAGE_2MB, PAGE_2MB),) if pages else ()
            self.layouts.append(folder / f"{name}.csv")
            write_layout(Layout(name, POOLS, windows), self.layouts[-1])
        (folder / "gups").write_text("the program, which never runs\n")
        monkeypatch.setattr(turns, "launched", self.launch)
        monkeypatch.setattr(hybrid_cells, "reserve_huge_pages", self.reserve)
        monkeypatch.setattr(hybrid_cells.launch, "common_key", lambda command: self.programs)
        monkeypatch.setattr(
            "tessera.record.workloads.definition.built", lambda component, name: folder / name
        )

    def launch(self, row, layout, work, where, counted, binding):
        assert counted is None and not binding and not where.rehearsal
        self.launched.append(layout.stem)
        if layout.stem in self.failing:
            return Ended(self.failing[layout.stem], 1.0)
        factor = self.noise[len(self.launched) % len(self.noise)]
        return Ended("", 1.0, counts=RunCounts(region_ns=int(self.seconds[layout.stem] * 1e9 * factor)))

    def reserve(self, count_2mb, count_1gb=0):
        self.reserved.append((count_2mb, count_1gb))
        return nullcontext()

    def simulated(self) -> Path:
        """Cells of host-sim: cycles fall twice as far as the invented clock times."""
        rows = [
            {
                "workload": "gups", "platform": "host-sim", "layout": name, "repeat": 0, "status": "ok",
                "runtime_cycles": 1000 - 200 * pages / 64, "stlb_hits": 10, "stlb_misses": 100 - pages,
                "walk_cycles": 500, "walk_cycles_ci95": 5, "runtime_provenance": "simulated",
                "tlb_provenance": "simulated", "engine": "timing",
            }
            for name, pages in PAGES.items()
        ]  # fmt: skip
        path = self.folder / "simulated" / "cells.csv"
        write_cells(rows, path)
        return path

    def request(self, **changes) -> hybrid_cells.Experiment:
        values = {"workload": "gups", "size": "tiny", "layouts": tuple(self.layouts)}
        return hybrid_cells.Experiment(**values | {"out": self.folder / "out" / "cells.csv"} | changes)


@pytest.fixture
def bench(tmp_path, monkeypatch):
    return Bench(tmp_path, monkeypatch)
