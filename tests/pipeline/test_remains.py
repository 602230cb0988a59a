"""After `kill -9` of the main process alone, of its watcher, too, or of a recording: nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .kill_main import LIMIT_SECONDS, has_image, kill_main

#: A run without Snakemake: its steps are shells. The shell tells when both processes are there.
RUN = """
import subprocess, sys
from pathlib import Path
from tessera.cli.pipeline.failures import begin_run
begin_run(Path("results/x"), local=sys.argv[1] == "local")
subprocess.Popen(["sh", "-c", "sleep 1000 & echo begun; exec sleep 1000"])
sys.stdin.read()
"""


def begin(folder: Path, where: str = "local") -> subprocess.Popen:
    """A run of the checkout ``folder``, at work."""
    folder.mkdir(exist_ok=True)
    environment = os.environ | {"TESSERA_ROOT": str(folder), "TESSERA_ENGINE": "none"}
    run = subprocess.Popen(
        [sys.executable, "-c", RUN, where], cwd=folder, env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert run.stdout.readline() == "begun\n", run.stderr.read()
    return run


def steps(folder: Path) -> list[int]:
    """The processes that work in a folder, but for the run's main process."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(path / "cwd") == str(folder) and b"python" not in (path / "cmdline").read_bytes():
                found.append(int(path.name))
        except OSError:  # it has ended
            continue
    return found


def children(pid: int, word: bytes) -> list[int]:
    """Numbers of the children that have a word in their command."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found if word in Path(f"/proc/{child}/cmdline").read_bytes()]


def ended(folder: Path) -> bool:
    """Whether the steps end in time."""
    until = time.monotonic() + LIMIT_SECONDS
    while steps(folder) and time.monotonic() < until:
        time.sleep(0.1)
    return not steps(folder)


def kill(run: subprocess.Popen, *others: int) -> None:
    for pid in (*others, run.pid):
        os.kill(pid, signal.SIGKILL)
    run.wait()


@pytest.fixture
def folders(tmp_path):
    """Two checkouts; what still works in them afterwards is ended."""
    yield tmp_path / "one", tmp_path / "two"
    for folder in (tmp_path / "one", tmp_path / "two"):
        for pid in steps(folder):
            os.kill(pid, signal.SIGKILL)


def test_the_steps_of_a_killed_run_end_and_those_of_another_checkout_do_not(folders):
    one, two = (begin(folder) for folder in folders)
    others = steps(folders[1])
    assert len(steps(folders[0])) == 2
    kill(one)
    assert ended(folders[0])
    kill(begin(folders[0]))  # nor does its next run end them
    assert steps(folders[1]) == others
    kill(two)
    assert all(ended(folder) for folder in folders)


def test_without_its_watcher_the_next_run_ends_them_and_says_so(folders):
    one, two = (begin(folder) for folder in folders)
    (watcher,) = children(one.pid, b"tessera.cli.pipeline.remains")
    left, others = steps(folders[0]), steps(folders[1])
    kill(one, watcher)
    again = begin(folders[0])
    assert not set(left) & set(steps(folders[0])) and steps(folders[1]) == others
    kill(again)
    said = again.stderr.read()
    assert all(f"process {pid}" in said for pid in left), said
    kill(two)
    assert all(ended(folder) for folder in folders)


def test_steps_on_a_cluster_outlive_the_main_process(folders):
    run = begin(folders[0], "cluster")
    left = steps(folders[0])
    assert children(run.pid, b"tessera.cli.pipeline.remains") == []
    kill(run)
    kill(begin(folders[0]))
    assert set(left) <= set(steps(folders[0]))


def test_what_a_killed_recording_left_goes_with_the_next_run(folders):
    code = (
        "import sys; from pathlib import Path; from tessera.core.files import scratch_folder\n"
        "with scratch_folder(Path('results/x/traces/w/trace.tst')) as folder:\n"
        "    (folder / 'trace.tst').touch(); print(folder, flush=True); sys.stdin.read()\n"
    )
    folders[0].mkdir()
    words = {"cwd": folders[0], "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    killed, living = (subprocess.Popen([sys.executable, "-c", code], **words) for _ in range(2))
    left, kept = (folders[0] / process.stdout.readline().strip() for process in (killed, living))
    kill(killed)
    assert (left / "trace.tst").exists()
    run = begin(folders[0])
    assert not left.exists() and (kept / "trace.tst").exists()
    kill(run)
    assert str(left.relative_to(folders[0])) in run.stderr.read()
    living.communicate("")
    assert not kept.exists()


@pytest.mark.parametrize("steps", [["plain"], ["plain", "stubborn", "container"]], ids=["one", "all"])
def test_kill_9_of_snakemake_alone_leaves_nothing(tmp_path, steps):
    """More often: python -P tests/pipeline/kill_main.py 50"""
    if not has_image():
        steps = [step for step in steps if step != "container"]
    _, left = kill_main(tmp_path, steps)
    assert left == []
