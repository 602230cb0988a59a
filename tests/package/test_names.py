"""Nothing in a package names this machine: results are scrubbed, everything else is refused."""

from __future__ import annotations

import socket
import zipfile

import pytest

from tessera.core.errors import TesseraError
from tessera.report.package import make
from tessera.report.package.contents import NameWatch

from .conftest import fill, git


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "bigbox17")
    monkeypatch.setattr("getpass.getuser", lambda: "alice")


def packed(path) -> bytes:
    archive = zipfile.ZipFile(path)
    return b"\n".join(archive.read(name) for name in archive.namelist())


def test_results_are_scrubbed_and_counted(checkout, results, tmp_path):
    paths = f'["{checkout}/build/gups", "/tmp/elsewhere/build/bfs", "/usr/bin/redis"]\n'
    fill(
        results,
        {
            "traces/gups/info.json": paths,
            "report/index.html": "<p>made by alice on bigbox17 in /home/alice/x.csv</p>\n",
        },
    )
    done = make(results, tmp_path / "out.zip")
    text = packed(done.path)
    for name in (str(checkout).encode(), b"elsewhere", b"alice", b"bigbox17", b"/home/"):
        assert name not in text, name
    clean = b'["[path]/build/gups", "[path]/bfs", "/usr/bin/redis"]\n'
    assert clean in text
    assert b"<p>made by [name] on [name] in [path]/x.csv</p>" in text
    assert done.scrubbed == 5
    assert (
        f"results/sample/traces/gups/info.json,{len(clean)},".encode() in text
        and b"derived from simulated,2\n" in text
    )


@pytest.mark.parametrize("word", ["bigbox17", "bigbox17.example.edu", "CHECKOUT/src"])
def test_committed_files_that_name_the_machine_are_refused(checkout, results, tmp_path, word):
    fill(checkout, {"src/notes.py": f"# seen on {word.replace('CHECKOUT', str(checkout))}\n"})
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", "notes")
    with pytest.raises(TesseraError, match="src/notes.py") as caught:
        make(results, tmp_path / "out.zip")
    assert caught.value.code == "package-names-machine" and not list(tmp_path.glob("out.zip*"))


def test_a_name_that_is_a_word_of_the_code_stays_and_is_said(checkout, results, tmp_path):
    fill(checkout, {"src/notes.py": "# after alice, in wonderland; malice\n"})
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", "notes")
    fill(results, {"models/notes.txt": "alice\n"})
    done = make(results, tmp_path / "out.zip")
    assert done.left_in == ("alice",) and b"\nalice\n" in packed(done.path)


def test_binary_results_that_name_the_machine_are_refused(results, tmp_path):
    fill(results, {"report/report.pdf": b"%PDF\0bigbox17\0"})
    with pytest.raises(TesseraError, match="report.pdf.*'bigbox17'"):
        make(results, tmp_path / "out.zip")


def test_a_name_across_two_chunks_is_seen():
    watch = NameWatch("x", ["bigbox17"])
    watch.pass_by(b"... big")
    with pytest.raises(TesseraError, match="bigbox17"):
        watch.pass_by(b"box17 ...")


def test_scripts_and_style_sheets_keep_their_bytes(results, tmp_path):
    code = "words.replace(/tmp/g, '').split(/a/b/)\n"
    fill(results, {"report/assets/report.js": code, "report/assets/style.css": "a{font:12px /1.5 x}\n"})
    assert code.encode() in packed(make(results, tmp_path / "out.zip").path)
    fill(results, {"report/assets/report.js": "// bigbox17\n"})
    with pytest.raises(TesseraError, match="report.js.*'bigbox17'"):
        make(results, tmp_path / "out.zip")


def test_text_that_is_none_is_refused(results, tmp_path):
    fill(results, {"models/odd.csv": b"\xff\xfe"})
    with pytest.raises(TesseraError, match="odd.csv: .*UTF-8"):
        make(results, tmp_path / "out.zip")
