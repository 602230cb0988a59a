"""Shapes, sources and loader errors of the published tables."""

from __future__ import annotations

import pytest

from tessera.core import reference
from tessera.core.errors import TesseraError
from tessera.core.reference.published_tables import LEADING_COLUMNS, TRAILING_COLUMNS

PAPERS = {
    "opera": "opera-d5.10",
    "mitosis": "mitosis-asplos20",
    "park": "park-kaist19",
    "virtuoso": "virtuoso-asplos25",
}
ROWS = {
    "mitosis_table1": 14,
    "mitosis_table2": 28,
    "mitosis_table3": 12,
    "mitosis_table4": 24,
    "mitosis_table5": 27,
    "mitosis_text": 13,
    "mitosis_timing": 24,
    "mitosis_values": 18,
    "opera_platforms": 25,
    "opera_table1_tlbs": 20,
    "opera_table4_overheads": 60,
    "opera_table6_xalancbmk": 22,
    "opera_table7": 29,
    "opera_values": 60,
    "park_table21_shared_memory": 14,
    "park_table22_synonym_filter": 15,
    "park_table23_segments": 52,
    "park_table24_system": 26,
    "park_table33_tlbs": 11,
    "park_table34_chunks": 6,
    "park_table35_stlb_shares": 84,
    "park_table36_distances": 84,
    "park_values": 85,
    "printed_errors": 20,
    "printed_values": 55,
    "table3_platforms": 27,
    "table4_tlbs": 35,
    "table5_workloads": 19,
    "table6_cv_errors": 4,
    "table7_xalancbmk": 18,
    "table8_rsquared": 168,
    "virtuoso_table3_effort": 16,
    "virtuoso_table4_systems": 64,
    "virtuoso_table5_workloads": 21,
    "virtuoso_values": 71,
}


def test_the_tables_are_the_ones_listed_here():
    assert reference.published_names() == sorted(ROWS)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_shape_and_source(name):
    frame = reference.load_published(name)
    assert len(frame) == ROWS[name]
    assert tuple(frame.columns[:3]) == LEADING_COLUMNS
    assert tuple(frame.columns[-4:]) == TRAILING_COLUMNS
    assert set(frame["paper"]) == {PAPERS.get(name.split("_")[0], "micro20")}
    assert (frame["location"] != "").all() and (frame["section"] != "").all()
    assert (frame.loc[frame["value"].notna(), "unit"] != "").all()
    keys = list(frame.columns[3:-4])
    assert not frame.duplicated(keys).any()


@pytest.mark.parametrize("name", sorted(ROWS))
def test_the_readme_describes_it(name):
    assert f"`{name}.csv`" in (reference.default_dir() / "README.md").read_text()


def test_unknown_table_lists_the_valid_ones():
    with pytest.raises(TesseraError, match="table6_cv_errors"):
        reference.load_published("table9")


def test_unknown_folder(tmp_path):
    with pytest.raises(TesseraError, match="absent") as caught:
        reference.load_published("table6_cv_errors", tmp_path / "absent")
    assert caught.value.code == "no-folder"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("paper,location,section,value,unit,provenance\n", "columns missing: note"),
        (
            "paper,location,section,value,unit,provenance,note\na,b,c,1,x,simulated,\n",
            "'simulated'.*'published'",
        ),
        (
            "paper,location,section,value,unit,provenance,note\na,b,c,big,x,published,\n",
            "column 'value'.*big",
        ),
    ],
    ids=["column missing", "foreign provenance", "word as value"],
)
def test_a_broken_table_is_refused(tmp_path, text, message):
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(TesseraError, match=message):
        reference.load_published("bad", tmp_path)


def test_lookup_needs_exactly_one_number():
    assert reference.lookup("table6_cv_errors", {"model": "mosmodel"}) == 4.3
    for table, where, code in (
        ("table6_cv_errors", {}, "several-rows"),
        ("table6_cv_errors", {"model": "poly9"}, "no-row"),
        ("table6_cv_errors", {"modle": "poly1"}, "no-column"),
        ("table5_workloads", {"workload": "spec06/mcf"}, "no-number"),
    ):
        with pytest.raises(TesseraError, match=table) as caught:
            reference.lookup(table, where)
        assert caught.value.code == code
    with pytest.raises(TesseraError, match="4 rows"):
        reference.lookup("table6_cv_errors")
