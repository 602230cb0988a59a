"""A run that is killed leaves nothing behind that stops the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tessera.cli.pipeline.lock import RunLock
from tessera.core.errors import TesseraError
from tessera.core.files import repo_root

pytestmark = pytest.mark.slow

HOLD = """
import sys, time
from pathlib import Path
from tessera.cli.pipeline.lock import RunLock
RunLock(Path(sys.argv[1])).hold()
print("held", flush=True)
time.sleep(60)
"""

WORKFLOW = """
from pathlib import Path
from tessera.cli.pipeline.failures import begin_run

onstart: begin_run(Path("results/x"))
rule all:
    input: "results/x/first", "results/x/second",
rule first:
    output: "results/x/first",
    shell: "echo first >> steps; echo half > {output}; echo whole > {output}"
rule second:
    input: "results/x/first",
    output: "results/x/second",
    shell: "echo second >> steps; echo half > {output}; sleep $PAUSE; echo whole > {output}"
"""


@pytest.fixture
def holder(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "x")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def test_a_second_run_is_refused_with_the_first_ones_process(holder, tmp_path):
    lock = RunLock(tmp_path / "x")
    with pytest.raises(TesseraError, match=f"process {holder.pid}"):
        lock.take()
    assert lock.alive().pid == holder.pid
    holder.kill()
    holder.wait()
    lock.take()
    assert lock.holder().pid == os.getpid()
    lock.release()
    assert list((tmp_path / "x").iterdir()) == []


def test_kill_9_of_a_run_and_the_next_goes_on(tmp_path):
    """Finished steps stay, the one that was killed is made again, without any word on the command line."""
    (tmp_path / "Snakefile").write_text(WORKFLOW)
    profile = tmp_path / "profiles" / "default"
    profile.mkdir(parents=True)
    (profile / "config.yaml").write_text((repo_root() / "profiles/default/config.yaml").read_text())
    command = [sys.executable, "-m", "snakemake", "--cores", "1"]

    def start(pause: int) -> subprocess.Popen:
        return subprocess.Popen(
            command,
            cwd=tmp_path,
            env=os.environ | {"PAUSE": str(pause)},
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    killed = start(60)
    deadline = time.monotonic() + 60
    while not (tmp_path / "results/x/second").exists():
        assert time.monotonic() < deadline and killed.poll() is None, "the second step did not begin"
        time.sleep(0.1)
    refused = start(0)
    said = refused.communicate(timeout=60)[0]
    assert refused.returncode == 1 and f"process {killed.pid}" in said and "Traceback" not in said
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    after = start(0)
    said = after.communicate(timeout=60)[0]
    assert after.returncode == 0, said
    assert (tmp_path / "results/x/second").read_text() == "whole\n"
    assert (tmp_path / "steps").read_text().split() == ["first", "second", "second"]
