"""The runs file survives a kill at any byte."""

from __future__ import annotations

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
