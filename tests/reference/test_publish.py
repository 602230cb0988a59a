"""The tables of results/<config>/reference/, from hand-made data in the archive's form and from none."""

from __future__ import annotations

import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.core.reference import load_published, records
from tessera.core.reference.comparison import write_reference
from tessera.core.results.report_tables import REFERENCE
from tessera.lab.kernel.cost_experiments import operations_table

from .conftest import cycles_text, operations_text

#: Walk shares at most 90%, slowdowns by hand; BTree's TRPI-LD repeats its RPI-LD as in the archive.
FIGURE6 = {
    "GUPS": {"LP-LD": (1000, 400, 600), "LP-RDI": (3000, 500, 2500), "RPI-LD": (3200, 2880, 320)},
    "BTree": {"LP-LD": (1000, 300, 700), "RPI-LD": (1400, 700, 700), "RPI-RDI": (3600, 1000, 2600)},
}
FIGURE10 = {
    "GUPS": {"LP-LD": (1000, 400, 600), "RPI-LD": (3200, 2880, 320), "TLP-LD": (500, 100, 400)},
    "BTree": {"LP-LD": (1000, 300, 700), "RPI-LD": (1400, 700, 700), "TLP-LD": (600, 100, 500)},
}
FIGURE10["GUPS"]["TRPI-LD"] = (650, 250, 400)
FIGURE10["BTree"]["TRPI-LD"] = FIGURE10["BTree"]["RPI-LD"]
FIGURE9 = {
    "Canneal": {"F": (1340, 500, 840), "F+M": (1000, 300, 700), "TF": (570, 70, 500), "TF+M": (500, 50, 450)},
    "BTree": {"F": (1000, 100, 900), "TF": (1100, 100, 1000), "TF+M": (1000, 50, 950)},
}


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results" / "sample"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def archive(tmp_path):
    """A folder like evaluation/reference of the Mitosis artifact."""
    texts = {
        "figure4/figure4_normalized": "Workloads\tSocket 0\tSocket 1\nGUPS\t86%\t75%\n",
        "figure6/figure6_absolute": cycles_text(FIGURE6),
        "figure9/figure9a_absolute": cycles_text(FIGURE9),
        "figure9/figure9b_absolute": cycles_text(FIGURE9),
        "figure10/figure10a_absolute": cycles_text(FIGURE10),
        "figure10/figure10b_absolute": cycles_text(FIGURE10),
        "figure11/figure11_absolute": cycles_text({"GUPS": {"LP-LD": (1000, 400, 60)}}),
        "table5/table5_absolute": operations_text(
            {("PROTECT", 2048): (123_000, 527_000), ("MAP", 1): (2300, 2400)}
        ),
        "table6/table6_absolute": "",
    }
    for name, text in texts.items():
        path = tmp_path / "archive" / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "archive"


def row(frame: pd.DataFrame, quantity: str) -> pd.Series:
    (index,) = frame.index[frame["quantity"] == quantity]
    return frame.loc[index]


def test_every_printed_number_beside_the_archived_one(results, archive):
    table = write_reference(results, archive).comparison
    assert tuple(table.columns) == REFERENCE["comparison"].names and len(table) == 18 + 9
    expected = {
        "walk_share_4kb": (90.0, True),  # 2880 of 3200
        "slowdown_remote_data": (3.0, True),
        "slowdown_all_remote": (3.6, True),
        "speedup_canneal_4kb": (1.34, True),
        "speedup_canneal_2mb": (1.14, True),
        "speedup_btree_2mb": (1.1, False),  # 1.07 is printed
        "slowdown_remote_page_table_least": (1.4, True),
        "slowdown_remote_page_table_most": (3.2, True),
        "overhead of mmap 4KB": (2400 / 2300, True),
    }
    for quantity, (archived, agrees) in expected.items():
        found = row(table, quantity)
        assert found["archived"] == pytest.approx(archived) and found["agrees"] == agrees, quantity
        assert found["archived_status"] == "all rows"


def test_a_number_that_rests_on_a_quarantined_row_says_so(results, archive):
    table = write_reference(results, archive).comparison
    migrated = row(table, "slowdown_remote_page_table_2mb")
    assert migrated["archived"] == pytest.approx(650 / 500)
    assert migrated["archived_with_quarantined"] == pytest.approx(1400 / 600)
    assert migrated["archived_status"] == "without quarantined rows"
    operation = row(table, "overhead of mprotect 8MB")
    assert operation["archived_status"] == "quarantined" and pd.isna(operation["archived"])
    assert operation["archived_with_quarantined"] == pytest.approx(527 / 123)
    assert row(table, "overhead_gups")["archived_status"] == "not in the archive"


def test_the_rules_that_the_archive_needs_all_find_their_defect(results, archive):
    done = write_reference(results, archive)
    assert dict(zip(done.rules["rule"], done.rules["findings"], strict=True)) == {
        "empty_file": 1,
        "same_file_twice": 2,
        "copied_row": 2,
        "broken_sum": 1,
        "not_as_printed": 2,
    }
    both = done.archived.merge(done.quarantine, on=["file", "line", "quantity"])
    assert both.empty and len(done.archived) > 0


def test_files_that_are_written_read_back_as_published(results, archive):
    done = write_reference(results, archive)
    folder = results / "reference"
    for name in ("archived", "quarantine"):
        back = load_published(name, folder)  # the loader refuses any other provenance
        assert len(back) == len(getattr(done, name)) and set(back["provenance"]) == {"published"}
    assert list(pd.read_csv(folder / "status.csv")["state"]) == ["read"]
    assert pd.read_csv(folder / "comparison.csv")["quantity"].is_unique


def test_without_any_archive_the_printed_numbers_stay(results):
    done = write_reference(results)
    assert len(done.notes) == 1 and "reference-results/" in done.notes[0]
    assert done.archived.empty and done.quarantine.empty and len(done.comparison) == 27
    assert set(done.comparison["archived_status"]) == {"nothing archived is here"}
    assert done.comparison["printed"].notna().all()
    assert list(pd.read_csv(results / "reference" / "status.csv")["state"]) == ["not here"]


def test_our_own_numbers_stand_beside(results):
    kernel = results / "kernel" / "table5"
    kernel.mkdir(parents=True)
    rows = [
        (operation, region, config, count)
        for operation, region, off, replicated in (("mprotect", "8MB", 10, 31), ("mmap", "1GB", 10, 11))
        for config, count in (
            ("unpatched", 10),
            ("off", off),
            ("on, not replicated", off),
            ("replicated", replicated),
        )
    ]
    measured = pd.DataFrame(rows, columns=["operation", "region", "config", "instructions"])
    operations_table(measured).to_csv(kernel / "table5.csv", index=False)
    table = write_reference(results).comparison
    assert row(table, "overhead of mprotect 8MB")["obtained"] == 3.1
    assert row(table, "overhead of mprotect 8MB")["obtained_provenance"] == "measured"
    assert row(table, "overhead of mmap 4GB")["obtained_unit"] == "ratio of instructions, 1GB"
    assert table["obtained"].notna().sum() == 2


def test_a_fetched_record_is_read_without_being_named(results, archive):
    archive.rename(_made(records.load_record("mitosis").data_folder))
    assert write_reference(results).notes == ()


def _made(path):
    path.parent.mkdir(parents=True)
    return path


def test_wrong_folders(results, tmp_path):
    with pytest.raises(TesseraError, match="^results .*absent(?s:.*)results/default"):
        write_reference(tmp_path / "absent")
    with pytest.raises(TesseraError, match="^reference data .*absent"):
        write_reference(results, tmp_path / "absent")
    (tmp_path / "file").write_text("")
    (results / "reference").symlink_to(tmp_path / "file")
    with pytest.raises(TesseraError, match="Not a directory"):
        write_reference(results)
