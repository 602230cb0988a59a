"""The same key must give the same trace; what decides a trace is in the key."""

from dataclasses import replace
from pathlib import Path

import pytest

from tessera.cli.pipeline import record
from tessera.core.errors import TesseraError
from tessera.record.workloads import Size
from tessera.record.workloads.program_run import WORKLOADS, ProgramRun

SIZE = Size("tiny", (), footprint=1 << 21, heap_pool=1 << 21, anon_pool=1 << 22)


def test_another_trace_of_one_key_is_an_error_and_another_key_is_new(tmp_path: Path):
    assert record.compare_with_known("gups", "k", "a" * 64, tmp_path) == "first"
    assert record.compare_with_known("gups", "k", "a" * 64, tmp_path) == "same"
    with pytest.raises(TesseraError, match="bbbb.*aaaa") as caught:
        record.compare_with_known("gups", "k", "b" * 64, tmp_path)
    assert caught.value.code == "trace-differs"
    assert record.compare_with_known("gups", "k", "a" * 64, tmp_path) == "same"  # the first one stays
    assert record.compare_with_known("gups", "other", "b" * 64, tmp_path) == "first"


@pytest.fixture
def run(tmp_path: Path, monkeypatch) -> ProgramRun:
    library = tmp_path / "library.so"
    library.write_bytes(b"library")
    monkeypatch.setattr(record, "built", lambda *_: library)
    return ProgramRun(("xalan", "-in", "x"), image=WORKLOADS)


def in_folder(tmp_path: Path, run: ProgramRun, name: str, text: str = "input") -> str:
    folder = tmp_path / name
    folder.mkdir(parents=True)
    (folder / "input.xml").write_text(text)
    mine = replace(run, argv=("xalan", "-in", str(folder / "input.xml")), folder=folder, paths=(folder,))
    return record.recording_key(mine, SIZE, 100, folder)


def test_the_key_knows_inputs_and_not_folders(run, tmp_path: Path):
    first = in_folder(tmp_path, run, "a")
    assert in_folder(tmp_path, run, "longer/b") == first
    assert in_folder(tmp_path, run, "c", "another input") != first


def test_the_key_knows_limits_and_variables(run, tmp_path: Path):
    first = record.recording_key(run, SIZE, 100, tmp_path / "none")
    assert record.recording_key(run, SIZE, 101, tmp_path / "none") != first
    assert record.recording_key(replace(run, environment={"A": "1"}), SIZE, 100, tmp_path / "none") != first


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({}, ""),
        ({"companion": print}, record.SERVER),
        ({"threads": True}, record.THREADS),
        ({"target": "/bin/true"}, record.SCRIPT),
    ],
)
def test_exceptions_have_reasons(run, monkeypatch, changed, reason):
    monkeypatch.setenv("TESSERA_ENGINE", "docker")
    assert record.repeat_exception(replace(run, **changed)) == reason
    monkeypatch.setenv("TESSERA_ENGINE", "none")
    assert record.repeat_exception(replace(run, **changed)) == (reason or record.NO_CONTAINER)
