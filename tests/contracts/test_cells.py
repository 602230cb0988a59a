"""The cells table: text never NaN, unknown statuses refused."""

import csv
from concurrent.futures import ThreadPoolExecutor

import pandas
import pyarrow.parquet
import pytest

from tessera.core.errors import TesseraError
from tessera.core.results import table_io
from tessera.core.units import format_bytes, parse_bytes


def test_rows_survive_a_round_trip(tmp_path):
    row = {
        "workload": "gups",
        "platform": "p",
        "layout": "1gb",
        "status": "ok",
        "stlb_misses": 7,
        "repeat": 0,
    }
    table_io.write_cells([row, row | {"status": "failed", "message": "no, really"}], tmp_path / "cells.csv")
    table = table_io.read_cells(tmp_path / "cells.csv")
    assert list(table.message) == ["", "no, really"]
    assert list(table.stlb_misses) == [7, 7]
    assert list(table.columns) == list(table_io.CELL_COLUMNS)


ROW = {"workload": "w", "platform": "p", "layout": "growing-0", "repeat": 0, "engine": "timing"}
OK = {"status": "ok", "message": "", "runtime_cycles": 2**53 - 1, "runtime_ns": 1.5, "stlb_misses": 7}


def test_a_failed_row_leaves_the_counts_of_the_others_whole(tmp_path):
    failed = dict.fromkeys(table_io.CELL_COLUMNS) | ROW | {"layout": "x", "status": "failed", "message": "no"}
    written = table_io.write_cells([ROW | OK, failed], tmp_path / "c.csv")
    table_io.write_cells([ROW | OK, failed], tmp_path / "c.parquet")
    with (tmp_path / "c.csv").open(newline="") as stream:
        good, bad = csv.DictReader(stream)
    counts = {"runtime_cycles": "9007199254740991", "runtime_ns": "1.5", "stlb_misses": "7"}
    head = {name: str(value) for name, value in ROW.items()}
    assert {name: text for name, text in good.items() if text} == head | {"status": "ok"} | counts
    why = {"layout": "x", "status": "failed", "message": "no"}
    assert {name: text for name, text in bad.items() if text} == head | why
    assert list(written.stlb_misses.dropna()) == [7] and str(written.stlb_misses.dtype) == "Int64"
    table = pyarrow.parquet.read_table(tmp_path / "c.parquet")
    assert table.column("stlb_misses").to_pylist() == [7, None]
    assert table.column("runtime_cycles").to_pylist() == [2**53 - 1, None]
    assert table.column("message").to_pylist() == ["", "no"]


def test_both_formats_read_back_alike(tmp_path):
    rows = [ROW | OK | {"walk_cycles": 3}, ROW | OK | {"walk_cycles": None}, ROW | {"status": "skipped"}]
    tables = []
    for name in ("c.csv", "c.parquet"):
        table_io.write_cells(rows, tmp_path / name)
        tables.append(table_io.read_cells(tmp_path / name))
    pandas.testing.assert_frame_equal(*tables)
    assert tables[0].walk_cycles.dropna().tolist() == [3] and str(tables[0].repeat.dtype) == "int64"


def test_concurrent_writers_of_a_pair_of_files_get_their_own_bytes(tmp_path):
    paths = (tmp_path / "c.csv", tmp_path / "c.parquet")
    (tmp_path / "c.tmp").write_text("mine")
    right = 0
    with ThreadPoolExecutor(2) as pool:
        for number in range(200):
            row = ROW | OK | {"stlb_misses": number}
            list(pool.map(lambda path, row=row: table_io.write_cells([row], path), paths))
            as_text = f",{number}," in paths[0].read_text()
            right += as_text and pyarrow.parquet.read_table(paths[1])["stlb_misses"].to_pylist() == [number]
    assert right == 200
    assert (tmp_path / "c.tmp").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"c.csv", "c.parquet", "c.tmp"}


def test_missing_column_and_file_are_named(tmp_path):
    (tmp_path / "cells.csv").write_text("workload,platform\n")
    with pytest.raises(TesseraError, match="stlb_hits"):
        table_io.read_cells(tmp_path / "cells.csv")
    with pytest.raises(TesseraError, match="none.csv") as error:
        table_io.read_cells(tmp_path / "none.csv")
    assert error.value.code == "table-absent"


def test_unknown_status_is_refused(tmp_path):
    with pytest.raises(ValueError, match="done"):
        table_io.write_cells([{"status": "done"}], tmp_path / "cells.csv")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("4096", 4096),
        ("4KB", 4096),
        ("4 kb", 4096),
        ("2MB", 2 << 20),
        ("2MiB", 2 << 20),
        ("3G", 3 << 30),
        (7, 7),
    ],
)
def test_sizes(text, count):
    assert parse_bytes(text) == count
    assert parse_bytes(format_bytes(count)) == count


@pytest.mark.parametrize("text", ["", "-1", "4XB", "1.5GB", "GB", -1])
def test_bad_sizes(text):
    with pytest.raises(TesseraError):
        parse_bytes(text)
