"""Layouts and mappings by folder, file and pattern."""

import pytest

from tessera.core.errors import TesseraError
from tessera.simulate.inputs import LAYOUT, MAPPING, file_bytes, find_inputs


@pytest.fixture
def folder(tmp_path):
    for name in ("growing-10", "growing-2", "1gb", "random-0", "manifest"):
        (tmp_path / f"{name}.csv").write_text("type,pageSize,startOffset,endOffset\n")
    return tmp_path


def names(*words):
    return [path.stem for path in find_inputs([str(word) for word in words], LAYOUT)]


def test_a_folder_in_natural_order(folder):
    assert names(folder) == ["growing-2", "growing-10", "random-0", "1gb"]


def test_files_in_the_order_asked_for_and_patterns_by_name(folder):
    assert names(folder / "random-0.csv", folder / "growing-*.csv") == ["random-0", "growing-10", "growing-2"]
    assert "manifest" not in names(folder / "*.csv")


def test_nothing_found_and_found_twice(folder):
    with pytest.raises(TesseraError, match="--layouts .*sliding-") as caught:
        names(folder / "sliding-*.csv")
    assert caught.value.code == "no-layout-found"
    with pytest.raises(TesseraError, match="random-0.*: .*random-0.csv and .*random-0.csv"):
        names(folder, folder / "../" / folder.name / "random-0.csv")
    (folder / "4kb.csv").write_text("")
    (folder / "growing-0.csv").write_text("")
    with pytest.raises(TesseraError, match="growing-0"):
        names(folder / "4kb.csv", folder / "growing-0.csv")


def test_mappings_have_plain_names(folder):
    found = [path.stem for path in find_inputs([str(folder)], MAPPING)]
    assert found == ["1gb", "growing-2", "growing-10", "manifest", "random-0"]
    (folder / "4kb.csv").write_text("")
    (folder / "growing-0.csv").write_text("")
    words = [str(folder / name) for name in ("4kb.csv", "growing-0.csv")]
    assert len(find_inputs(words, MAPPING)) == 2
    with pytest.raises(TesseraError, match="mapping 4kb: .*4kb.csv and .*4kb.csv"):
        find_inputs([str(folder), words[0]], MAPPING)


def test_what_names_no_mapping_says_how_to_make_one(tmp_path):
    for word in (tmp_path, tmp_path / "absent-*.csv"):
        with pytest.raises(TesseraError, match=r"(?s)--mappings .*tessera mapping generate") as caught:
            find_inputs([str(word)], MAPPING)
        assert caught.value.code == "no-mapping-found"
    with pytest.raises(TesseraError, match="mapping .*absent.csv"):
        file_bytes(tmp_path / "absent.csv", MAPPING)
