"""The record of the images' packages, and how a later build is compared with it."""

from __future__ import annotations

import csv
import re

import pytest

from tessera.machine.container import image_packages

RECORD = """package,version,architecture,sha256,images
gcc-12,12.2.0-14,amd64,aa,toolchain kernel
libc6,2.36-9,amd64,bb,base toolchain kernel
tar,1.34,amd64,cc,base
"""
SHOWN = """Package: libc6
Version: 2.36-9
Architecture: amd64
Description: the library
 with a second line: of text
SHA256: bb

Package: tar
Version: 1.34
Architecture: amd64
SHA256: cc

"""


@pytest.fixture
def record(tmp_path, monkeypatch):
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path))
    (tmp_path / "docker").mkdir()
    (tmp_path / "docker" / "packages.csv").write_text(RECORD)


def test_an_image_has_its_packages(record):
    assert image_packages.recorded_packages("base") == {"libc6": "2.36-9", "tar": "1.34"}
    assert image_packages.recorded_packages("tool") == {}


def test_differences_name_both_versions(record):
    found = {"libc6:amd64": "2.36-10", "tar": "1.34", "xz-utils": "5.4"}
    assert image_packages.differences("base", found) == {
        "libc6": "2.36-9 -> 2.36-10",
        "xz-utils": "none -> 5.4",
    }
    assert image_packages.differences("base", {"tar": "1.34"}) == {"libc6": "2.36-9 -> none"}
    assert image_packages.differences("base", {"libc6:amd64": "2.36-9", "tar": "1.34"}) == {}


def test_an_image_without_a_record_is_not_compared(record):
    assert image_packages.differences("libc", {"tar": "1.34"}) == {}


def test_the_index_is_read_by_paragraph():
    first, second = image_packages.package_stanzas(SHOWN)
    assert (first["Package"], first["SHA256"], first["Description"]) == ("libc6", "bb", "the library")
    assert second["Version"] == "1.34"


def test_the_table_is_the_record():
    rows = [
        image_packages.DebianPackage("libc6", "2.36-9", "amd64", "bb", ("base", "toolchain", "kernel")),
        image_packages.DebianPackage("tar", "1.34", "amd64", "cc", ("base",)),
    ]
    assert image_packages.packages_csv(rows).splitlines() == [RECORD.splitlines()[n] for n in (0, 2, 3)]


def test_the_record_of_this_checkout_is_whole(root):
    """Every image but libc's, each package once, with the checksum of Debian's file."""
    rows = list(csv.DictReader((root / "docker" / "packages.csv").open(newline="")))
    images = {image for row in rows for image in row["images"].split()}
    assert images == {path.name for path in (root / "docker").iterdir() if path.is_dir()} - {"libc"}
    assert all(re.fullmatch("[0-9a-f]{64}", row["sha256"]) and row["version"] for row in rows)
    names = [(row["package"], row["architecture"]) for row in rows]
    assert len(names) == len(set(names)) > 350
    base, tools, kernel = (image_packages.recorded_packages(name) for name in ("base", "toolchain", "kernel"))
    assert base.items() <= tools.items() <= kernel.items()
    source = dict(line.split(None, 1) for line in (root / "artifacts/kernel/SOURCE").read_text().splitlines())
    assert kernel[source["package"]] == source["version"]
