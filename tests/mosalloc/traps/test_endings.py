"""Programs that end without their destructors: the pool map is in a file, and outlives them."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess

import pytest

from tessera.machine.program_paths import preloadable

pytestmark = pytest.mark.toolchain

HEAD = struct.Struct("<5Q")  # magic, pid, state, passed_through, window_count of mosalloc/pool_map.h
POOL = struct.Struct("<6Q")  # kind, base, size, used, live, calls
MAPPED = 5 << 20


def pools(path) -> list[tuple[int, ...]]:
    data = path.read_bytes()
    magic, _, state, *_ = HEAD.unpack_from(data)
    assert magic.to_bytes(8, "little")[:7] == b"POOLMAP" and state == 1
    return [POOL.unpack_from(data, HEAD.size + i * POOL.size) for i in range(2)]


@pytest.mark.parametrize("ending", ["_exit", "SIGKILL"])
@pytest.mark.parametrize("launched", [True, False], ids=["launcher", "preload"])
def test_the_pool_map_is_readable_after(remote, layout, build, tmp_path, ending, launched):
    path, report = tmp_path / "pools.map", tmp_path / "r.json"
    if launched:
        running = remote("--layout", layout(), "--report", report, MOSALLOC_POOL_MAP=str(path))
    else:
        preload = {"LD_PRELOAD": str(preloadable(build / "libmosalloc.so")), "MOSALLOC_TARGET": "remote"}
        running = remote(plain=True, MOSALLOC_LAYOUT=str(layout()), MOSALLOC_POOL_MAP=str(path), **preload)
    running.slot(f"map {MAPPED}")
    pid = HEAD.unpack_from(path.read_bytes())[1]
    if ending == "SIGKILL":
        os.kill(pid, signal.SIGKILL)
    else:
        running("_exit 7")
    running.end()
    heap, anonymous = pools(path)
    assert (heap[0], anonymous[0]) == (0, 1)
    assert (heap[2], anonymous[2]) == (512 << 20, 1000 << 20)
    assert MAPPED <= anonymous[4] <= anonymous[3] < MAPPED + (1 << 20)  # live and high-water mark
    if launched:
        verdict = json.loads(report.read_text())["verdict"]
        assert verdict == "confirmed" if ending == "_exit" else verdict in ("confirmed", "unchecked")


def test_nothing_is_left_when_the_launcher_is_killed(build, layout, tmp_path):
    """The program may not run on without anybody who checks its pages."""
    argv = [build / "mosalloc-run", "--layout", layout(), "--", "sleep", "61.25"]
    with subprocess.Popen(argv) as launcher:
        while b"61.25" not in (commands := processes_of(launcher.pid)):
            assert launcher.poll() is None
        child = int(commands.split()[0])
        launcher.kill()
    for _ in range(200):
        if not os.path.exists(f"/proc/{child}"):
            return
        import time

        time.sleep(0.05)
    pytest.fail(f"process {child} lives on")


def processes_of(pid: int) -> bytes:
    return subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(pid)], capture_output=True).stdout
