"""A part that fails leaves its outcome and stops nobody; one that was ended leaves nothing."""

import json
import os
import signal
import stat

import pytest

from tessera.cli.pipeline.failures import failures, run_and_record
from tessera.core.results.outcomes import part_outcomes


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Puts a shell script in the place of ``tessera``."""

    def write(script):
        path = tmp_path / "bin" / "tessera"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")

    return write


def test_a_part_that_succeeds(command, tmp_path, capsys):
    command('echo "$@"; echo "a,b" > "$4/table.csv"')
    out = tmp_path / "results" / "kernel" / "table4" / "attempt.json"
    found = run_and_record(["kernel", "table4"], out)
    assert (found["status"], found["message"]) == ("ok", "")
    assert capsys.readouterr().out == f"kernel table4 --out {out.parent}\n"
    assert (out.parent / "table.csv").exists() and json.loads(out.read_text()) == found


def test_a_part_that_fails_says_its_last_lines_and_leaves_no_old_table(command, tmp_path):
    command("seq 1 20; echo 'what to do: mend it' >&2; exit 2")
    out = tmp_path / "results" / "kernel" / "test" / "attempt.json"
    out.parent.mkdir(parents=True)
    (out.parent / "summary.csv").write_text("of yesterday\n")
    found = run_and_record(["kernel", "test"], out)
    assert found["status"] == "failed"
    assert found["message"].splitlines() == [*map(str, range(14, 21)), "what to do: mend it"]
    assert not (out.parent / "summary.csv").exists()
    assert part_outcomes(tmp_path / "results" / "kernel") == {"test": found}


def test_a_part_that_was_ended_is_no_failure(command, tmp_path):
    command("kill -TERM $$")
    with pytest.raises(SystemExit) as ended:
        run_and_record(["kernel", "test"], tmp_path / "test" / "attempt.json")
    assert ended.value.code == -signal.SIGTERM
    assert part_outcomes(tmp_path) == {}


def test_the_next_run_tries_what_failed_again(tmp_path):
    for part, status in (("test", "ok"), ("table5", "failed")):
        (tmp_path / "kernel" / part).mkdir(parents=True)
        (tmp_path / "kernel" / part / "attempt.json").write_text(json.dumps({"status": status}))
    found = [one.path for one in failures(tmp_path, reserve=False)]
    assert found == [tmp_path / "kernel" / "table5" / "attempt.json"]
