"""Engine none: status, output, environment and the end of processes; the same contract as in docker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.container.toolchain import HostToolchain

TOOLS = HostToolchain()


def test_output_is_text(root):
    done = TOOLS.run(["sh", "-c", "echo out; echo err >&2; exit 3"], capture=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("out\n", "err\n", 3)


def test_environment_is_added(root, monkeypatch):
    monkeypatch.setenv("KEPT", "1")
    done = TOOLS.run(["sh", "-c", "echo $KEPT$ADDED"], env={"ADDED": "2"}, capture=True)
    assert done.stdout == "12\n"


FAILURES = {
    "status": (["sh", "-c", "echo why >&2; exit 3"], "status 3:\nwhy", "read its messages"),
    "killed": (["sh", "-c", "kill -9 $$"], "killed", "memory"),
    "not found": (["no-such-program"], "not found", "tessera dev build"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures_say_what_to_do(name):
    argv, found, remedy = FAILURES[name]
    with pytest.raises(TesseraError) as error:
        TOOLS.run(argv, capture=True)
    assert found in error.value.found and remedy in error.value.remedy
    assert error.value.exit_code == 1


def test_terminate_reaches_the_whole_group():
    process = TOOLS.popen(["sh", "-c", "sleep 1000 & echo $!; wait"], stdout=subprocess.PIPE, text=True)
    child = int(process.stdout.readline())
    process.terminate()
    assert process.wait(10) != 0
    assert _ends(child)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_program_ends_with_its_caller(number, root):
    """However the caller ends, SIGKILL included, the program doesn't outlive it."""
    code = (
        "import signal\n"
        "from tessera.machine.container.toolchain import HostToolchain\n"
        # A test run that a shell put in the background hands down an ignored SIGINT.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "HostToolchain().run(['sh', '-c', 'echo $$; exec sleep 1000'])\n"
    )
    env = os.environ | {"PYTHONPATH": str(root / "src")}
    caller = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=env,
                              stderr=subprocess.DEVNULL)  # fmt: skip
    program = int(caller.stdout.readline())
    caller.send_signal(number)
    caller.wait(20)
    assert _ends(program)


def _ends(pid: int) -> bool:
    """Whether the process is gone, or a zombie that only its parent has not seen yet, within 5 s."""
    for _ in range(50):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                if stat.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.1)
    return False
