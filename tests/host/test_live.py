"""Real runs with real 2MB pages: only where the pages may be had."""

from __future__ import annotations

import pytest

from tessera.core.layouts.layout import Layout, Window, write_layout
from tessera.core.results.table_io import read_cells
from tessera.core.units import MB, PAGE_2MB
from tessera.machine.reserve import huge_pages_free, reserving_allowed
from tessera.measure.hybrid_cells import Experiment, run_host
from tessera.measure.rounds import StoppingRule

POOLS = {"brk": 64 * MB, "mmap": 160 * MB}
WINDOW = 64 * MB  #: half of the tiny array

pytestmark = [pytest.mark.toolchain, pytest.mark.hugepages]


@pytest.fixture
def layouts(tmp_path):
    windows = {"growing-0": (), "growing-4": (Window("mmap", 0, WINDOW, PAGE_2MB),)}
    files = []
    for name, window in windows.items():
        files.append(tmp_path / f"{name}.csv")
        write_layout(Layout(name, POOLS, window), files[-1])
    return tuple(files)


def test_a_real_mosaic_gives_measured_times(tmp_path, layouts):
    needed = WINDOW // PAGE_2MB
    if not reserving_allowed() and huge_pages_free(PAGE_2MB) < needed:
        pytest.skip(f"needs {needed} free 2MB pages: TESSERA_RESERVE=1, or sysctl vm.nr_hugepages={needed}")
    out = tmp_path / "cells.csv"
    run_host(
        Experiment(
            "gups", "tiny", layouts, out, rule=StoppingRule(half_width=0.5, min_repeats=2, max_repeats=2)
        )
    )
    cells = read_cells(out).set_index("layout")
    assert set(cells.status) == {"ok"}, list(cells.message)
    assert (cells.runtime_ns > 0).all()
    assert cells.runtime_cycles.isna().all()
