"""Layouts, the launcher and huge pages for the tests of real runs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tessera.core.paths import build_dir
from tessera.machine.reserve import HugePagesUnavailable, reserve_huge_pages

POOLS = "type,pageSize,startOffset,endOffset\nbrk,-1,0,512MB\nmmap,-1,0,1000MB\n"


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
        pytest.skip(f"{folder} is not built with its tests; ./run tessera build --test mosalloc")
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
def huge_pages():
    """``huge_pages(n_2mb, n_1gb)``: that many are free during the test; SKIP names what is missing."""
    held = []

    def reserve(count_2mb: int, count_1gb: int = 0) -> None:
        block = reserve_huge_pages(count_2mb, count_1gb)
        try:
            block.__enter__()
        except HugePagesUnavailable as error:
            pytest.skip(str(error))
        held.append(block)

    yield reserve
    for block in held:
        block.__exit__(None, None, None)
