"""Which pairs are analysed, on cells made by hand: 1GB pages must save 5% of the runtime."""

import pandas as pd
import pytest

from tessera.core.results import loader


def cells(rows):
    columns = ["workload", "platform", "layout", "runtime_cycles"]
    return pd.DataFrame(rows, columns=columns)


def pair(workload, platform, small, large):
    return [(workload, platform, "growing-0", small), (workload, platform, "1gb", large)]


@pytest.mark.parametrize(
    ("large", "sensitive", "analysed"),
    [
        (94.9, "yes", True),
        (95.0, "yes", True),
        (95.1, "no", False),
        (100.0, "no", False),
        (120.0, "no", False),
    ],
)
def test_the_threshold_is_five_percent(large, sensitive, analysed):
    row = loader.judge_sensitivity(cells(pair("w", "p", 100.0, large))).iloc[0]
    assert (row.sensitive, bool(row.analysed)) == (sensitive, analysed)
    assert row.improvement == pytest.approx(1 - large / 100)


def test_a_row_is_judged_per_platform():
    table = cells([*pair("bfs-road", "broadwell-sim", 100, 97), *pair("bfs-road", "haswell-sim", 100, 90)])
    dropped = loader.dropped_pairs(table)
    assert dropped == {("bfs-road", "broadwell-sim"): "1GB pages save 3.0% of the runtime, less than 5%"}


def test_repeats_are_averaged_and_other_layouts_do_not_count():
    rows = [*pair("w", "p", 100, 90), *pair("w", "p", 100, 94), ("w", "p", "growing-8", 50)]
    assert loader.judge_sensitivity(cells(rows)).improvement[0] == pytest.approx(0.08)


@pytest.mark.parametrize("layout", ["growing-0", "1gb"])
def test_without_one_of_the_two_cells_a_pair_stays_and_says_so(layout):
    rows = [row for row in pair("w", "p", 100, 99) if row[2] != layout]
    row = loader.judge_sensitivity(cells(rows)).iloc[0]
    assert row.analysed and row.sensitive == "" and "not judged" in row.reason


def test_no_cells_no_rows():
    table = loader.judge_sensitivity(cells([]))
    assert table.empty and list(table.columns) == list(loader.SENSITIVITY_COLUMNS)
    assert loader.dropped_pairs(cells([])) == {}
