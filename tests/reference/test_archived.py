"""The three layouts, on files made by hand, and what breaks them."""

from __future__ import annotations

import pytest

from tessera.core.errors import TesseraError
from tessera.core.reference import archived
from tessera.core.reference.records import RecordTable

from .conftest import cycles_text, operations_text, write


def table(layout: str, file: str = "data.csv") -> RecordTable:
    return RecordTable(file, "Figure 1", "1", layout)


def read(record, folder, layout, text):
    write(folder, data=text)
    return archived.read_archived(record(tables=(table(layout),)), folder)


@pytest.mark.parametrize("header", ["Config", "Configuration"])
@pytest.mark.parametrize("separator", ["", "\t\t\t\t"])
def test_cycles(tmp_path, record, header, separator):
    rows = read(record, tmp_path, "cycles", cycles_text(header=header, separator=separator))
    assert list(rows.columns) == list(archived.COLUMNS)
    assert (
        len(rows) == 2 * 3 * 3
        and set(rows["provenance"]) == {"published"}
        and set(rows["unit"]) == {"cycles"}
    )
    picked = rows[(rows["workload"] == "Beta") & (rows["configuration"] == "TLP-LD")]
    assert dict(zip(picked["quantity"], picked["value"], strict=True)) == {
        "runtime": 1600,
        "walk": 200,
        "non_walk": 1400,
    }
    assert set(picked["page_size"]) == {"2MB"} and set(picked["line"]) == {8}  # header, 3, blank, 3
    assert set(rows.loc[rows["configuration"] == "LP-LD", "page_size"]) == {"4KB"}


def test_remote_leaves(tmp_path, record):
    rows = read(record, tmp_path, "remote_leaves", "Workloads\tSocket 0\tSocket 1\nAlpha\t86%\t100%\n")
    assert list(rows["value"]) == [86, 100] and list(rows["configuration"]) == ["socket 0", "socket 1"]
    assert set(rows["unit"]) == {"percent"} and set(rows["quantity"]) == {"remote_leaf_entries"}


def test_operations(tmp_path, record):
    rows = read(
        record, tmp_path, "operations", operations_text({("MAP_SHARED", 1): (10, 20), ("UNMAP", 4): (40, 80)})
    )
    assert len(rows) == 2 * 2 * 4 and set(rows["page_size"]) == {"4KB"}
    assert set(rows["workload"]) == {"mmap shared", "munmap"} and set(rows["region_bytes"]) == {4096, 16384}
    picked = rows[(rows["workload"] == "munmap") & (rows["configuration"] == "on")]
    assert dict(zip(picked["quantity"], picked["value"], strict=True)) == {
        "min": 79,
        "avg": 80,
        "99th": 82,
        "max": 89,
    }


def test_a_run_that_two_figures_share_is_marked_in_the_second(tmp_path, record):
    write(
        tmp_path, a=cycles_text(), b=cycles_text({"Alpha": {"LP-LD": (1000, 400, 600), "RPI-LD": (7, 4, 3)}})
    )
    rows = archived.read_archived(
        record(tables=(table("cycles", "a.csv"), table("cycles", "b.csv"))), tmp_path
    )
    marked = rows[rows["note"] != ""]
    assert list(marked["quantity"]) == ["runtime", "walk", "non_walk"]
    assert set(marked["file"] + marked["configuration"]) == {"b.csvLP-LD"}
    assert set(marked["note"]) == {"the same measurement as in a.csv: count it once"}


def test_an_empty_file_gives_no_row(tmp_path, record):
    assert read(record, tmp_path, "cycles", "").empty


HEAD = "Workload\tConfig\tRuntime Cycles\tWalk Cycles\tNon-Walk Cycles\n"


@pytest.mark.parametrize(
    ("layout", "text", "match"),
    [
        ("cycles", "Alpha\tLP-LD\t1\t2\t3\n", "line 1: expected the header of layout 'cycles'"),
        ("cycles", HEAD + "Alpha\tLP-LD\t1\t2\n", "line 2: expected 5 columns"),
        ("cycles", HEAD + "\tLP-LD\t1\t2\t3\n", "line 2: expected 5 columns"),
        (
            "cycles",
            HEAD + "\nAlpha\tLP-LD\t1\ttwo\t3\n",
            "line 3: expected a number of 0 or more, found 'two'",
        ),
        ("cycles", HEAD + "Alpha\tLP-LD\t1\tnan\t3\n", "found 'nan'"),
        ("cycles", HEAD + "Alpha\tLP-LD\t1\t-2\t3\n", "found '-2'"),
        ("remote_leaves", "Workloads\tSocket 0\nAlpha\t101%\n", "between 0% and 100%"),
        ("remote_leaves", "Workloads\tSocket 0\nAlpha\t86\n", "between 0% and 100%"),
        ("remote_leaves", "Workloads\tSocket 0\nAlpha\t86%\t7%\n", "2 columns"),
        ("remote_leaves", "Workloads\tNode 0\nAlpha\t86%\n", "header"),
        ("operations", operations_text({("SWAP", 1): (1, 2)}), "one of MAP, PROTECT, UNMAP"),
        ("operations", "label\tnpages\n", "header"),
    ],
)
def test_a_broken_file_is_named_with_its_line(tmp_path, record, layout, text, match):
    with pytest.raises(TesseraError, match=match) as caught:
        read(record, tmp_path, layout, text)
    assert "data.csv" in caught.value.asked and caught.value.exit_code == 1


def test_bytes_that_are_no_text(tmp_path, record):
    (tmp_path / "data.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TesseraError, match="expected text"):
        archived.read_archived(record(tables=(table("cycles"),)), tmp_path)


def test_a_missing_file_says_how_to_get_it(tmp_path, record):
    with pytest.raises(TesseraError, match="fetch sample"):
        archived.read_archived(record(tables=(table("cycles", "absent.csv"),)), tmp_path)
