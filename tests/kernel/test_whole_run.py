"""Table 6 from counts that are made up here."""

import pandas as pd
import pytest

from tessera.kernel.experiments.whole_run import table6
from tessera.results.schema.kernel import TABLE6_COUNTS


def test_overhead_is_in_per_cent_and_beside_the_papers():
    counts = [("gups", "off", 1, 1000), ("gups", "replicated", 4, 1005), ("btree", "off", 1, 200)]
    counts.append(("btree", "replicated", 4, 220))
    table = table6(
        pd.DataFrame([(*row, "measured") for row in counts], columns=list(TABLE6_COUNTS.names))
    ).set_index("program")
    assert table.overhead_percent["gups"] == pytest.approx(0.5)
    assert table.overhead_percent["btree"] == pytest.approx(10)
    assert table.published_overhead_percent["gups"] == 0.46
    assert pd.isna(table.published_overhead_percent["btree"])  # the paper has Redis there
