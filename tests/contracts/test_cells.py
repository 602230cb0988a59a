"""The cells table: columns as documented, text never NaN, unknown statuses refused."""

import re
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.core.units import format_bytes, parse_bytes
from tessera.results import cells

ROOT = Path(__file__).resolve().parents[2]


def test_columns_are_those_of_the_contract():
    text = (ROOT / "docs" / "contracts.md").read_text()
    block = re.search(r"## Cells.*?```\n(.*?)```", text, re.DOTALL).group(1)
    assert tuple(re.findall(r"\w+", block)) == cells.COLUMNS


def test_rows_survive_a_round_trip(tmp_path):
    row = {
        "workload": "gups",
        "platform": "p",
        "layout": "1gb",
        "status": "ok",
        "stlb_misses": 7,
        "repeat": 0,
    }
    cells.write_cells([row, row | {"status": "failed", "message": "no, really"}], tmp_path / "cells.csv")
    table = cells.read_cells(tmp_path / "cells.csv")
    assert list(table.message) == ["", "no, really"]
    assert list(table.stlb_misses) == [7, 7]
    assert list(table.columns) == list(cells.COLUMNS)


def test_missing_column_and_file_are_named(tmp_path):
    (tmp_path / "cells.csv").write_text("workload,platform\n")
    with pytest.raises(TesseraError, match="stlb_hits"):
        cells.read_cells(tmp_path / "cells.csv")
    with pytest.raises(TesseraError, match="no such file"):
        cells.read_cells(tmp_path / "none.csv")


def test_unknown_status_is_refused(tmp_path):
    with pytest.raises(ValueError, match="done"):
        cells.write_cells([{"status": "done"}], tmp_path / "cells.csv")


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
