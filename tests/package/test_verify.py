"""``tessera dev package verify`` sees every change; the command says what was packed."""

from __future__ import annotations

import stat
import sys
import zipfile

import pytest
from click.testing import CliRunner

from tessera import __version__
from tessera.cli.dev.package import package
from tessera.core.errors import TesseraError
from tessera.report.package import make, verify_package
from tests.docs import pages

TOP = f"tessera-{__version__}"


@pytest.fixture
def made(results, tmp_path):
    return make(results, tmp_path / "out.zip").path


def rewritten(path, change):
    """The package with ``change(name, body) -> body, or None to leave the entry out``."""
    out = path.with_name("changed.zip")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            body = change(name.removeprefix(f"{TOP}/"), old.read(name))
            if body is not None:
                new.writestr(name, body)
    return out


def replacing(wanted, text):
    return lambda name, body: text if name == wanted else body


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (replacing("README.md", b"# Simple\n"), "README.md has SHA-256"),
        (replacing("README.md", None), "missing: README.md"),
        (replacing("SHA256SUMS", None), "SHA256SUMS is missing"),
        pytest.param(
            replacing("SHA256SUMS", b"nothing\n"), "SHA256SUMS has lines", id="<lambda>-no checksums"
        ),
        (lambda name, body: body + b"x" if name == "manifest.csv" else body, "manifest.csv has SHA-256"),
        (
            lambda name, body: body.replace(b"  run\n", b"  ran\n") if name == "SHA256SUMS" else body,
            "not in SHA256SUMS",
        ),
    ],
)
def test_a_changed_package(made, change, match):
    verify_package(rewritten(made, lambda name, body: body))  # rewriting alone changes nothing
    with pytest.raises(TesseraError, match=match) as caught:
        verify_package(rewritten(made, change))
    assert caught.value.exit_code == 1


def test_a_manifest_that_differs_from_the_checksums(made):
    import hashlib

    with zipfile.ZipFile(made) as archive:
        old = archive.read(f"{TOP}/manifest.csv")
    new = old.replace(b"run,19,", b"run,20,")
    assert new != old
    digests = [hashlib.sha256(text).hexdigest().encode() for text in (old, new)]

    def change(name, body):
        return {"manifest.csv": new, "SHA256SUMS": body.replace(*digests)}.get(name, body)

    with pytest.raises(TesseraError, match="manifest.csv.* SHA256SUMS.*: run") as caught:
        verify_package(rewritten(made, change))
    assert caught.value.code == "package-tables-differ"


@pytest.mark.parametrize("extra", ["evil.txt", f"{TOP}/evil.txt", f"{TOP}/../evil.txt"])
def test_entries_that_nobody_listed(made, extra):
    with zipfile.ZipFile(made, "a") as archive:
        archive.writestr(extra, b"x")
    with pytest.raises(TesseraError, match=f"{TOP}, evil.txt|evil.txt, {TOP}|SHA256SUMS: evil.txt|outside"):
        verify_package(made)


def test_a_package_with_links_or_of_sizes_that_none_has(made, monkeypatch):
    def code():
        with pytest.raises(TesseraError) as caught:
            verify_package(made)
        return caught.value.code

    for name, most in (("MOST_ENTRIES", 3), ("MOST_BYTES", 100), ("MOST_TABLE_BYTES", 100)):
        with monkeypatch.context() as patched:
            patched.setattr(sys.modules[verify_package.__module__], name, most)
            assert code() == "package-too-large", name
    link = zipfile.ZipInfo(f"{TOP}/link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(made, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    assert code() == "package-file-kind"


def with_flag(path, bit):
    """The zip with a flag set in the first entry of its directory."""
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= bit
    path.write_bytes(data)
    return path


def test_entries_that_nobody_can_unpack_or_that_become_others(made):
    def code(path):
        with pytest.raises(TesseraError) as caught:
            verify_package(path)
        return caught.value.code

    copy = rewritten(made, lambda name, body: body)
    assert code(with_flag(copy, 1)) == "package-method"
    before = made.read_bytes()
    for name, method, wanted in (
        ("x", zipfile.ZIP_LZMA, "package-method"),
        ("./README.md", zipfile.ZIP_STORED, "package-file-name"),
        ("a//b", zipfile.ZIP_STORED, "package-file-name"),
        ("a\u2028b", zipfile.ZIP_STORED, "package-file-name"),
    ):
        made.write_bytes(before)
        with zipfile.ZipFile(made, "a") as archive:
            archive.writestr(f"{TOP}/{name}", b"x", compress_type=method)
        assert code(made) == wanted, name


def test_no_package(tmp_path, made):
    (tmp_path / "short.zip").write_bytes(made.read_bytes()[:500])
    for path in (tmp_path / "short.zip", tmp_path / "absent.zip"):
        with pytest.raises(TesseraError, match=path.name) as caught:
            verify_package(path)
        assert caught.value.code == "package-unreadable"


def test_the_documented_commands(results, tmp_path):
    places = {"/tmp/": f"{tmp_path}/", "results/default": results}
    assert pages.invoke_all("package.md", places=places) == 2


def test_the_command(checkout, results, tmp_path):
    out = tmp_path / "out.zip"
    done = CliRunner().invoke(package, ["--results", str(results), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "15 files" in done.output and "traces: 0.0 MB, left out" in done.output
    assert "commit unknown," in done.output
    done = CliRunner().invoke(package, ["verify", str(out)])
    assert done.exit_code == 0 and "every SHA-256 as listed" in done.output
    done = CliRunner().invoke(package, ["--out", str(out)])
    assert done.exit_code == 2 and "--results results/default" in done.output
