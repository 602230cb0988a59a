"""Tables in memory: what is counted is a plain whole number, and stays whole beside what is missing."""

import pandas as pd
import pytest

from tessera.core.results.cell_tables import MANIFEST
from tessera.core.results.schema import Table, columns
from tessera.core.results.table_io import UnreadableTable, frame_of, read_file

JUDGED = Table("judged", lambda tree: tree.root / "judged.csv", "a test", "none", "a test", columns("""
what   text   -  what was judged
holds  truth  -  whether it holds
"""))  # fmt: skip

ROW = {"layout": "growing-0", "pages_2mb": 3, "pages_1gb": 0}


def test_complete_counts_are_plain_integers():
    made = frame_of(MANIFEST, [ROW, ROW])
    assert made["pages_2mb"].dtype == "int64" and list(made["pages_2mb"]) == [3, 3]


def test_a_count_beside_a_missing_one_stays_whole():
    made = frame_of(MANIFEST, [ROW, ROW | {"pages_2mb": None}])
    assert made["pages_2mb"].iloc[0] == 3 and made["pages_2mb"].isna().iloc[1]
    assert made.to_csv(columns=["pages_2mb"], index=False).split() == ["pages_2mb", "3", '""']
    assert pd.api.types.is_integer_dtype(made["pages_2mb"])


def test_truth_values_survive_a_file_and_empty_is_neither(tmp_path):
    path = tmp_path / "judged.csv"
    path.write_text("what,holds\na,True\nb,False\nc,\n")
    assert list(read_file(JUDGED, path)["holds"]) == [True, False, None]
    path.write_text("what,holds\na,True\nb,False\n")
    table = read_file(JUDGED, path)
    assert list(table[table["holds"]]["what"]) == ["a"]  # a mask, not an object column


def test_what_is_no_truth_value_is_refused_with_its_column(tmp_path):
    path = tmp_path / "judged.csv"
    path.write_text("what,holds\na,perhaps\n")
    with pytest.raises(UnreadableTable, match="holds.*perhaps"):
        read_file(JUDGED, path)


COUNTED = Table("counted", lambda tree: tree.root / "counted.csv", "a test", "none", "a test", columns("""
cycles  count  cycles  what was counted
"""))  # fmt: skip


@pytest.mark.parametrize("large", ["1e19", "18446744073709551615", "9223372036854775808", "-1e20", "inf"])
def test_a_count_that_no_whole_number_holds_is_refused(large, tmp_path):
    """Turned into 64 bits, it would become another number without a word."""
    path = tmp_path / "counted.csv"
    path.write_text(f"cycles\n7\n{large}\n")
    with pytest.raises(UnreadableTable, match="cycles.*(e[+]|inf)"):
        read_file(COUNTED, path)
    path.write_text("cycles\n7\n4611686018427387904\n")
    assert list(read_file(COUNTED, path)["cycles"]) == [7, 2**62]
