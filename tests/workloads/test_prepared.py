"""Prepared files: built once, built again if absent, damaged or of another recipe; a failure leaves none."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from tessera.core import files
from tessera.core.errors import TesseraError
from tessera.core.files import sha256_of
from tessera.record.workloads import Size, prepared
from tessera.record.workloads.definition import Prepared

BYTES = b"flat arrays " * 100
ASKED = Prepared("graph", "maker", ("--scale", "4"), bytes=len(BYTES), memory=1 << 20)


@pytest.fixture
def builds(monkeypatch, tmp_path):
    """A program that writes BYTES, and its starts; with `fail` it ends with a status and half a file."""
    program = tmp_path / "maker"
    program.write_text("version 1")
    monkeypatch.setattr(prepared, "built", lambda component, name: program)
    state = SimpleNamespace(starts=[], fail=0, answer={"verified": True}, program=program)

    def run(argv, *, capture, check, options):
        assert options.writes == (Path(argv[-1]).parent,)
        state.starts.append(argv[1:-1])
        target = argv[-1]
        with open(target, "wb") as file:
            file.write(BYTES if not state.fail else BYTES[:5])
        return subprocess.CompletedProcess(argv, state.fail, json.dumps(state.answer) + "\n", "E28\n")

    monkeypatch.setattr(prepared, "toolchain", lambda: SimpleNamespace(run=run))
    return state


def test_a_file_is_built_once_and_its_note_has_the_sha256(builds, tmp_path):
    path = tmp_path / "data" / "graph"
    first = prepared.ensure(ASKED, path)
    assert first["sha256"] == hashlib.sha256(BYTES).hexdigest() and first["bytes"] == len(BYTES)
    assert prepared.ensure(ASKED, path) == first
    assert builds.starts == [["--scale", "4", "--prepare"]]


def test_a_file_is_on_the_disk_before_its_note(builds, tmp_path, monkeypatch):
    synced, fsync = [], os.fsync

    def note_of(descriptor):
        synced.append(os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note_of)
    path = tmp_path / "graph"
    prepared.ensure(ASKED, path)
    assert synced[:2] == ["graph", tmp_path.name] and len(synced) == 4  # then the note and its folder


@pytest.mark.parametrize(
    "damage", ["one byte", "short", "absent", "no note", "no JSON", "arguments", "program"]
)
def test_what_is_not_the_file_that_was_built_is_built_again(builds, tmp_path, damage):
    path, asked = tmp_path / "graph", ASKED
    prepared.ensure(asked, path)
    if damage == "one byte":
        path.write_bytes(BYTES[:-1] + b"x")
    elif damage == "short":
        path.write_bytes(BYTES[:-1])
    elif damage == "absent":
        path.unlink()
    elif damage == "no note":
        prepared.note(path).unlink()
    elif damage == "no JSON":
        prepared.note(path).write_text('{"bytes":')
    elif damage == "arguments":
        asked = Prepared("graph", "maker", ("--scale", "5"), bytes=len(BYTES), memory=1 << 20)
    else:
        builds.program.write_text("version 2")
    prepared.ensure(asked, path)
    assert len(builds.starts) == 2 and path.read_bytes() == BYTES


def test_bytes_are_read_again_only_after_a_change(builds, tmp_path, monkeypatch):
    path = tmp_path / "graph"
    prepared.ensure(ASKED, path)  # new: its time could be that of another write
    read = []  # files; the program is one of them
    monkeypatch.setattr(prepared, "sha256_of", lambda file: read.append(file) or sha256_of(file))
    prepared.ensure(ASKED, path)
    assert read.count(path) == 1
    monkeypatch.setattr(files, "SETTLED_NS", -1)
    prepared.ensure(ASKED, path)
    prepared.ensure(ASKED, path)
    assert read.count(path) == 2
    status = path.stat()
    path.write_bytes(BYTES[:-1] + b"x")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    prepared.ensure(ASKED, path)
    assert len(builds.starts) == 2 and path.read_bytes() == BYTES


def test_a_file_that_changes_while_it_is_read_is_read_again(builds, tmp_path, monkeypatch):
    path = tmp_path / "graph"
    prepared.ensure(ASKED, path)
    monkeypatch.setattr(files, "SETTLED_NS", -1)

    def read(file):
        found = sha256_of(file)
        if file == path:
            path.write_bytes(BYTES[:-1] + b"x")
            os.utime(path, ns=(0, 0))
        return found

    monkeypatch.setattr(prepared, "sha256_of", read)
    prepared.ensure(ASKED, path)
    monkeypatch.setattr(prepared, "sha256_of", sha256_of)
    prepared.ensure(ASKED, path)
    assert len(builds.starts) == 2 and path.read_bytes() == BYTES


def test_a_program_that_fails_leaves_no_file_and_its_last_lines(builds, tmp_path):
    builds.fail = 1
    with pytest.raises(TesseraError, match="status 1:\nE28"):
        prepared.ensure(ASKED, tmp_path / "graph")
    assert not (tmp_path / "graph").exists() and not prepared.note(tmp_path / "graph").exists()
    builds.fail = 0
    assert prepared.ensure(ASKED, tmp_path / "graph")["bytes"] == len(BYTES)


def test_a_program_that_finds_its_own_data_wrong_is_refused(builds, tmp_path):
    builds.answer = {"verified": False}
    with pytest.raises(TesseraError, match="verified"):
        prepared.ensure(ASKED, tmp_path / "graph")
    assert not prepared.note(tmp_path / "graph").exists()


def test_a_stated_size_that_is_wrong_is_an_error_with_both(builds, tmp_path):
    asked = Prepared("graph", "maker", (), bytes=2 * len(BYTES), memory=0)
    with pytest.raises(TesseraError, match="1200.*2400"):
        prepared.ensure(asked, tmp_path / "graph")


def test_too_little_disk_is_said_before_the_program_starts(builds, tmp_path, monkeypatch):
    monkeypatch.setattr(prepared.shutil, "disk_usage", lambda folder: SimpleNamespace(free=1000))
    with pytest.raises(TesseraError, match="1200.*1000"):
        prepared.ensure(ASKED, tmp_path / "graph")
    assert builds.starts == []


def test_drop_frees_the_bytes_and_keeps_the_note(builds, tmp_path):
    path = tmp_path / "graph"
    prepared.ensure(ASKED, path)
    assert prepared.drop_prepared(path) == len(BYTES) and not path.exists() and prepared.note(path).exists()
    assert prepared.drop_prepared(path) == 0


def sized(**more):
    return Size("published", (), 1, 1, 1, **more)


def test_rows_share_a_file_by_name_and_must_agree():
    other = Prepared("graph", "maker", ("--scale", "9"), bytes=1, memory=1)
    assert prepared.of([sized(prepared=ASKED), sized(), sized(prepared=ASKED)]) == {"graph": ASKED}
    with pytest.raises(TesseraError) as refused:
        prepared.of([sized(prepared=ASKED), sized(prepared=other)])
    assert refused.value.code == "prepared-twice"
