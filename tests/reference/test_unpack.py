"""Archives that are what they seem, and archives that aren't."""

from __future__ import annotations

import io
import tarfile
import zipfile

import pytest

from tessera.core.archives import ArchiveLimits, unpack
from tessera.core.errors import TesseraError
from tessera.core.reference.fetch import extract_tables
from tessera.core.reference.records import RecordTable

TABLES = (RecordTable("figure6/figure6_absolute.csv", "Figure 6", "3.2", "cycles"),)
INSIDE = "artifact-1.0/evaluation/reference/figure6/figure6_absolute.csv"


def as_zip(path, entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, body in entries.items():
            file.writestr(name, body)
    return path


def as_tar(path, entries, link: str = ""):
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w") as file:
        for name, body in entries.items():
            info = tarfile.TarInfo(name)
            info.size = len(body)
            if link:
                info.type, info.linkname, info.size = tarfile.SYMTYPE, link, 0
            file.addfile(info, io.BytesIO(body))
    return path


def everything(name):
    return name


@pytest.mark.parametrize(
    "make", [(as_zip, "a.zip"), (as_tar, "a.tar"), (as_tar, "a.tar.gz"), (as_tar, "a.tgz")]
)
def test_only_what_is_listed_comes_out(tmp_path, record, make):
    build, name = make
    entries = {
        INSIDE: b"right",
        "artifact-1.0/evaluation/measured/figure6/figure6_absolute.csv": b"measured",
        "artifact-1.0/evaluation/reference/multisocket/big.dat": b"left",
        "artifact-1.0/README.md": b"left",
    }
    sample = record(tables=TABLES)
    written = extract_tables(sample, [build(tmp_path / name, entries)])
    assert written and sorted(sample.data_folder.rglob("*.*")) == [sample.data_folder / TABLES[0].file]
    assert (sample.data_folder / TABLES[0].file).read_bytes() == b"right"


def test_without_the_outer_folder_and_again(tmp_path, record):
    sample = record(tables=TABLES)
    for body in (b"one", b"two"):
        extract_tables(sample, [as_zip(tmp_path / "a.zip", {INSIDE.removeprefix("artifact-1.0/"): body})])
        assert (sample.data_folder / TABLES[0].file).read_bytes() == body


def test_a_record_without_reference_data(tmp_path, record):
    with pytest.raises(TesseraError, match="evaluation/reference/figure6"):
        extract_tables(record(tables=TABLES), [as_zip(tmp_path / "a.zip", {"README": b""})])


def test_a_refused_archive_leaves_the_old_data(tmp_path, record):
    sample = record(tables=TABLES)
    extract_tables(sample, [as_zip(tmp_path / "a.zip", {INSIDE: b"one"})])
    with pytest.raises(TesseraError, match="'../evil'") as error:
        extract_tables(sample, [as_zip(tmp_path / "b.zip", {INSIDE: b"two", "../evil": b"x"})])
    assert error.value.code == "archive-unsafe-name"
    assert (sample.data_folder / TABLES[0].file).read_bytes() == b"one"
    assert not sample.data_folder.with_name("reference.new").exists()


@pytest.mark.parametrize("name", ["../evil", "/tmp/evil", "a/../../evil", "a\\..\\evil"])
@pytest.mark.parametrize("build", [as_zip, as_tar])
def test_names_that_leave_the_folder(tmp_path, build, name):
    archive = build(tmp_path / ("a.zip" if build is as_zip else "a.tar"), {name: b"x"})
    with pytest.raises(TesseraError, match="evil") as error:
        unpack(archive, tmp_path / "out", everything)
    assert error.value.code == "archive-unsafe-name"
    assert not list(tmp_path.rglob("evil"))


def test_links_are_refused(tmp_path):
    tar = as_tar(tmp_path / "a.tar", {"link.csv": b""}, link="/etc/passwd")
    info = zipfile.ZipInfo("link.csv")
    info.external_attr = 0o120777 << 16
    packed = as_zip(tmp_path / "a.zip", {info: b"/etc/passwd"})
    for archive in (tar, packed):
        with pytest.raises(TesseraError, match="link.csv") as error:
            unpack(archive, tmp_path / "out", everything)
        assert error.value.code == "archive-link"


def test_bombs(tmp_path):
    zeros = bytes(100_000)
    small = ArchiveLimits(entries=3, passed_bytes=250_000, written_bytes=150_000)
    for archive in (
        as_zip(tmp_path / "a.zip", {"a": zeros, "b": zeros}),
        as_tar(tmp_path / "a.tgz", {"a": zeros, "b": zeros}),
    ):
        assert archive.stat().st_size < 1_000  # it doesn't look it
        with pytest.raises(TesseraError, match="150000 bytes"):
            unpack(archive, tmp_path / "out", everything, small)
        unpack(archive, tmp_path / "out", lambda name: name if name.name == "a" else None, small)
    many = {str(number): b"" for number in range(4)}
    for archive in (as_zip(tmp_path / "b.zip", many), as_tar(tmp_path / "b.tar", many)):
        with pytest.raises(TesseraError, match="entries"):
            unpack(archive, tmp_path / "out", everything, small)
    with pytest.raises(TesseraError, match="250000 bytes"):
        unpack(
            as_tar(tmp_path / "c.tgz", {str(n): zeros for n in range(3)}),
            tmp_path / "out",
            lambda name: None,
            small,
        )


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.txt"])
def test_damaged_or_no_archive(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"PK\x03\x04 an error page")
    with pytest.raises(TesseraError, match=name) as error:
        unpack(path, tmp_path / "out", everything)
    assert error.value.code == "archive-unreadable"


def test_damage_inside(tmp_path):
    path = as_zip(tmp_path / "a.zip", {"a": b"0123456789" * 1000})
    body = bytearray(path.read_bytes())
    body[40:50] = b"\0" * 10
    path.write_bytes(body)
    with pytest.raises(TesseraError, match="a.zip") as error:
        unpack(path, tmp_path / "out", everything)
    assert error.value.code == "archive-unreadable"
