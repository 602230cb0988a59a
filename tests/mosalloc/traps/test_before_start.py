"""What is there before the library starts, and what it needs to start at all."""

from __future__ import annotations

import json
import re
import resource
from pathlib import Path

import pytest

from tessera.machine.program_paths import preloadable

pytestmark = pytest.mark.toolchain

SMALL_POOLS = "type,pageSize,startOffset,endOffset\nbrk,-1,0,64MB\nmmap,-1,0,64MB\nfile,-1,0,64MB\n"
GB = 1 << 30


def unlimited_stack() -> None:
    resource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY,) * 2)


@pytest.mark.parametrize("flags", [(), ("-no-pie",)], ids=["pie", "no-pie"])
@pytest.mark.parametrize("stack", [None, unlimited_stack], ids=["limited", "unlimited"])
@pytest.mark.parametrize("prefix", [(), ("setarch", "-R")], ids=["random", "fixed"])
def test_the_heap_pool_lies_above_the_kernels_heap(launch, layout, program, flags, stack, prefix):
    """Below it malloc takes the break for one that shrank, and aborts."""
    done = launch(
        "--layout", layout(), "--target", "breaks", "--", *prefix, program("breaks", *flags), preexec_fn=stack
    )
    assert done.returncode == 0, done.stderr
    kernels, ours = map(int, done.stdout.split())
    assert ours > kernels


@pytest.fixture
def early(program, tmp_path):
    """A program with a library whose constructor runs before ours and keeps 8MB and many small pieces."""
    library = program("early_library.so", "-shared", "-fPIC")
    return program("early", "-Wl,--no-as-needed", library, f"-Wl,-rpath,{library.parent}")


def test_memory_of_before_is_reported_and_used_up(launch, layout, early, tmp_path):
    report = tmp_path / "r.json"
    done = launch("--layout", layout(), "--report", report, "--", early)
    assert done.returncode == 0, done.stderr
    low, high, whole = map(int, done.stdout.split())
    assert whole == 1  # what the constructor had is still its own
    found = json.loads(report.read_text())
    start = min(pool["base"] for pool in found["pools"])
    end = max(pool["base"] + pool["size_bytes"] for pool in found["pools"])
    assert start <= low and high < end  # malloc gives main nothing of the kernel's heap
    outside = found["outside"]
    assert outside["kernel_heap_bytes"] >= 400 * 700 / 2
    assert 8 << 20 <= outside["unseen_bytes"] < 9 << 20
    assert re.search(r"note: \d+MB ", done.stderr) and "--report" in done.stderr


def test_another_preloaded_library_stays_and_its_memory_is_reported(launch, layout, build, tmp_path):
    """other.so allocates 300000 bytes in its constructor; the environment had it in LD_PRELOAD."""
    import os

    report = tmp_path / "r.json"
    script = 'case "$LD_PRELOAD" in *libmosalloc.so*libother.so) grep -c libother.so /proc/self/maps;; esac'
    environment = os.environ | {"LD_PRELOAD": str(preloadable(build / "libother.so"))}
    words = ("--layout", layout(), "--report", report, "--target", "sh")
    done = launch(*words, "--", "sh", "-c", script, env=environment)
    assert done.returncode == 0 and int(done.stdout) > 0, (done.stdout, done.stderr)
    assert json.loads(report.read_text())["outside"]["kernel_heap_bytes"] > 0


@pytest.mark.parametrize(("limit", "status"), [(8 * GB, 0), (3 * GB, 2)], ids=["enough", "tight"])
def test_address_space_limit(launch, layout, limit, status):
    """Three pools in 1GB each, 1GB for their alignment; the rest is the program's."""
    tight = lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))  # noqa: E731
    done = launch("--layout", layout(pools=SMALL_POOLS), "--", "echo", "ran", preexec_fn=tight)
    assert (done.returncode, done.stdout) == (status, "ran\n" if status == 0 else ""), done.stderr
    if status != 0:
        assert "ulimit -v" in done.stderr


def test_a_limit_met_later_is_ENOMEM_as_without_the_library(layout, remote):  # noqa: N802
    """RLIMIT_DATA counts memory when it becomes writable, in pools as well (RLIMIT_AS counts addresses)."""
    for options in (None, ("--layout", layout(pools=SMALL_POOLS))):
        running = remote(plain=True) if options is None else remote(*options)
        assert running("map 4096") == "ok 0"  # it has started, so it holds all that starting takes
        pid = program_pid(running.pid)
        limit = data_bytes(pid) + (16 << 20)
        resource.prlimit(pid, resource.RLIMIT_DATA, (limit, limit))
        for call in ("map", "malloc", "sbrk"):
            assert running(f"{call} {48 << 20}") == "errno 12", (options, call)
        assert running("map 4096") == "ok 1"
        assert running.end() == 0, running.stderr


def data_bytes(pid: int) -> int:
    """What RLIMIT_DATA counts; the library's tables are among it."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"^VmData:\s+(\d+) kB", status, re.MULTILINE)[1]) << 10


def program_pid(pid: int) -> int:
    """The program under the launcher (its first child), else the process itself."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0]) if children else pid


def test_run_sh_gets_no_layout_but_the_target_does(launch, layout, build, tmp_path):
    """The script's shell inherits LD_PRELOAD; only the executable that --target names may have pools."""
    size = "grep VmSize: /proc/{}/status"
    script = tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\n{size.format('$$')}\nexec '{build}/cases' brk threads\n")
    report = tmp_path / "r.json"
    done = launch("--layout", layout(), "--report", report, "--target", build / "cases", "--", "sh", script)
    assert done.returncode == 0, done.stderr
    shell_kb = int(done.stdout.split()[1])
    assert shell_kb < 512 << 10  # the heap pool alone has 512MB
    found = json.loads(report.read_text())
    assert found["verdict"] == "confirmed" and found["pools"][0]["used_bytes"] > 0
