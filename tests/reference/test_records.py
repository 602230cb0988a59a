"""The list of records: what the papers print, and what a broken list is told."""

from __future__ import annotations

import pytest

from tessera.core.errors import TesseraError
from tessera.core.reference import records
from tessera.core.reference.archived import LAYOUTS


def test_the_records_that_the_mitosis_paper_names():
    """Its appendix prints DOI 10.5281/zenodo.3605382, and zenodo.org/record/3560200 for binaries."""
    assert {records.load_record(name).doi for name in records.record_names()} == {
        "10.5281/zenodo.3605382",
        "10.5281/zenodo.3560200",
    }
    mitosis = records.load_record("mitosis")
    assert mitosis.by_default and not records.load_record("mitosis-binaries").by_default
    assert {table.location for table in mitosis.tables} >= {"Figure 4", "Figure 6", "Figure 11", "Table 5"}
    assert {table.layout for table in mitosis.tables} <= set(LAYOUTS)


def test_unknown_record():
    with pytest.raises(TesseraError, match="(?s)'virtuoso'.*: mitosis, mitosis-binaries"):
        records.load_record("virtuoso")


CAUSES = (
    "doesn't end in record 12",
    "exactly the keys",
    "no SHA-256",
    "a name is a-z",
    "KeyError",
    "missing",
)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (("record: 1", "record: '12'"), r"10\.5281/zenodo\.1 .*record 12"),
        (("paper: p", "papers: p"), "records/sample/papers: unknown key\n.* did you mean 'paper'"),
        (("{a: b}", "{a: short}"), "records/sample/files/a: 'short'; .*SHA-256"),
        (("sample:", "Sample:"), "records/Sample: .*a-z"),
        (("records:", "record:"), "record: unknown key\n.*did you mean 'records'"),
        (("tables: []", "tables: [{file: f}]"), "tables/0: keys missing: location, section, layout"),
    ],
    ids=[f"change{n}-{was}" for n, was in enumerate(CAUSES)],
)
def test_a_broken_list(tmp_path, change, match):
    text = (
        "records:\n sample:\n  paper: p\n  doi: 10.5281/zenodo.1\n  record: 1\n  named_in: x\n  holds: x\n"
        "  by_default: true\n  files: {a: b}\n  reference_folder: ''\n  tables: []\n"
    )
    text = text.replace("record: 1", "record: '1'") if "record: 1" not in change[0] else text
    path = tmp_path / "records.yaml"
    path.write_text(text.replace(*change).replace("{a: b}", "{}"))
    with pytest.raises(TesseraError, match=match):
        records.load_record("sample", path)


def test_not_yaml_and_not_there(tmp_path):
    (tmp_path / "records.yaml").write_text("records: [")
    for path in (tmp_path / "records.yaml", tmp_path / "absent.yaml"):
        with pytest.raises(TesseraError, match=str(path)):
            records.record_names(path)
