"""Bundles of the index by DOI: downloaded once, held to the SHA-256 of the index, refused with the cause."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile

import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.cli.pipeline import bundles
from tessera.core.errors import TesseraError
from tessera.measure.bundles import store
from tessera.measure.bundles.reader import parse_bundle
from tests.bundles.processor import Plan, made
from tests.reference.server import Behaviour

DOI = "10.5281/zenodo.77"
PLAN = Plan(layouts=("growing-0", "growing-8", "1gb"))


def zipped(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(f"bundle/{name}", data)
    return stream.getvalue()


FILES = made(PLAN).files
BODY = zipped(FILES)
ID = store.bundle_id(parse_bundle("made", FILES))
OTHER_ID = "skylake-00000000-11111111"


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


@pytest.fixture(autouse=True)
def checkout(tmp_path, monkeypatch):
    """A checkout whose index lists one bundle; the cache of downloads is in it, too."""
    home = tmp_path / "checkout"
    (home / "bundles").mkdir(parents=True)
    monkeypatch.setenv("TESSERA_ROOT", str(home))
    monkeypatch.setattr(store, "PAUSE_S", 0.0)
    monkeypatch.chdir(home)
    index(home, (ID, DOI, sha256(BODY)))
    return home


def index(home, *rows):
    text = "\n".join(",".join(row) for row in (("id", "doi", "sha256"), *rows)) + "\n"
    (home / "bundles" / "index.csv").write_text(text)


def run(*words):
    """(exit status, stdout, stderr or the message, the error's code)."""
    done = CliRunner().invoke(cli, list(map(str, words)))
    if isinstance(done.exception, TesseraError):
        return done.exception.exit_code, done.stdout, str(done.exception), done.exception.code
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr, ""


@pytest.fixture
def check(tmp_path):
    """(exit status, the paths that the step writes, stderr or the message, the error's code)."""

    def check(*words):
        listed = tmp_path / "paths.txt"
        bundles = [f"bundle={word}" for word in words]
        status, _, said, code = run("dev", "step", "accept", *bundles, "--out", listed)
        return status, listed.read_text() if status == 0 else "", said, code

    return check


@pytest.mark.parametrize("word, doi", [
    (DOI, DOI), (f"doi:{DOI}", DOI), (f"https://doi.org/{DOI}", DOI), (f"http://dx.doi.org/{DOI}", DOI),
    ("10.1/x", ""), ("bundles/a-1-2", ""), (f"./{DOI}", ""), ("10.5281", ""), ("10.5281/", ""),
    ("10.5281/a b", ""), (f"x{DOI}", ""), ("https://example.org/10.5281/zenodo.1", ""),
])  # fmt: skip
def test_words_that_are_dois(word, doi):
    assert store.doi_of(word) == doi


def test_a_listed_bundle_is_downloaded_once_and_checked(zenodo, checkout, check):
    server = Behaviour({"notes.txt": b"hello\n", "measured.zip": BODY})
    with zenodo(server):
        status, out, said, _ = check(f"https://doi.org/{DOI}", DOI.upper().replace("ZENODO", "Zenodo"))
    assert status == 0 and f"bundle {ID}: all checks pass" in said
    assert out == f"datasets/cache/bundles/{ID}.zip\n"
    assert (checkout / out.strip()).read_bytes() == BODY and len(server.contents()) == 1
    with zenodo(None):  # no network: the file is here
        assert check(DOI)[0] == 0
        assert run("measure", "bundle", "fetch", DOI)[1] == f"{checkout / out.strip()}\n"
        status, out, *_ = run("measure", "bundle", "show")
    assert status == 0 and ID in out and f"https://doi.org/{DOI} (downloaded)" in out


def test_it_takes_part_like_its_folder(zenodo, checkout, tmp_path, check):
    """The path that the step accept writes is what the step of the workflow gets."""
    with zenodo(Behaviour({f"{ID}.zip": BODY, "other.zip": b"PK"})):
        path = check(DOI)[1].strip()
    (checkout / "config").symlink_to(store.__file__.rpartition("/src/")[0] + "/config")
    out = tmp_path / "machines" / "bundles.json"
    assert run("dev", "step", "machines", f"bundle={path}", "orders=1", "--out", out)[0] == 0
    assert json.loads(out.read_text()) == [{"id": ID, "bars": []}]
    assert {p.name for p in (out.parent / "bundles" / ID).iterdir()} >= {"cells.csv", "SHA256SUMS"}


def test_paths_and_dois_together_keep_their_order(zenodo, checkout):
    (checkout / "a.zip").write_bytes(BODY)
    with zenodo(Behaviour({"x.zip": BODY})):
        found = bundles.located(["a.zip", DOI, "a.zip"], checkout / "bundles")
    assert [path.name for path in found] == ["a.zip", f"{ID}.zip"]


def test_a_path_of_this_form_is_a_path(checkout):
    folder = checkout / DOI
    folder.mkdir(parents=True)
    assert bundles.located([DOI], checkout / "bundles")[0].samefile(folder)


def test_a_doi_with_two_bundles_stands_for_both(zenodo, checkout, check):
    files = made(Plan(layouts=PLAN.layouts, machine_id="b" * 32)).files
    second, other = zipped(files), store.bundle_id(parse_bundle("made", files))
    index(checkout, (ID, DOI, sha256(BODY)), (other, DOI, sha256(second)))
    with zenodo(Behaviour({f"{ID}.zip": BODY, f"{other}.zip": second})):
        status, out, said, _ = check(DOI)
    assert status == 0 and len(out.splitlines()) == 2 and ID in said and other in said


def test_an_interrupted_download_goes_on(zenodo, checkout, check):
    server = Behaviour(ONE, cut_after=[1000, 0, 0, 0])
    with zenodo(server):
        status, _, said, code = check(DOI)
        assert (status, code) == (1, "download-interrupted") and " 1000 bytes" in said and DOI in said
        assert check(DOI)[0] == 0
    assert server.contents()[-1] == (206, "bytes=1000-")


def test_a_download_that_was_changed_afterwards_is_made_again(zenodo, checkout, check):
    with zenodo(Behaviour(ONE)):
        path = checkout / check(DOI)[1].strip()
        path.write_bytes(BODY[:-1])
        assert check(DOI)[0] == 0
    assert path.read_bytes() == BODY


ONE, WRONG_MD5 = {"a.zip": BODY}, {"a.zip": "md5:" + "0" * 32}
#: What is wrong: (rows of the index, the server, values in the message, the cause, exit status).
REFUSED = {
    "not listed": ([(OTHER_ID, "10.5281/zenodo.5", "a" * 64)], None, ["zenodo.5", f"https://doi.org/{DOI}"],
                   "bundle-not-listed", 2),
    "no index": ([], None, ["index.csv", DOI], "bundle-not-listed", 2),
    "no network": (None, None, [ID, DOI], "bundle-offline", 2),
    "unknown record": (None, Behaviour({}, metadata_status=404), ["404"], "bundle-deposit", 1),
    "no JSON": (None, Behaviour({}, metadata=b"<html>"), [ID], "bundle-deposit", 1),
    "no MD5": (None, Behaviour(ONE, md5={"a.zip": ""}), ["a.zip"], "bundle-deposit", 1),
    "no zip file": (None, Behaviour({"a.txt": b"x"}), ["a.txt", f"{ID}.zip"], "bundle-deposit", 1),
    "several zip files": (None, Behaviour(ONE | {"b.zip": BODY}), ["a.zip, b.zip"], "bundle-deposit", 1),
    "no files": (None, Behaviour({}), ["no file"], "bundle-deposit", 1),
    "refused": (None, Behaviour(ONE, content_status=403), ["403"], "download-refused", 1),
    "damaged on the way": (
        [(ID, DOI, "1" * 64)], Behaviour(ONE, md5=WRONG_MD5),
        ["0" * 32, hashlib.md5(BODY).hexdigest()], "bundle-damaged", 1,
    ),
    "another sum": ([(ID, DOI, "1" * 64)], Behaviour(ONE), ["1" * 64, sha256(BODY)], "bundle-sum", 1),
    "another id": ([(OTHER_ID, DOI, sha256(BODY))], Behaviour(ONE), [OTHER_ID, ID], "bundle-other", 1),
    "another archive": ([(ID, "10.1234/x", sha256(BODY))], None, ["10.1234/x", sha256(BODY)],
                        "bundle-archive", 2),
    "no bundle": ([(ID, DOI, sha256(b"PK"))], Behaviour({"a.zip": b"PK"}), [f"{ID}.zip"], "bundle-zip", 1),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(zenodo, checkout, name, check):
    rows, server, values, code, status = REFUSED[name]
    if rows is not None:
        index(checkout, *rows)
    doi = rows[0][1] if rows and name == "another archive" else DOI
    with zenodo(server):
        found = check(doi)
    assert (found[0], found[3]) == (status, code) and found[1] == ""
    for value in values:
        assert value in found[2]
    if code in ("bundle-sum", "bundle-damaged"):
        assert not list((checkout / "datasets").rglob("*.zip*"))


def test_the_sum_of_the_index_counts_and_not_the_archives_md5(zenodo, checkout, check):
    """An archive that gives a wrong MD5 for the right bytes changes nothing."""
    with zenodo(Behaviour(ONE, md5=WRONG_MD5)):
        assert check(DOI)[0] == 0


def test_a_checkout_without_bundles_lists_none(checkout):
    (checkout / "bundles" / "index.csv").unlink()
    (checkout / "bundles").rmdir()
    status, _, said, code = run("measure", "bundle", "fetch", DOI)
    assert (status, code) == (2, "bundle-not-listed") and DOI in said


def test_a_step_downloads_nothing_and_names_the_command(checkout, tmp_path):
    out = tmp_path / "m" / "bundles.json"
    status, _, said, code = run("dev", "step", "machines", f"bundle={DOI}", "--out", out)
    assert (status, code) == (2, "bundle-doi") and f"tessera measure bundle fetch {DOI}" in said
    assert run("measure", "bundle", "fetch", "nothing")[3] == "bundle-doi"
