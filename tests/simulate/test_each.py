"""``--each``: the variants of a command, and the table that tells them apart."""

import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.core.results.table_io import CELL_COLUMNS, read_cells
from tessera.simulate.outputs import variants_of, write_variants_table


def test_options_make_a_product_of_which_the_first_changes_slowest():
    found = variants_of(["mmu.design=thp,anchor", "tlb.stlb.entries=512,1024"], {})
    assert [dict(variant.values) for variant in found] == [
        {"mmu.design": "thp", "tlb.stlb.entries": 512},
        {"mmu.design": "thp", "tlb.stlb.entries": 1024},
        {"mmu.design": "anchor", "tlb.stlb.entries": 512},
        {"mmu.design": "anchor", "tlb.stlb.entries": 1024},
    ]


@pytest.mark.parametrize(
    ("texts", "word"),
    [
        (["mmu.design"], "key=value"),
        (["mmu.design="], "key=value"),
        (["=thp"], "key=value"),
        (["mmu.design=thp,"], "key=value"),
        (["mmu.design=thp,rmm,thp"], "twice"),
        (["tlb.stlb.entries=8,08"], "twice"),
        (["mmu.design=thp", "mmu.design=rmm"], "--each has"),
        (["walker.count=1,2"], "--set has"),
    ],
)
def test_wrong_lists_are_refused(texts, word):
    with pytest.raises(TesseraError, match=word):
        variants_of(texts, {"walker.count": 2})


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_table_has_a_column_for_each_key_and_is_a_cells_table(tmp_path, suffix):
    cell = dict.fromkeys(CELL_COLUMNS) | {"workload": "w", "platform": "p", "status": "ok", "repeat": 0}
    rows = [
        cell | {"layout": "low", "stlb_misses": 7, "d.pages": 2, "mmu.design": "anchor"},
        cell | {"layout": "low", "stlb_misses": 5, "d.pages": 4, "mmu.design": "anchor"},
    ]
    out = tmp_path / f"cells.{suffix}"
    write_variants_table(rows, ["mmu.design", "d.pages"], out)
    table = pd.read_csv(out) if suffix == "csv" else pd.read_parquet(out)
    assert list(table.columns[:5]) == ["workload", "platform", "mmu.design", "d.pages", "layout"]
    assert list(table["d.pages"]) == [2, 4] and set(table["mmu.design"]) == {"anchor"}
    assert list(table.set_index("d.pages").stlb_misses) == [7, 5]
    assert list(read_cells(out).stlb_misses) == [7, 5]
