"""Each invariant holds on a consistent cell and sees it when the cell is bent."""

import pandas as pd
import pytest

from tessera.core import platforms
from tessera.core.platforms import changed_platform
from tessera.lab.validation.invariants import INVARIANTS, PairCells

HASWELL = platforms.load_platform("haswell-sim")  # loads take 4, 12, 36 and 200 cycles
GOOD = {
    "stlb_hits": 100, "stlb_misses": 50, "accesses": 1000, "instructions": 4000, "timed_instructions": 4000,
    "runtime_cycles": 9000.0, "walk_cycles": 30 * 4 + 10 * 12 + 6 * 36 + 4 * 200,
    "program_l1d_loads": 1000, "program_l2_loads": 300, "program_l3_loads": 200, "program_dram_loads": 100,
    "walker_l1d_loads": 50, "walker_l2_loads": 20, "walker_l3_loads": 10, "walker_dram_loads": 4,
}  # fmt: skip


WALK_SUM = "C = sum over levels of walker loads x load time, and what walks take before their first load"


def group(**bent):
    """Two layouts that are duplicates of each other; the second one bent."""
    cells = pd.DataFrame([GOOD, GOOD | bent], index=["growing-0", "growing-1"])
    manifest = pd.DataFrame({"layout": ["growing-0", "growing-1"], "duplicate_of": ["", "growing-0"]})
    return PairCells("gups", cells, HASWELL, manifest, pages_4kb=50)


def broken(g):
    return {invariant.sentence for invariant in INVARIANTS if invariant.broken(g)}


def test_a_consistent_cell_breaks_nothing():
    assert broken(group()) == set()


@pytest.mark.parametrize(
    "bent, sentence",
    [
        ({"stlb_hits": 1951}, "H + M <= 2 x accesses"),
        ({"walk_cycles": GOOD["walk_cycles"] - 800}, WALK_SUM),
        ({"walker_l2_loads": 55}, "no level serves more than the one above it passes on"),
        ({"program_dram_loads": 204}, "no level serves more than the one above it passes on"),
        (
            {"program_l1d_loads": 999},
            "instructions, accesses and program loads are those of every other layout",
        ),
        ({"runtime_cycles": 990.0}, "R >= instructions / dispatch width"),
    ],
)
def test_a_bent_cell_is_seen(bent, sentence):
    names = broken(group(**bent))
    assert sentence in names
    assert "duplicate layouts have equal cells" in names


def test_too_few_cold_misses_are_seen():
    g = group()
    g.cells.loc["growing-0", "stlb_misses"] = 49
    assert "M >= distinct 4KB pages under growing-0" in broken(g)


@pytest.mark.parametrize(
    ("begin", "more", "holds"),
    [(220, 2_200, True), (220, 11_000, True), (220, 0, False), (220, 13_200, False), (0, 800, False)],
)
def test_walks_that_take_time_before_their_first_load(begin, more, holds):
    """50 loads are 10 to 50 walks of 220 cycles each; rounding may hide 3 (4 + 12 + 36 + 200) cycles."""
    one = group(walk_cycles=GOOD["walk_cycles"] + more)
    cells = one.cells.iloc[1:]
    slower = changed_platform(HASWELL, {"walker.begin_cycles": begin})
    found = broken(PairCells("gups", cells, slower, one.manifest, pages_4kb=50))
    assert (WALK_SUM not in found) == holds
