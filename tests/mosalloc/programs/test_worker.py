"""The harness itself: what passes, what fails, what is skipped, and that nothing survives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tessera.core.checks import FAIL, PASS, SKIP
from tessera.lab.allocator_proof.programs.driver import ProgramOutcome

HARNESS = Path(__file__).with_name("harness.py")


@pytest.fixture
def outcome(tmp_path):
    """Runs one misbehaving program under the layout ``4kb`` and returns its outcome."""

    def run(kind: str, **env: str) -> ProgramOutcome:
        argv = [sys.executable, str(HARNESS), kind, str(tmp_path)]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=30, env=os.environ | env)
        assert done.returncode == 0, done.stderr
        return ProgramOutcome(**json.loads(done.stdout))

    return run


def alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_the_right_answer_on_the_right_pages_passes(outcome):
    found = outcome("right")
    assert (found.verdict, found.reason) == (PASS, "")
    assert (found.heap_used_bytes, found.anon_used_bytes, found.split_pages) == (1, 2, None)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("wrong-answer", "answer differs from the plain run's: '42', plain '41'"),
        ("wrong-status", "sh: status 3, expected status 0"),
        ("signal", "sh: signal 11 ended it"),
    ],
)
def test_what_only_goes_wrong_under_the_mosaic_fails(outcome, kind, reason):
    found = outcome(kind)
    assert found.verdict == FAIL and reason in found.reason


def test_a_failure_shows_its_last_lines_and_how_to_repeat_it(outcome, tmp_path):
    found = outcome("wrong-status")
    assert found.tail == "last words"
    assert found.repeat.startswith(f"cd {tmp_path}/4kb && ") and "-- sh -c" in found.repeat


@pytest.mark.parametrize(
    ("kind", "reason"), [("own-check", "rows: '6"), ("client-dies", "KeyError: 'no such key'")]
)
def test_a_program_that_fails_without_the_library_is_not_blamed_on_it(outcome, kind, reason):
    found = outcome(kind)
    assert found.verdict == FAIL
    assert found.reason.startswith("already without the library: ") and reason in found.reason


def test_other_pages_than_asked_fail_the_right_answer(outcome):
    found = outcome("right", VERDICT="mismatch")
    assert (found.verdict, found.reason) == (FAIL, "pages: mismatch (no reason given)")


def test_a_program_that_hangs_is_killed_with_its_daemons(outcome, tmp_path):
    found = outcome("hangs")
    assert found.verdict == FAIL and found.reason.endswith(" 2 s")
    assert not alive(int((tmp_path / "daemon.pid").read_text()))


def test_a_daemon_left_behind_is_killed(outcome, tmp_path):
    assert outcome("leaves-a-daemon").verdict == PASS
    assert not alive(int((tmp_path / "daemon.pid").read_text()))


def test_a_missing_program_is_a_skip_with_its_package(outcome):
    found = outcome("missing")
    assert (found.verdict, found.reason) == (SKIP, "not installed: sudo apt-get install no-such-package")
