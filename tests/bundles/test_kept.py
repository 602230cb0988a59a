"""A bundle that passes all checks can be stored, and is the same when it is read from there."""

from __future__ import annotations

import zipfile
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.cli.pipeline import bundles as steps
from tessera.core.errors import TesseraError
from tessera.measure.bundles import archive, csv_files, file_format, merge, verify, writer
from tessera.measure.bundles.archive import contents
from tessera.measure.bundles.bundle import MeasuredRun
from tessera.measure.bundles.reader import parse_bundle, read_bundle
from tessera.measure.bundles.verify import verify_bundle, verify_files
from tests.bundles import extremes
from tests.bundles.processor import Plan, made, opened, put

PLAN = Plan(rounds=1, layouts=("growing-0", "growing-8"))
HOSTILE = [
    ".",
    "..",
    "...",
    "a/.",
    "./x",
    "x/",
    "a//b",
    "-",
    ":x",
    "_x",
    ".x",
    "x.",
    "x:y",
    "con",
    "=x",
    "a\0b",
    "é",
    "x" * 101,
]


@pytest.fixture(scope="module")
def good():
    return made(PLAN).files


def renamed(files: dict[str, bytes], old: str, new: str) -> dict[str, bytes]:
    """The bundle with another name of a workload or a layout in all its files; sums are right."""
    found = {name.replace(f"/{old}", f"/{new}"): extremes.plain(files, name) for name in files}
    found = {name: data.replace(old.encode(), new.encode()) for name, data in found.items()}
    return extremes.changed(found, {file_format.PACKED_FILE: found[file_format.PACKED_FILE]})


@settings(max_examples=60, deadline=None)
@given(
    old=st.sampled_from(["gups-16gb", "growing-8"]),
    new=st.sampled_from(HOSTILE) | st.text("ab.:-/_", min_size=1, max_size=6),
    within=st.sampled_from(["", "mine/", "./", "a/./", "mine//"]),
    zipped=st.booleans(),
)
def test_what_passes_can_be_kept(good, tmp_path_factory, old, new, within, zipped):
    folder = tmp_path_factory.mktemp("kept")
    files = renamed(good, old, new)
    source = folder / "source.zip"
    if zipped:
        with zipfile.ZipFile(source, "w") as packed:
            for name, data in files.items():
                packed.writestr(within + name, data)
    try:
        done = verify_bundle(source) if zipped else verify_files("made", files)
        found = contents(source) if zipped else files
    except TesseraError:
        return
    if done.passed:
        merge.write(found, folder / "stored")
        assert contents(folder / "stored") == found == files
        assert verify_bundle(folder / "stored").passed


@pytest.mark.parametrize("name", ["x", "7", "a.b:c-d_e", "x."])
def test_ordinary_names_pass(good, name):
    assert verify_files("made", renamed(good, "gups-16gb", name)).passed


@pytest.mark.parametrize("name", HOSTILE[:11])
def test_other_names_do_not(good, name):
    assert not verify_files("made", renamed(good, "gups-16gb", name)).passed


@pytest.mark.parametrize(
    "name", ["layouts/./x.csv", "./bundle.json", "layouts//x.csv", "a/.", "bundle.json\0x"]
)
def test_a_zip_file_with_a_name_of_another_form(good, tmp_path, name):
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as packed:
        for inside, data in good.items():
            packed.writestr(inside, data)
        info = zipfile.ZipInfo("x")
        info.filename = name
        packed.writestr(info, b"x")
    with pytest.raises(TesseraError) as error:
        read_bundle(tmp_path / "b.zip")
    assert error.value.code == "bundle-file-name"


def test_folders_that_a_zip_file_does_not_list_are_counted(good, tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MOST_ENTRIES", 100)
    monkeypatch.setattr(file_format, "MOST_ENTRIES", len(good) + 1)
    put(good, tmp_path / "folder")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as packed:
        for inside, data in good.items():
            packed.writestr(inside, data)
    for source in (tmp_path / "folder", tmp_path / "b.zip"):  # layouts/ and layouts/gups-16gb/
        with pytest.raises(TesseraError) as error:
            contents(source)
        assert error.value.code == "bundle-size"


def test_a_bundle_that_is_kept_otherwise_is_removed(good, tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "contents", lambda folder: good | {"bundle.json": b"{}"})
    with pytest.raises(TesseraError) as error:
        merge.write(good, tmp_path / "b")
    assert error.value.code == "bundle-not-kept" and not (tmp_path / "b").exists()


def test_a_bundle_that_takes_part_is_read_once(good, tmp_path, monkeypatch):
    """What changes after the check takes no part."""
    put(good, tmp_path / "b")
    read = []
    for module in (steps, verify):
        monkeypatch.setattr(
            module, "contents", lambda path: read.append(path) or contents(path), raising=False
        )
    (entry,) = steps.accepted([tmp_path / "b"])
    assert read == [tmp_path / "b"] and entry.files == good


# Texts that a spreadsheet takes for formulas.


@pytest.mark.parametrize("text", ['=HYPERLINK("x")', "+1+1", "-n", "@SUM(1)", "-1e5"])
def test_a_text_of_a_table_is_no_formula(good, text):
    header, *rows = extremes.table(good[file_format.RUNS_FILE])
    failed = [[*rows[0][:6], "failed", text, "", "", "", ""], *rows[1:]]
    table, *lines = extremes.table(good[file_format.ENVIRONMENT_FILE])
    found = [[*lines[0][:3], text, *lines[0][4:]], *lines[1:]]
    for name, new in (
        (file_format.RUNS_FILE, extremes.text(header, failed)),
        (file_format.ENVIRONMENT_FILE, extremes.text(table, found)),
    ):
        with pytest.raises(TesseraError, match="line 2") as error:
            parse_bundle("made", extremes.changed(good, {name: new}))
        assert error.value.code == "bundle-value"


def test_numbers_and_arguments_may_have_a_sign(good):
    """kernel.perf_event_paranoid is -1 on many machines; arguments of programs are in no table."""
    files = dict(opened(PLAN).files)
    rows = csv_files.parse_csv(csv_files.ENVIRONMENT_SHAPE, files[file_format.ENVIRONMENT_FILE])
    assert rows[0].check == "counting"
    files[file_format.ENVIRONMENT_FILE] = writer.environment_text(
        [replace(rows[0], found="-1"), *rows[1:]]
    ).encode()
    files[file_format.WORKLOADS_FILE] = files[file_format.WORKLOADS_FILE].replace(b'"16GB"', b'"-n"')
    sealed = writer.sealed_files("made", files)
    assert b",-1," in sealed[file_format.ENVIRONMENT_FILE] and verify_files("made", sealed).passed


def test_a_message_that_begins_like_a_formula_gets_a_quote(tmp_path):
    files = opened(
        Plan(rounds=1, layouts=("growing-0", "growing-8", "random-1"), failing=("random-1",))
    ).files
    put(files, tmp_path)
    add, bundle = writer.resume_bundle(tmp_path)
    add.append(MeasuredRun(99, "gups-16gb", "paper", "random-1", 1, "data", "failed", "-n: no such option"))
    assert writer.resume_bundle(tmp_path)[1].runs[-1].message == "'-n: no such option"
    sealed = writer.sealed_files("made", contents(tmp_path))
    assert b",'-n: no such option," in sealed[file_format.CELLS_FILE]


def test_a_bundle_has_no_more_messages_than_layouts(good, monkeypatch):
    """Each is searched for what is private, so their number limits the time."""
    header, *rows = extremes.table(good[file_format.RUNS_FILE])
    failed = [[*row[:6], "failed", f"status {at}", "", "", "", ""] for at, row in enumerate(rows)]
    none = extremes.table(extremes.plain(good, file_format.PACKED_FILE))[:1]
    changes = {file_format.RUNS_FILE: extremes.text(header, failed)}
    changes[file_format.PACKED_FILE] = extremes.text(none[0], [])
    files = extremes.changed(good, changes)
    assert len(parse_bundle("made", files).runs) == 2
    monkeypatch.setattr(file_format, "MOST_MESSAGES", 1)
    with pytest.raises(TesseraError) as error:
        parse_bundle("made", files)
    assert error.value.code == "bundle-size"
