"""Table 6 from counts that are made up here."""

import pandas as pd
import pytest

from tessera.core.results.kernel_tables import TABLE6_COUNTS
from tessera.core.results.table_io import frame_of
from tessera.core.tables import frame_rows, table_text
from tessera.lab.kernel.cost_experiments import program_overheads


def test_overhead_is_in_per_cent_and_beside_the_papers():
    counts = [("gups", "off", 1, 1000), ("gups", "replicated", 4, 1005), ("btree", "off", 1, 200)]
    counts.append(("btree", "replicated", 4, 220))
    made = program_overheads(frame_of(TABLE6_COUNTS, [(*row, "measured") for row in counts]))
    assert "0.500" in table_text(**frame_rows(made, 3))
    table = made.set_index("program")
    assert table.overhead_percent["gups"] == pytest.approx(0.5)
    assert table.overhead_percent["btree"] == pytest.approx(10)
    assert table.published_overhead_percent["gups"] == 0.46
    assert pd.isna(table.published_overhead_percent["btree"])  # the paper has Redis there
