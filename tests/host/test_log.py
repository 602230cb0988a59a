"""The runs file survives a kill at any byte."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tessera.measure.hybrid_cells import RUN_COLUMNS, LoggedRun, RunLog

RUNS = [
    LoggedRun("k1", "gups", "growing-0", 0, "ok", "", 123),
    LoggedRun("k2", "gups", "growing-8", 0, "failed", 'a "comma", and quotes', None),
]


def test_what_is_appended_is_read_back(tmp_path):
    log = RunLog(tmp_path / "new" / "runs.csv")
    assert log.read() == []
    for run in RUNS:
        log.append(run)
    assert log.read() == RUNS


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_cut_row_is_dropped_and_the_next_one_is_whole(tmp_path, cut):
    log = RunLog(tmp_path / "runs.csv")
    for run in RUNS:
        log.append(run)
    data = log.path.read_bytes()
    log.path.write_bytes(data[:-cut])
    assert log.read() == RUNS[:1]
    log.append(RUNS[1])
    assert log.read() == RUNS


def test_a_file_of_another_version_is_measured_again(tmp_path):
    log = RunLog(tmp_path / "runs.csv")
    log.path.write_text("old,columns\n1,2\n")
    assert log.read() == []
    log.append(RUNS[0])
    assert log.path.read_text().startswith(",".join(RUN_COLUMNS) + "\n")
    assert log.read() == RUNS[:1]


@pytest.mark.parametrize("said", ["a\u2028b", "a\x0cb", "a\nb", "a\r\nb", "a\x85b", "a\x1cb"])
def test_messages_of_programs_with_other_line_ends(tmp_path, said):
    """New rows are one line each; older files have the message as it was."""
    failed = LoggedRun("k2", "gups", "growing-8", 0, "failed", said, None)
    log = RunLog(tmp_path / "runs.csv")
    for run in (failed, RUNS[0]):
        log.append(run)
    assert log.read() == [replace(failed, message="a b"), RUNS[0]]
    assert log.path.read_bytes().count(b"\n") == 3
    log.path.write_bytes(log.path.read_bytes().replace(b"a b", f'"{said}"'.encode()))
    assert log.read() == [failed, RUNS[0]]


def test_a_cut_inside_a_character(tmp_path):
    log = RunLog(tmp_path / "runs.csv")
    for run in (RUNS[0], replace(RUNS[1], message="é")):
        log.append(run)
    data = log.path.read_bytes()
    log.path.write_bytes(data[: data.index("é".encode()) + 1])
    assert log.read() == RUNS[:1]
