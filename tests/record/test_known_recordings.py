"""Recordings beside known ones: equal, another trace, another key, none; the table and its refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.dev.recordings import recordings as write_command
from tessera.cli.lab.study import run_command
from tessera.core.errors import TesseraError
from tessera.core.results.tree import ResultsTree
from tessera.record import known_recordings
from tessera.record.known_recordings import COLUMNS, KnownRecording, read_known, write_known

KEY, OTHER = "a" * 64, "b" * 64


def put_info(results: Path, workload: str, **changes) -> None:
    info = {
        "workload": workload,
        "size": "tiny",
        "status": "ok",
        "message": "",
        "sha256": "1" * 64,
        "accesses": 9,
    }
    info |= {"repeats": {"key": KEY, "seen": "first", "exception": ""}} | changes
    path = ResultsTree(results).info(workload)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(info))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A run: one recording of each outcome, and one that failed."""
    folder = tmp_path / "run"
    put_info(folder, "equal")
    put_info(folder, "changed", sha256="2" * 64, accesses=10)
    put_info(folder, "rebuilt", sha256="2" * 64, repeats={"key": OTHER, "seen": "first", "exception": ""})
    put_info(folder, "resized", size="published")
    put_info(folder, "server", repeats={"key": "", "seen": "", "exception": "a client's timing"})
    put_info(folder, "broken", status="failed")
    return folder


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "known.csv"
    names = ("equal", "changed", "rebuilt", "resized", "absent")
    write_known(path, [KnownRecording(name, "tiny", KEY, "1" * 64, "9") for name in names])
    return path


def study(results: Path, table: Path, out: Path):
    words = ["known-recordings", f"results={results}", f"known={table}", "--out", str(out)]
    return CliRunner().invoke(run_command, words, catch_exceptions=False)


def test_each_recording_has_its_outcome(results, table, tmp_path):
    out = tmp_path / "out.csv"
    done = study(results, table, out)
    assert done.exit_code == 0
    rows = pd.read_csv(out, keep_default_na=False).set_index("workload")
    assert dict(rows["outcome"]) == {
        "changed": "differs",
        "equal": "equal",
        "rebuilt": "other key",
        "resized": "unknown",
        "server": "not compared",
    }
    assert "2" * 64 in rows.message["changed"] and "1" * 64 in rows.message["changed"]
    assert "10 accesses" in rows.message["changed"] and rows.message["server"] == "a client's timing"
    assert f"changed (tiny): {rows.message['changed']}" in done.output


def test_an_empty_table_makes_each_recording_unknown(results, tmp_path):
    table, out = tmp_path / "empty.csv", tmp_path / "out.csv"
    write_known(table, [])
    assert study(results, table, out).exit_code == 0
    assert set(pd.read_csv(out)["outcome"]) == {"unknown", "not compared"}


def test_a_run_without_recordings_is_an_error(tmp_path):
    put_info(tmp_path, "broken", status="failed")
    with pytest.raises(TesseraError, match="no recording is ok"):
        known_recordings.recordings_of(tmp_path)


def test_the_command_replaces_rows_of_the_run_and_keeps_others(results, table, tmp_path):
    done = CliRunner().invoke(write_command, ["--results", str(results), "--out", str(table)])
    assert done.exit_code == 0, done.output
    assert "4 recordings, 3 new or changed, 1 left out" in done.output
    known = read_known(table)
    assert known["absent", "tiny"].sha256 == "1" * 64
    assert known["changed", "tiny"] == KnownRecording("changed", "tiny", KEY, "2" * 64, "10")
    assert known["resized", "published"].key == KEY and ("server", "tiny") not in known
    study(results, table, tmp_path / "again.csv")
    assert set(pd.read_csv(tmp_path / "again.csv")["outcome"]) == {"equal", "not compared"}


HEAD = ",".join(COLUMNS)
ROW = f"gups,tiny,{KEY},{OTHER},9"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("workload,size\n", "line 1.*its columns are"),
        (f"{HEAD}\n{ROW},more\n", "line 2.*it must have 5 values"),
        (f"{HEAD}\ngups,tiny\n", "line 2.*it must have 5 values"),
        (f"{HEAD}\n{ROW}\n{ROW}\n", r"line 3.*gups \(tiny\) is given twice"),
        (f"{HEAD}\ngups,tiny,{KEY},short,9\n", "line 2.*sha256 is 'short'"),
        (f"{HEAD}\ngups,tiny,{KEY},{OTHER},-9\n", "line 2.*accesses is '-9'"),
    ],
)
def test_a_damaged_table_is_refused(tmp_path, text, found):
    path = tmp_path / "known.csv"
    path.write_text(text)
    with pytest.raises(TesseraError, match=f"(?s){found}.*tessera dev recordings"):
        read_known(path)


def test_the_committed_table_can_be_read():
    read_known(known_recordings.known_file())


def test_no_table_is_refused(tmp_path):
    with pytest.raises(TesseraError, match="does not exist"):
        read_known(tmp_path / "none.csv")
