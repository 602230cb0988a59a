"""Slopes of other programs: the printed one by hand, and those of a results folder."""

from __future__ import annotations

import pytest

from tessera.core.results.cell_tables import CELLS
from tessera.core.results.table_io import frame_of, write_table
from tessera.measure.program import model_data

ROWS = """workload,platform,model,term,coefficient
a,broadwell-sim,poly1,C,1.5
b,broadwell-sim,poly1,C,0.8
b,broadwell-sim,poly1,1,1e9
b,broadwell-sim,poly2,C,7
"""


def results(tmp_path, text, first="simulated"):
    """Coefficients, and a cell of each pair; ``first``: provenance of R of workload a."""
    path = tmp_path / "models" / "coefficients.csv"
    path.parent.mkdir()
    path.write_text(text)
    rows = [
        {"workload": name, "platform": "broadwell-sim", "layout": "growing-0", "status": "ok",
         "runtime_provenance": kind}
        for name, kind in (("a", first), ("b", "simulated"))
    ]  # fmt: skip
    write_table(CELLS, frame_of(CELLS, rows), tmp_path / "cells.csv")
    return tmp_path


def test_the_printed_slope():
    """(1320 - 1155) / (76 - 0) = 2.171 of xalancbmk."""
    found = model_data.published_slopes()
    assert found.values == pytest.approx((165 / 76,))
    assert str(found).startswith("2.2 (published: MICRO'20 Table 7")


def test_slopes_of_our_own_pairs_say_where_they_come_from(tmp_path):
    found = model_data.slopes_of_results(results(tmp_path, ROWS))
    assert sorted(found.values) == [0.8, 1.5]
    assert str(found) == f"0.8 to 1.5 (simulated: 2 pairs of {tmp_path}, model poly1)"
    assert [one.source.split(":")[0] for one in model_data.known_slopes(tmp_path)] == [
        "published",
        "simulated",
    ]


def test_measured_pairs_are_named(tmp_path):
    found = model_data.slopes_of_results(results(tmp_path, ROWS, first="measured"))
    assert found.source.partition(":")[0].split(" and ") == ["measured", "simulated"]


def test_without_fitted_models_there_is_the_printed_slope_only(tmp_path):
    assert len(list(model_data.known_slopes(tmp_path))) == 1
    (tmp_path / "x").mkdir()
    assert model_data.slopes_of_results(results(tmp_path / "x", ROWS.splitlines()[0] + "\n")) is None
