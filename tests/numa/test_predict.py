"""`tessera lab numa predict`: a row of cells, its n, and the closed form; errors of cells."""

from __future__ import annotations

import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.core.errors import TesseraError
from tessera.core.results.cell_tables import CELLS
from tessera.lab.numa.placement_costs import placement_named, published_machine
from tessera.lab.numa.predicted_costs import Walks, memory_of, nearly_no_effect, predict_placements, walks_of

GOOD = {
    "workload": "w", "platform": "haswell-4s-sim", "layout": "growing-0", "repeat": 0, "status": "ok",
    "walk_cycles": 1_000_000, "walk_cycles_ci95": 10_000, "stlb_misses": 10_000, "walker_dram_loads": 2_000,
}  # fmt: skip


@pytest.fixture
def cells(tmp_path):
    def make(*rows: dict):
        path = tmp_path / "cells.csv"
        pd.DataFrame([GOOD | row for row in rows], columns=list(CELLS.names)).to_csv(path, index=False)
        return path

    return make


def test_counts_of_a_cell(cells):
    path = cells({}, {"layout": "growing-8", "walk_cycles": 5}, {"workload": "other"})
    assert walks_of(path, "w", "haswell-4s-sim") == Walks(1_000_000, 10_000, 2_000, 10_000)
    assert walks_of(path, "w", "haswell-4s-sim", "2mb").cycles == 5


def test_repeats_are_averaged_and_failures_left_out(cells):
    path = cells(
        {}, {"repeat": 1, "walk_cycles": 3_000_000}, {"repeat": 2, "status": "failed", "walk_cycles": 7}
    )
    assert walks_of(path, "w", "haswell-4s-sim").cycles == 2_000_000


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("v", "haswell-4s-sim", "4kb"), "w"),
        (("w", "p", "4kb"), "haswell-4s-sim"),
        (("w", "haswell-4s-sim", "1gb"), "growing-0"),
    ],
)
def test_an_unknown_cell_lists_the_known_ones(cells, asked, words):
    with pytest.raises(TesseraError) as caught:
        walks_of(cells({}), *asked)
    assert words in caught.value.remedy


def test_a_failed_cell_gives_its_reason(cells):
    with pytest.raises(TesseraError) as caught:
        walks_of(cells({"status": "failed", "message": "no-memory-here"}), "w", "haswell-4s-sim")
    assert "no-memory-here" in caught.value.found


@pytest.mark.parametrize("column", ["walk_cycles", "walker_dram_loads", "stlb_misses"])
def test_a_cell_without_counts(cells, column):
    with pytest.raises(TesseraError) as caught:
        walks_of(cells({column: None}), "w", "haswell-4s-sim")
    assert caught.value.code == "numa-no-loads" and column in caught.value.found


def test_remote_memory_is_published_for_one_platform_only():
    found = memory_of("haswell-4s-sim", published_machine(), None, None)
    assert (found.local_cycles, found.shortest_cycles, found.remote_cycles, found.lines) == (
        280,
        250,
        580,
        140,
    )
    for remote, lines in ((None, None), (500, None), (None, 140)):
        with pytest.raises(TesseraError) as caught:
            memory_of("haswell-sim", published_machine(), remote, lines)
        assert caught.value.code == "numa-no-remote"
    assert memory_of("haswell-sim", published_machine(), 500, 70).lines == 70


def test_a_prediction_by_hand():
    memory = memory_of("haswell-4s-sim", published_machine(), None, None)
    rows = predict_placements(
        Walks(1_000_000, 10_000, 2_000, 10_000),
        memory,
        [placement_named("RP-LD"), placement_named("RPI-LD+M")],
    )
    assert list(rows["walk_cycles"]) == [1_600_000, 1_000_000]  # 2000 x 300 more; nothing after migration
    assert list(rows["walk_cycles_ratio"]) == [1.6, 1.0] and set(rows["walk_cycles_ci95"]) == {10_000}
    swept = predict_placements(Walks(1_000_000, 0, 2_000, 10_000), memory, [placement_named("RPI-LD")])
    assert [round(value) for value in swept["wait_cycles"]] == [350, 700, 933, 1400]
    assert swept["walk_cycles"].iloc[1] == 1_000_000 + 2_000 * 1_000
    assert (swept["assumption"] != "").all()


def test_no_walks_stay_no_walks():
    memory = memory_of("haswell-4s-sim", published_machine(), None, None)
    rows = predict_placements(Walks(0, 0, 0, 0), memory, [placement_named("RP-LD")])
    assert list(rows["walk_cycles"]) == [0] and list(rows["walk_cycles_ratio"]) == [1]


@pytest.mark.parametrize(("loads", "overlap"), [(4_000, False), (4_001, True)])
def test_loads_that_overlap_are_refused(loads, overlap):
    memory = memory_of("haswell-4s-sim", published_machine(), None, None)  # a load takes at least 250 cycles
    walks = Walks(1_000_000, 0, loads, 10_000)
    if not overlap:
        assert len(predict_placements(walks, memory, [placement_named("RP-LD")])) == 1
        return
    with pytest.raises(TesseraError) as caught:
        predict_placements(walks, memory, [placement_named("RP-LD")])
    assert caught.value.code == "numa-overlap"


@pytest.mark.parametrize(("loads", "small"), [(166, True), (167, False)])  # 5% of 1e6 cycles is 166.7 x 300
def test_when_n_is_near_zero(loads, small):
    memory = memory_of("haswell-4s-sim", published_machine(), None, None)
    assert nearly_no_effect(Walks(1_000_000, 0, loads, 10_000), memory) is small


def test_the_command(cells, tmp_path):
    out = tmp_path / "out.csv"
    words = ["lab", "numa", "predict", "--workload", "w", "--platform", "haswell-4s-sim", "--out", str(out)]
    done = CliRunner().invoke(cli, [*words, "--cells", str(cells({}))])
    assert done.exit_code == 0, done.output
    rows = pd.read_csv(out)
    assert len(rows) == 5 + 2 * 4  # a hog slows the walker in two of the seven
    assert "near 0" not in done.output
    done = CliRunner().invoke(cli, [*words, "--cells", str(cells({"walker_dram_loads": 3}))])
    assert done.exit_code == 0 and "near 0" in done.output


@pytest.mark.parametrize("kind", ["missing", "folder", "empty", "other"])
def test_hostile_cells(tmp_path, kind):
    path = tmp_path / "hostile.csv"
    if kind == "folder":
        path.mkdir()
    elif kind != "missing":
        path.write_text("" if kind == "empty" else "a,b\n1,2\n")
    words = [
        "lab",
        "numa",
        "predict",
        "--cells",
        str(path),
        "--workload",
        "w",
        "--platform",
        "haswell-4s-sim",
    ]
    done = CliRunner().invoke(cli, words)
    assert isinstance(done.exception, TesseraError) and "hostile.csv" in str(done.exception)
