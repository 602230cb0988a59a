"""Tables in memory: what is counted is a plain whole number, and stays whole beside what is missing."""

import pandas as pd

from tessera.results.schema.cells import MANIFEST
from tessera.results.write import frame_of

ROW = {"layout": "growing-0", "pages_2mb": 3, "pages_1gb": 0}


def test_complete_counts_are_plain_integers():
    made = frame_of(MANIFEST, [ROW, ROW])
    assert made["pages_2mb"].dtype == "int64" and list(made["pages_2mb"]) == [3, 3]


def test_a_count_beside_a_missing_one_stays_whole():
    made = frame_of(MANIFEST, [ROW, ROW | {"pages_2mb": None}])
    assert made["pages_2mb"].iloc[0] == 3 and made["pages_2mb"].isna().iloc[1]
    assert made.to_csv(columns=["pages_2mb"], index=False).split() == ["pages_2mb", "3", '""']
    assert pd.api.types.is_integer_dtype(made["pages_2mb"])
