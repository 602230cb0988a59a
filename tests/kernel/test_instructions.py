"""Ratios of instructions from counts that are made up here."""

import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.lab.kernel.cost_experiments import check_calibration, operations_table
from tessera.lab.kernel.page_tables import PLACEMENT_COLUMNS
from tessera.lab.kernel.placement_experiments import figure4, figure4_runs


def test_ratios_are_to_the_patched_kernel_with_the_mechanism_off():
    counts = {"unpatched": 99, "off": 100, "on, not replicated": 110, "replicated": 150}
    measured = pd.DataFrame(
        [("mmap", "4KB", 4096, config, 1, count, "measured") for config, count in counts.items()],
        columns=["operation", "region", "bytes", "config", "copies", "instructions", "provenance"],
    )
    (row,) = operations_table(measured).to_dict("records")
    assert row["replicated_ratio"] == 1.5
    assert row["off_ratio"] == pytest.approx(100 / 99)
    assert (row["off_instructions"], row["on_not_replicated_instructions"]) == (100, 110)
    assert (row["published_ratio"], row["provenance"]) == (1.0, "measured")


@pytest.mark.parametrize(
    ("counted", "right"), [(200_000, True), (202_000, True), (202_001, False), (87_000, False)]
)
def test_a_counter_that_counts_something_else_is_refused(counted, right):
    frame = pd.DataFrame({"operation": ["calibration"], "instructions": [counted]})
    if right:
        check_calibration(frame)
    else:
        with pytest.raises(TesseraError, match="200000"):
            check_calibration(frame)


def test_figure4_covers_all_runs_and_tells_replicas_apart():
    rows = [("w", "F", "home", 1, 0, 0, 1, 100), ("w", "F+M", "home", 1, 0, 0, 1, 100)]
    rows += [("w", "F", "home", 1, 1, 0, 0, 0), ("w", "F+M", "home", 1, 1, 0, 0, 0)]
    rows += [("w", "F+M", "1", 1, 1, 0, 1, 100)]
    seen = (
        figure4(pd.DataFrame(rows, columns=PLACEMENT_COLUMNS))
        .set_index(["config", "socket"])
        .remote_leaf_share
    )
    assert seen["F", 0] == 0 and seen["F", 1] == 1  # all tables on socket 0
    assert seen["F+M", 1] == 0
    assert {run.config for run in figure4_runs(64)} == {"F", "F+M", "I", "I+M"}
