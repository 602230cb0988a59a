"""Layouts, the launcher, compiled programs and huge pages for the tests of real runs."""

from __future__ import annotations

import fcntl
import mmap
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from tessera.core.files import build_dir
from tessera.core.units import PAGE_2MB
from tessera.machine.reserve import HugePagesUnavailable, huge_pages_free, reserve_huge_pages

POOLS = "type,pageSize,startOffset,endOffset\nbrk,-1,0,512MB\nmmap,-1,0,1000MB\n"
MAP_HUGETLB_2MB = 0x40000 | 21 << 26
TURN, TURN_SECONDS = Path(tempfile.gettempdir()) / "tessera-tests-huge-pages.lock", 300


@pytest.fixture(autouse=True)
def no_exec(monkeypatch):
    """A command that replaces its process must not replace the tests': it runs as a child instead."""

    def run_and_exit(path, argv):
        raise SystemExit(subprocess.run(argv, executable=path, timeout=120).returncode)

    monkeypatch.setattr(os, "execv", run_and_exit)


@pytest.fixture(scope="session")
def build() -> Path:
    """Folder with libmosalloc.so, mosalloc-run and the test programs."""
    folder = build_dir("mosalloc")
    if not (folder / "mosalloc-run").exists() or not (folder / "cases").exists():
        pytest.skip(f"{folder} is not built with its tests; ./run tessera dev build --test mosalloc")
    return folder


@pytest.fixture
def layout(tmp_path):
    """Writes a layout file with pools of 512MB and 1000MB; ``layout("mmap,2MB,0,4MB")``."""

    def write(*rows: str, name: str = "layout.csv", pools: str = POOLS) -> Path:
        path = tmp_path / name
        path.write_text(pools + "".join(f"{row}\n" for row in rows))
        return path

    return write


@pytest.fixture
def launch(build):
    """Runs mosalloc-run and returns the finished process."""

    def run(*arguments, **options) -> subprocess.CompletedProcess:
        argv = [str(build / "mosalloc-run"), *map(str, arguments)]
        return subprocess.run(argv, capture_output=True, text=True, timeout=120, **options)

    return run


@pytest.fixture
def turn():
    """Huge pages are the machine's: tests that count free ones wait until no other test run uses any.

    ``turn(fcntl.LOCK_SH)`` or ``turn(fcntl.LOCK_EX)``, until the end of the test.
    """
    with TURN.open("a") as lock:

        def wait(kind: int) -> None:
            deadline = time.monotonic() + TURN_SECONDS
            while True:
                try:
                    return fcntl.flock(lock, kind | fcntl.LOCK_NB)
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        pytest.fail(f"another test run has held {TURN} for {TURN_SECONDS} s")
                    time.sleep(0.05)

        yield wait


@pytest.fixture
def huge_pages(turn):
    """``huge_pages(n_2mb, n_1gb)``: that many are free during the test; SKIP names what is missing."""
    held = []

    def reserve(count_2mb: int, count_1gb: int = 0, kind: int = fcntl.LOCK_SH) -> None:
        turn(kind)
        block = reserve_huge_pages(count_2mb, count_1gb)
        try:
            block.__enter__()
        except HugePagesUnavailable as error:
            pytest.skip(str(error))
        held.append(block)

    yield reserve
    for block in held:
        block.__exit__(None, None, None)


@pytest.fixture
def program(tmp_path_factory, request):
    """``program("name", flags)``: path of ``programs/name.c`` beside the test, compiled."""
    folder, sources = tmp_path_factory.mktemp("programs"), request.path.parent / "programs"

    def build(name: str, *flags: str) -> Path:
        compiler = shutil.which("cc")
        if compiler is None:
            pytest.skip("no C compiler (cc); apt install gcc libc6-dev")
        out = folder / name
        argv = [compiler, "-O1", "-fno-builtin", "-pthread", "-o", out, sources / f"{name.split('.')[0]}.c"]
        subprocess.run([*argv, *flags], check=True)
        return out

    return build


@pytest.fixture
def exactly(huge_pages):
    """``exactly(n)``: n free 2MB pages, no more; ``take(n)`` of its answer takes n of them away."""
    held: list[mmap.mmap] = []

    def take(count: int) -> None:
        if count > 0:
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGETLB_2MB
            held.append(mmap.mmap(-1, count * PAGE_2MB, flags=flags))

    def reserve(count: int):
        huge_pages(count, kind=fcntl.LOCK_EX)
        take(huge_pages_free(PAGE_2MB) - count)
        assert huge_pages_free(PAGE_2MB) == count
        return take

    reserve.give_back = lambda: [block.close() for block in held]
    yield reserve
    reserve.give_back()
