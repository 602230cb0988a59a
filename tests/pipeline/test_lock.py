"""The lock of a results folder: one holder, whoever asks from where; dead ones stand in nobody's way."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from click.testing import CliRunner

from tessera.cli.dev.runs import retry, unlock
from tessera.cli.pipeline import lock as locks
from tessera.cli.pipeline.lock import RunLock, this_process
from tessera.core.errors import TesseraError
from tessera.core.results.tree import LOCK

#: Takes the lock when told to, says whether it has it, and gives it back when told to.
TRY = """
import sys
from pathlib import Path
from tessera.core.errors import TesseraError
from tessera.cli.pipeline.lock import RunLock
lock = RunLock(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
try:
    lock.take()
    print("held", flush=True)
except TesseraError:
    print("refused", flush=True)
sys.stdin.readline()
lock.release()
"""


def held_by(results, silent_seconds=0, **changes):
    """Write a lock that says another holder; its last beat was so long ago."""
    holder = dataclasses.replace(this_process(), **changes)
    path = results / LOCK
    path.write_text(json.dumps(dataclasses.asdict(holder)))
    then = time.time() - silent_seconds
    os.utime(path, (then, then))
    return holder


def test_it_is_taken_and_given_back_and_leaves_nothing(tmp_path):
    lock = RunLock(tmp_path / "new")
    lock.take()
    assert lock.holder().pid == os.getpid() and lock.alive()
    assert [path.name for path in (tmp_path / "new").iterdir()] == [LOCK]
    lock.take()  # the same process
    lock.release()
    assert list((tmp_path / "new").iterdir()) == []
    lock.release()


DEAD = {
    "process is gone": {"pid": 4_194_305},  # above the kernel's largest
    "its number is another's now": {"started": 1},
}


@pytest.mark.parametrize("changes", DEAD.values(), ids=DEAD)
def test_a_dead_process_of_this_machine_holds_nothing(tmp_path, changes):
    old = held_by(tmp_path, **changes)
    lock = RunLock(tmp_path)
    assert lock.alive() is None
    lock.take()
    assert lock.holder().token != old.token and lock.holder().pid == os.getpid()
    assert [path.name for path in tmp_path.iterdir()] == [LOCK]


ELSEWHERE = {
    "another machine": {"host": "node7", "boot": "b", "pid": 4_194_305},
    "another machine, silent for a week": {"host": "node7", "boot": "b", "silent_seconds": 604_800},
    "another container here": {"host": "c0ffee", "processes": "pid:[1]", "silent_seconds": 604_800},
    "this machine before it started, a moment ago": {"boot": "b"},
}


@pytest.mark.parametrize("changes", ELSEWHERE.values(), ids=ELSEWHERE)
def test_nobody_decides_over_a_process_that_he_cannot_see(tmp_path, changes):
    other = held_by(tmp_path, **changes)
    with pytest.raises(TesseraError) as refused:
        RunLock(tmp_path).take()
    assert f"process {other.pid}" in refused.value.found and refused.value.exit_code == 1
    assert f"tessera dev unlock --results {tmp_path}" in refused.value.remedy
    assert RunLock(tmp_path).holder() == other
    assert [path.name for path in tmp_path.iterdir()] == [LOCK]


def test_a_holder_from_before_the_last_start_of_this_machine_is_dead_when_it_is_silent(tmp_path):
    held_by(tmp_path, boot="b", silent_seconds=locks.SILENT_SECONDS + 1)
    RunLock(tmp_path).take()
    assert RunLock(tmp_path).holder().boot == this_process().boot


def test_a_lock_without_words_is_nobodys_to_break(tmp_path):
    (tmp_path / LOCK).write_text("")
    with pytest.raises(TesseraError) as refused:
        RunLock(tmp_path).take()
    assert "tessera dev unlock" in refused.value.remedy
    assert CliRunner().invoke(unlock, ["--results", str(tmp_path)]).exit_code == 0
    RunLock(tmp_path).take()


def test_unlock_removes_the_lock_of_the_dead_and_not_that_of_the_living(tmp_path):
    held_by(tmp_path, host="node7", boot="b")
    assert CliRunner().invoke(unlock, ["--results", str(tmp_path)]).exit_code == 0
    assert list(tmp_path.iterdir()) == []
    RunLock(tmp_path).take()
    done = CliRunner().invoke(unlock, ["--results", str(tmp_path)])
    assert isinstance(done.exception, TesseraError) and str(os.getpid()) in done.exception.found
    assert (tmp_path / LOCK).exists()


def test_of_many_that_find_a_dead_holder_one_gets_the_lock(tmp_path):
    """Again and again, at the same moment: a successor's lock is never removed for its predecessor's."""
    argv = [sys.executable, "-c", TRY, str(tmp_path)]
    for _ in range(5):
        held_by(tmp_path, pid=4_194_305)
        tried = [subprocess.Popen(argv, stdin=-1, stdout=-1, text=True) for _ in range(6)]
        for process in tried:
            assert process.stdout.readline() == "ready\n"
        for process in tried:
            process.stdin.write("go\n")
            process.stdin.flush()
        with ThreadPoolExecutor(len(tried)) as pool:
            said = list(pool.map(lambda process: process.stdout.readline().strip(), tried))
        assert sorted(said) == ["held"] + ["refused"] * 5
        for process in tried:
            process.communicate("end\n", timeout=60)
        assert list(tmp_path.iterdir()) == []


def test_a_holder_that_cannot_be_looked_up_is_not_dead(tmp_path, monkeypatch):
    """Another user's, where `/proc` shows everybody his own processes only."""
    other = dataclasses.asdict(this_process()) | {"pid": 2**22 + 1, "token": "other"}
    (tmp_path / LOCK).write_text(json.dumps(other))

    def not_permitted(pid: int, number: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "kill", not_permitted)
    with pytest.raises(TesseraError, match=str(2**22 + 1)):
        RunLock(tmp_path).take()


def test_a_holder_beats(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "BEAT_SECONDS", 0.01)
    lock = RunLock(tmp_path)
    lock.hold()
    os.utime(lock.path, (1, 1))
    deadline = time.monotonic() + 20
    while lock.path.stat().st_mtime < 1000:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    lock.release()
    assert not lock.path.exists()


def test_without_hard_links_it_says_so(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(locks.os, "link", refuse)
    with pytest.raises(TesseraError, match=LOCK) as caught:
        RunLock(tmp_path).take()
    assert caught.value.code == "lock-no-hard-links"
    assert list(tmp_path.iterdir()) == []


def test_on_a_full_disk_it_says_so(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(locks.os, "fsync", full)
    with pytest.raises(TesseraError, match="free space on that disk") as caught:
        RunLock(tmp_path).take()
    assert caught.value.problem == f"{tmp_path}: No space left on device"
    assert list(tmp_path.iterdir()) == []


def test_retry_drops_under_the_lock_and_a_dry_run_only_says(tmp_path):
    table = tmp_path / "cells" / "w" / "p.csv"
    table.parent.mkdir(parents=True)
    table.write_text("status,message\nfailed,unlucky\n")

    def run(*words):
        return CliRunner().invoke(retry, ["--results", str(tmp_path), *words])

    assert f"{table}: 1 rows" in run("--dry-run").output and table.exists()
    held_by(tmp_path, host="node7", boot="b")
    assert isinstance(run().exception, TesseraError) and table.exists()
    (tmp_path / LOCK).unlink()
    assert "unlucky" in run().output and not table.exists()
    assert not (tmp_path / LOCK).exists()
