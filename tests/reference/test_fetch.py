"""Downloads from a record server that behaves, and from one that doesn't."""

from __future__ import annotations

import hashlib
import json
import os
import signal

import pytest
from click.testing import CliRunner

from tessera.cli.dev.reference import reference
from tessera.core import downloads
from tessera.core.downloads import Download
from tessera.core.errors import TesseraError
from tessera.core.reference.fetch import ArchiveOffline, fetch_record
from tessera.core.reference.records import record_state, verify_record

from .conftest import BODY
from .server import Behaviour

QUICK = {"pause_s": 0.0}
GIVES_UP = [100_000, 0, 0, 0]  # bytes that four attempts in a row receive
NAME = "group/artifact-1.0.zip"  # Zenodo's copies of GitHub releases have a slash in their names


def failure(record, match: str) -> TesseraError:
    with pytest.raises(TesseraError, match=match) as caught:
        fetch_record(record, **QUICK)
    return caught.value


def test_a_whole_record_with_checksums_of_both_kinds(zenodo, record):
    sample, steps = record(), []
    server = Behaviour({NAME: BODY, "notes.txt": b"hello\n"})
    with zenodo(server):
        kept = fetch_record(sample, progress=lambda *step: steps.append(step), **QUICK)
        assert (sample.folder / NAME).read_bytes() == BODY
        assert kept["files"][NAME] == {
            "bytes": 700_000,
            "md5": hashlib.md5(BODY).hexdigest(),
            "sha256": hashlib.sha256(BODY).hexdigest(),
            "verdict": "recorded",
        }
        assert (
            kept["title"] == "An artifact" and json.loads((sample.folder / "record.json").read_text()) == kept
        )
        assert steps[-1] == ("notes.txt", 6, 6) and ("artifact-1.0.zip", 700_000, 700_000) in steps
        assert len(server.contents()) == 2 and record_state(sample) == "present"
        fetch_record(sample, **QUICK)
        assert len(server.contents()) == 2  # what is here and right is not fetched again
    assert verify_record(sample) == {NAME: "recorded", "notes.txt": "recorded"}
    assert not list(sample.folder.rglob("*.part")) and not list(sample.folder.rglob("*.tag"))


def test_an_interrupted_download_goes_on_in_the_same_run(zenodo, record):
    server = Behaviour({"a.zip": BODY}, cut_after=[300_000, 100_000])
    with zenodo(server):
        fetch_record(record(), **QUICK)
    assert (record().folder / "a.zip").read_bytes() == BODY
    first, *ranges = server.contents()
    assert first == (200, "") and [status for status, _ in ranges] == [206, 206]
    starts = [int(asked.removeprefix("bytes=").removesuffix("-")) for _, asked in ranges]
    assert starts == [300_000, 400_000]


def test_a_run_that_gave_up_leaves_its_part_for_the_next(zenodo, record):
    server = Behaviour({"a.zip": BODY}, cut_after=list(GIVES_UP))
    with zenodo(server):
        error = failure(record(), "4 attempts.* 100000 bytes are here")
        assert error.exit_code == 1 and error.code == "download-interrupted"
        assert "a.zip" in error.asked and "tessera dev reference fetch sample" in error.remedy
        have = (record().folder / "a.zip.part").stat().st_size
        assert have == 100_000 and record_state(record()) == "partial"
        fetch_record(record(), **QUICK)
    assert server.contents()[-1] == (206, f"bytes={have}-")
    assert (record().folder / "a.zip").read_bytes() == BODY


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 1), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_keeps_complete_files_and_the_beginning_of_the_next(
    zenodo, record, monkeypatch, number, status
):
    sample, server = record(), Behaviour({"a.zip": BODY, "b.zip": BODY[::-1]})
    monkeypatch.setattr("tessera.core.reference.records.load_record", lambda name: sample)
    whole = Download.complete

    def stopped(self, progress):
        def stopping(done, total):
            progress(done, total)
            if self.part.name == "b.zip.part" and done > 200_000:
                os.kill(os.getpid(), number)

        whole(self, stopping)

    with zenodo(server):
        with monkeypatch.context() as patched:
            patched.setattr(Download, "complete", stopped)
            done = CliRunner().invoke(reference, ["fetch", "sample"])
        assert done.exit_code == status and str(sample.folder) in done.output
        assert (sample.folder / "a.zip").read_bytes() == BODY
        have = (sample.folder / "b.zip.part").stat().st_size
        assert have > 200_000
        before = len(server.contents())
        fetch_record(sample, **QUICK)
        assert server.contents()[before:] == [(206, f"bytes={have}-")]
    assert (sample.folder / "b.zip").read_bytes() == BODY[::-1] and record_state(sample) == "present"


@pytest.mark.parametrize("change", [{"tag": '"two"'}, {"ranges": False}], ids=["changed", "no ranges"])
def test_begins_again_where_going_on_would_mix(zenodo, record, change):
    server = Behaviour({"a.zip": BODY}, cut_after=list(GIVES_UP))
    with zenodo(server):
        failure(record(), "4 attempts")
        for name, value in change.items():
            setattr(server, name, value)
        server.files["a.zip"] = BODY[::-1]
        fetch_record(record(), **QUICK)
    assert server.contents()[-1][0] == 200
    assert (record().folder / "a.zip").read_bytes() == BODY[::-1]


def test_a_part_longer_than_the_file(zenodo, record):
    record().folder.mkdir(parents=True)
    (record().folder / "a.zip.part").write_bytes(BODY + b"more")
    with zenodo(Behaviour({"a.zip": BODY})):
        fetch_record(record(), **QUICK)
    assert (record().folder / "a.zip").read_bytes() == BODY


def test_a_damaged_file_is_removed_and_named(zenodo, record):
    with zenodo(Behaviour({"a.zip": BODY}, md5={"a.zip": "md5:" + "0" * 32})):
        error = failure(record(), f"a.zip .*{hashlib.md5(BODY).hexdigest()}, .* {'0' * 32}")
    assert (error.exit_code, error.code) == (1, "wrong-md5") and not (record().folder / "a.zip").exists()
    assert record_state(record()) == "missing"


def test_busy_is_asked_again(zenodo, record):
    server = Behaviour({"a.zip": BODY}, busy=3)
    with zenodo(server):
        fetch_record(record(), **QUICK)
    assert [status for status, _, _ in server.requests] == [429, 429, 429, 200, 200]


#: The name of a case, what the server does, a value in the message, the cause, and the exit status.
UNUSABLE = [
    ("404-1", Behaviour({"a": b"x"}, metadata_status=404), "404", "metadata-unusable", 1),
    ("429-1", Behaviour({"a": b"x"}, busy=10_000), "429", "metadata-unusable", 1),
    ("404-1", Behaviour({"a": b"x"}, content_status=404), "404", "download-refused", 1),
    ("has no files-1", Behaviour({}), "sample", "no-files", 1),
    ("would leave-1", Behaviour({"../a": b"x"}), "'../a'", "unsafe-name", 1),
    ("would leave-1", Behaviour({"/etc/a": b"x"}), "'/etc/a'", "unsafe-name", 1),
    ("would leave-1", Behaviour({"record.json": b"x"}), "'record.json'", "unsafe-name", 1),
    ("without an MD5-1", Behaviour({"a": b"x"}, md5={"a": ""}), "file a .*''", "no-md5", 1),
    ("no JSON-1", Behaviour({}, metadata=b"<html>"), "char 0", "metadata-unusable", 1),
    ("JSON object-1", Behaviour({}, metadata=b"[]"), "sample", "metadata-unusable", 1),
    (
        "without an MD5-1",
        Behaviour({}, metadata=b'{"files": [{"key": "a", "checksum": "md5:1"}]}'),
        "'md5:1'",
        "no-md5",
        1,
    ),
    ("can't be reached-2", None, "--offline", "archive-unreachable", 2),
]


@pytest.mark.parametrize(
    ("behaviour", "value", "code", "exit_code"),
    [case[1:] for case in UNUSABLE],
    ids=[f"-{case[0]}" for case in UNUSABLE],
)
def test_a_record_that_cannot_be_had(zenodo, record, checkout, behaviour, value, code, exit_code):
    with zenodo(behaviour):
        error = failure(record(), value)
    assert (error.code, error.exit_code) == (code, exit_code) and "zenodo.123" in error.asked
    assert isinstance(error, ArchiveOffline) == (exit_code == 2)
    assert not any(path.is_file() for path in checkout.rglob("cache/**/*"))


def test_the_network_goes_away_in_the_middle(zenodo, record, monkeypatch):
    import requests

    def gone(self, url, **options):
        raise requests.ConnectionError("Network is unreachable")

    monkeypatch.setattr(requests.Session, "get", gone)
    with zenodo(Behaviour({"a.zip": BODY})):
        error = failure(record(), "4 attempts")
    assert "Network is unreachable" in error.found and error.code == "download-interrupted"


def test_no_room(zenodo, record, monkeypatch):
    monkeypatch.setattr(downloads.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 700_000}))
    with zenodo(Behaviour({"a.zip": BODY})):
        error = failure(record(), "700000 bytes")
    assert error.code == "disk-full" and str(record().folder) in error.remedy


def test_a_known_sha256_verifies_and_refuses(zenodo, record):
    right = hashlib.sha256(BODY).hexdigest()
    with zenodo(Behaviour({"a.zip": BODY})):
        kept = fetch_record(record(files={"a.zip": right}), **QUICK)
        assert kept["files"]["a.zip"]["verdict"] == "verified"
        assert failure(record(files={"a.zip": "1" * 64}), "records.yaml .*1111").code == "wrong-sha256"


def test_the_first_download_holds_the_next_to_its_sha256(zenodo, record):
    server = Behaviour({"a.zip": BODY})
    with zenodo(server):
        fetch_record(record(), **QUICK)
        server.files["a.zip"] = BODY + b"!"  # replaced at the archive, with a new and right MD5
        error = failure(record(), hashlib.sha256(BODY + b"!").hexdigest())
    assert error.code == "wrong-sha256" and hashlib.sha256(BODY).hexdigest() in error.found


def test_verify_reads_again(zenodo, record):
    with pytest.raises(TesseraError, match="tessera dev reference fetch sample") as error:
        verify_record(record())
    assert error.value.code == "record-missing"
    with zenodo(Behaviour({"a.zip": BODY})):
        fetch_record(record(), **QUICK)
    path = record().folder / "a.zip"
    path.write_bytes(b"!" + BODY[1:])
    with pytest.raises(TesseraError, match=hashlib.md5(BODY).hexdigest()) as error:
        verify_record(record())
    assert error.value.code == "wrong-md5"
    path.unlink()
    with pytest.raises(TesseraError, match="a.zip") as error:
        verify_record(record())
    assert error.value.code == "file-missing"
