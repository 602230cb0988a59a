"""Which samples are duplicates."""

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.core.results.cell_tables import MANIFEST
from tessera.fit.evaluation.cross_validation import duplicate_groups, read_duplicates

from .builders import make_samples, noisy


def test_distinct_samples_are_alone():
    assert list(duplicate_groups(noisy())) == list(range(54))


def test_equal_rows_and_manifest_join():
    s = noisy().subset(range(6))
    R, H, M, C = (getattr(s, name).copy() for name in "RHMC")
    for values in (R, H, M, C):
        values[4] = values[1]  # growing-4 equals growing-1
    joined = make_samples(R, H, M, C)
    assert list(duplicate_groups(joined)) == [0, 1, 2, 3, 1, 4]
    assert list(duplicate_groups(joined, {"growing-5": "growing-4", "growing-9": "growing-0"})) == [
        0,
        1,
        2,
        3,
        1,
        1,
    ]


@pytest.mark.parametrize(
    "symbol, expected", [("H", [0, 0, 1]), ("M", [0, 0, 1]), ("C", [0, 0, 1]), ("R", [0, 0, 0])]
)
def test_one_differing_input_is_no_duplicate_a_differing_runtime_is_one(symbol, expected):
    s = noisy().subset([0, 0, 0])
    columns = {name: getattr(s, name).copy() for name in "RHMC"}
    columns[symbol][2] = np.nextafter(columns[symbol][2], np.inf)
    changed = make_samples(*(columns[name] for name in "RHMC"))
    assert list(duplicate_groups(changed)) == expected and changed.effective_n == len(set(expected))


def test_manifest(tmp_path):
    path = tmp_path / "manifest.csv"
    rows = ("4kb,growing,0,0,0,", "sliding-60-8,sliding,60-8,7,0,sliding-40-8")
    path.write_text("\n".join([",".join(MANIFEST.names), *rows]) + "\n")
    assert read_duplicates(path) == {"sliding-60-8": "sliding-40-8"}
    path.write_text("layout\n4kb\n")
    with pytest.raises(TesseraError, match="duplicate_of"):
        read_duplicates(path)
    with pytest.raises(TesseraError, match="none.csv") as error:
        read_duplicates(tmp_path / "none.csv")
    assert error.value.code == "table-absent"
