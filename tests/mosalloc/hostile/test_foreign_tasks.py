"""Tasks that share the memory without being threads of libc: clone(CLONE_VM) without a TLS, and vfork."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time

import pytest

from tessera.machine.program_paths import preloadable

pytestmark = [pytest.mark.toolchain, pytest.mark.hugepages]

ROWS = ("brk,2MB,0,2MB", "mmap,2MB,0,44MB")
PAGES = 23
CALLS = 20_000
KILLS = 10


@pytest.mark.parametrize("mode", ["work", "threads"])
def test_tasks_without_thread_local_storage(hostile, program, huge_pages, mode):
    """Four tasks at once, 20,000 calls of mmap each; everybody's memory stays as it was written."""
    huge_pages(PAGES)
    done = hostile([program("foreign_tasks"), mode, CALLS], *ROWS)
    assert done.right, done.err


def test_a_task_that_is_killed_inside_the_library(hostile, program, huge_pages):
    """SIGKILL at random moments; the others go on within 5 s each time."""
    huge_pages(PAGES)
    done = hostile([program("foreign_tasks"), "kill", KILLS], *ROWS)
    assert done.right, done.err
    assert float(re.search(r"longest ([\d.]+) s", done.err)[1]) < 5


@pytest.mark.parametrize("name", ["TERM", "INT"])
def test_a_signal_ends_them(build, layout, program, huge_pages, tmp_path, name):
    huge_pages(PAGES)
    environment = os.environ | {
        "LD_PRELOAD": str(preloadable(build / "libmosalloc.so")),
        "MOSALLOC_LAYOUT": str(layout(*ROWS)),
    }
    argv = [program("foreign_tasks"), "forever", "0"]
    process = subprocess.Popen(
        argv,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a background job of a shell ignores it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert process.stdout.readline() == "started\n"
        time.sleep(0.5)
        number = getattr(signal, f"SIG{name}")
        os.killpg(process.pid, number)
        assert process.wait(10) == -number
        deadline = time.monotonic() + 10
        while left := group(process.pid):  # the tasks are processes of their own
            assert time.monotonic() < deadline, f"hang: still there 10 s after SIG{name}: {left}"
            time.sleep(0.05)
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.stdout.close()
        process.wait()


def group(number: int) -> list[int]:
    """Processes of a group that have not ended."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as stream:
                state, _, process_group = stream.read().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(process_group) == number and state not in "ZX":
            found.append(int(name))
    return found


def test_children_of_vfork_while_pages_split(hostile, program, huge_pages):
    huge_pages(PAGES)
    done = hostile([program("vforks"), 200], *ROWS)
    assert done.right, done.err
    assert done.map["split_pages"] > 0
