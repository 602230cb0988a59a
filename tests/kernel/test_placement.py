"""Tables of where page tables lie."""

import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.lab.kernel import page_tables

DUMP = """root home 1000
tree level socket pages to0 to1
home 4 0 1 1 0
home 3 0 1 1 1
home 2 0 1 2 1
home 2 1 1 0 4
home 1 0 2 300 100
home 1 1 5 50 550
1 4 1 1 0 1
1 1 1 7 350 650
"""


@pytest.fixture
def table():
    return page_tables.placement_of_dump(DUMP)


def test_a_dump_becomes_one_row_a_target(table):
    assert len(table) == 8 * 2
    row = table[
        (table.observer == "home") & (table.level == 1) & (table.socket == 1) & (table.target_socket == 0)
    ]
    assert row[["pages", "pointers"]].to_numpy().tolist() == [[5, 50]]


def test_remote_share_depends_on_whose_tables_a_socket_walks(table):
    shares = page_tables.remote_leaf_share(table, [0, 1])
    # Socket 0 walks the home tables: 600 of their 1000 leaves are on socket 1. Socket 1 has its own.
    assert shares[0] == pytest.approx(0.6)
    assert shares[1] == 0


def test_figure3_cells(table):
    lines = page_tables.figure3(table).splitlines()
    assert "2 [300 100] (25%)" in lines[4] and "5 [50 550] (8%)" in lines[4]
    assert lines[1].startswith("L4") and "0 [0 0] (-)" in lines[1]


def test_another_text_is_refused():
    with pytest.raises(TesseraError, match="debugfs"):
        page_tables.placement_of_dump("level socket\n")


def test_columns_are_the_contract():
    assert page_tables.PLACEMENT_COLUMNS[:2] == ["workload", "config"]
    assert list(pd.DataFrame(columns=page_tables.PLACEMENT_COLUMNS)) == page_tables.PLACEMENT_COLUMNS
