"""The order of sources of the kernel; archive and snapshot service are on localhost."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import tarfile

import pytest

from tessera.core.errors import TesseraError
from tessera.lab.kernel import source
from tessera.lab.kernel.source import recorded_source

VERSION, NEWER = "6.12.117-1", "6.12.130-1"
DEB, TIME = "pool/updates/l/linux-source-6.12_6.12.117-1_all.deb", "20261126T000000Z"
TREE = b"\xfd7zXZ the compressed tree" * 4000  # longer than a block of tar and of a download
LIVE, SNAPSHOT = f"live/debian-security/{DEB}", f"snapshot/debian-security/{TIME}/{DEB}"


def deb(tree: bytes = TREE) -> bytes:
    """A package by the rules of deb(5): three members, an odd one with a byte of padding."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz") as data:
        for name, body in (
            ("./usr/share/doc/copyright", b"GPL"),
            ("./usr/src/linux-source-6.12.tar.xz", tree),
        ):
            member = tarfile.TarInfo(name)
            member.size = len(body)
            data.addfile(member, io.BytesIO(body))
    text = b"!<arch>\n"
    for name, body in (
        ("debian-binary", b"2.0\n"),
        ("control.tar.xz", b"odd"),
        ("data.tar.xz", packed.getvalue()),
    ):
        text += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(body):<10}`\n".encode() + body
        text += b"\n" * (len(body) % 2)
    return text


@pytest.fixture
def archive(httpserver):
    """A server that has nothing until :func:`put`."""
    httpserver.no_handler_status_code = 404
    return httpserver


def asked(archive) -> list[str]:
    """The paths that were asked for."""
    return [request.path for request, _ in archive.log]


@pytest.fixture
def checkout(tmp_path, monkeypatch, archive):
    """A checkout whose record names the package of :func:`deb`, and whose archives are on localhost."""
    root = tmp_path / "checkout"
    kernel = root / "artifacts" / "kernel"
    kernel.mkdir(parents=True)
    lines = {
        "package": "linux-source-6.12", "series": "6.12", "version": VERSION, "archive": "debian-security",
        "deb": DEB, "sha256": hashlib.sha256(deb()).hexdigest(), "snapshot": TIME,
        "tree-sha256": hashlib.sha256(TREE).hexdigest(),
    }  # fmt: skip
    (kernel / "SOURCE").write_text("".join(f"{name} {value}\n" for name, value in lines.items()))
    monkeypatch.setenv("TESSERA_ROOT", str(root))
    monkeypatch.setenv("TESSERA_LIVE_ARCHIVE", archive.url_for("/live"))
    monkeypatch.setenv("TESSERA_SNAPSHOT_ARCHIVE", archive.url_for("/snapshot/"))
    monkeypatch.setenv("no_proxy", "localhost")
    monkeypatch.delenv("TESSERA_OFFLINE", raising=False)
    return root


def put(archive, name: str, body: bytes | None = None) -> None:
    archive.expect_request(f"/{name}").respond_with_data(deb() if body is None else body)


def find(installed: str, applies=None) -> source.FoundSource:
    return source.first_source(installed, lambda line: None, applies=applies)


def test_the_installed_version_needs_no_network(checkout, archive):
    put(archive, LIVE)
    assert find(VERSION) == source.FoundSource(VERSION, "installed")
    assert find(VERSION).environment() == {} and asked(archive) == []


def test_the_live_archive_is_asked_before_the_snapshot(checkout, archive):
    put(archive, LIVE)
    put(archive, SNAPSHOT)
    found = find(NEWER, applies=lambda: "")
    assert (found.version, found.origin) == (VERSION, "live")
    assert found.archive.read_bytes() == TREE
    assert found.environment() == {"KERNEL_SOURCE": str(found.archive)}
    assert asked(archive) == [f"/{LIVE}"] and [NEWER in line for line in found.passed_over] == [True]
    assert [path.name for path in found.archive.parent.iterdir()] == ["linux-source-6.12.tar.xz"]


def test_the_snapshot_has_what_the_live_archive_dropped(checkout, archive):
    put(archive, SNAPSHOT)
    found = find(NEWER)
    assert found.origin == "snapshot" and found.archive.read_bytes() == TREE
    assert asked(archive) == [f"/{LIVE}", f"/{SNAPSHOT}"] and "404" in found.passed_over[1]


def test_what_was_fetched_is_kept(checkout, archive):
    put(archive, LIVE)
    first, before = find(NEWER), len(asked(archive))
    assert find(NEWER) == first and len(asked(archive)) == before
    first.archive.write_bytes(b"damaged")
    assert find(NEWER).archive.read_bytes() == TREE and len(asked(archive)) == before + 1


def test_other_bytes_are_refused_and_the_next_source_is_asked(checkout, archive):
    put(archive, LIVE, deb(TREE + b"!"))
    put(archive, SNAPSHOT)
    found = find(NEWER)
    assert found.origin == "snapshot"
    assert hashlib.sha256(deb(TREE + b"!")).hexdigest()[:16] in found.passed_over[1]


def test_a_newer_version_comes_after_the_recorded_one(checkout, archive):
    found = find(NEWER, applies=lambda: "")
    assert (found.version, found.origin, found.archive) == (NEWER, "newer", None)
    kept = json.loads((checkout / "build" / "kernel" / "source.json").read_text())
    assert kept["version"] == NEWER and kept["recorded"]["version"] == VERSION
    assert [line.split(":")[0] for line in kept["passed_over"]] == ["installed", "live", "snapshot"]


def packaged(checkout, body: bytes = TREE):
    path = checkout / "offline" / "kernel" / "linux-source-6.12.tar.xz"
    path.parent.mkdir(parents=True)
    path.write_bytes(body)
    return path


@pytest.mark.parametrize("applies", [None, lambda: "patch 0003 does not apply"])
def test_the_package_is_the_last_source(checkout, archive, applies):
    path = packaged(checkout)
    found = find(NEWER, applies=applies)
    assert (found.version, found.origin, found.archive) == (VERSION, "package", path)
    assert NEWER in found.passed_over[-1] and len(found.passed_over) == 4


def test_without_a_network_none_is_asked(checkout, archive, monkeypatch):
    monkeypatch.setenv("TESSERA_OFFLINE", "1")
    put(archive, LIVE)
    packaged(checkout)
    assert find("").origin == "package" and asked(archive) == []


def test_a_server_that_does_not_answer_is_passed_over(checkout, monkeypatch):
    monkeypatch.setenv("TESSERA_LIVE_ARCHIVE", "http://127.0.0.1:9")
    monkeypatch.setenv("TESSERA_SNAPSHOT_ARCHIVE", "http://127.0.0.1:9")
    assert find(NEWER, applies=lambda: "").origin == "newer"


@pytest.mark.parametrize("installed", ["6.1.170-1", "6.120.1-1", ""])
def test_another_series_is_never_taken(checkout, archive, installed):
    packaged(checkout, TREE[:-1])
    with pytest.raises(TesseraError) as refused:
        find(installed, applies=lambda: "")
    found = refused.value
    assert found.code == "kernel-source" and found.exit_code == 1
    for word in (VERSION, "installed: ", "live: ", "snapshot: ", "package: ", "404"):
        assert word in str(found)
    assert f"linux-source-6.12={VERSION}" in found.remedy


def test_a_file_that_is_no_package_is_refused(checkout, tmp_path):
    path = tmp_path / "some.deb"
    for body in (b"<html>not found</html>", b"!<arch>\n", deb()[:100]):
        path.write_bytes(body)
        with pytest.raises(TesseraError) as refused:
            source.unpacked_tree(path, recorded_source(), tmp_path / "out")
        assert refused.value.code == "kernel-source-package"


@pytest.mark.parametrize(
    "change", [("snapshot", "yesterday"), ("sha256", "abc"), ("colour", "red"), ("deb", "")]
)
def test_a_wrong_record_is_refused(checkout, change):
    name, value = change
    path = checkout / "artifacts" / "kernel" / "SOURCE"
    lines = [line for line in path.read_text().splitlines() if not line.startswith(f"{name} ")]
    path.write_text("\n".join([*lines, f"{name} {value}"]) + "\n")
    with pytest.raises(TesseraError) as refused:
        recorded_source()
    assert refused.value.code == "kernel-source-record" and name in str(refused.value)


def test_a_script_removes_its_own_folder_and_no_other(root, tmp_path):
    """A quote in the path of the checkout is no end of a word."""
    (tmp_path / "tree" / "top").mkdir(parents=True)
    (tmp_path / "tree" / "top" / "Makefile").touch()
    archive = tmp_path / "source.tar.xz"
    with tarfile.open(archive, "w:xz") as packed:
        packed.add(tmp_path / "tree" / "top", "top")
    work = tmp_path / "it's bob's" / "w$(touch X)"
    for kept in (tmp_path / "its", work.parent / "kept"):
        kept.mkdir(parents=True)
    lines = f'source "{root}/artifacts/kernel/source.sh"; unpack "$1"; ls "$1/source"'
    done = subprocess.run(
        ["bash", "-euc", lines, "script", work],
        env=os.environ | {"KERNEL_SOURCE": str(archive)}, cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("Makefile\n", "")
    assert not work.exists() and (tmp_path / "its").exists() and (work.parent / "kept").exists()
    assert not list(tmp_path.rglob("X"))
