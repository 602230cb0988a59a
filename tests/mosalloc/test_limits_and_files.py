"""Requests that are no wishes, hints, and files that are none: what the launcher says and leaves."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tessera.cli.lab.allocator import allocator
from tessera.cli.mosalloc.group import mosalloc
from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import read_layout

toolchain = pytest.mark.toolchain
SMALL = "type,pageSize,startOffset,endOffset\nbrk,-1,0,16MB\nmmap,-1,0,16MB\n"
CALLS = """
import ctypes, sys
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
for size in sys.argv[1:]:
    assert not libc.malloc(int(size))
"""


@toolchain
def test_an_overflow_probe_is_no_wish(launch, layout):
    words = ["--layout", layout(pools=SMALL), "--", sys.executable, "-c", CALLS]
    done = launch(*words, 1 << 60)
    assert done.returncode == 0 and not re.search(r"(brk|mmap),-1,0,", done.stderr)
    done = launch(*words, 1 << 60, 100 << 20)
    assert done.returncode == 0
    rows = [int(size) for size in re.findall(r"(?:brk|mmap),-1,0,(\d+)MB", done.stderr)]
    assert rows and max(rows) < 200


@toolchain
@pytest.mark.parametrize("size, noted", [(8 << 20, True), (64 << 10, False)])
def test_memory_at_hints_is_noted(launch, layout, size, noted):
    code = (
        "import ctypes; libc = ctypes.CDLL(None); libc.mmap.restype = ctypes.c_void_p\n"
        f"print(libc.mmap(ctypes.c_void_p(0x600000000000), {size}, 3, 0x22, -1, 0) == 0x600000000000)"
    )
    done = launch("--layout", layout(), "--", sys.executable, "-c", code)
    assert done.stdout == "True\n" and ("--hints pool" in done.stderr) == noted
    done = launch("--layout", layout(), "--hints", "pool", "--", sys.executable, "-c", code)
    assert done.stdout == "False\n" and "--hints pool" not in done.stderr


@pytest.fixture(params=["pipe", "folder", "device"])
def no_file(request, tmp_path):
    path = tmp_path / "layout"
    if request.param == "pipe":
        os.mkfifo(path)
    elif request.param == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/null")
    return path


@toolchain
def test_a_layout_is_a_regular_file(build, no_file):
    argv = [build / "mosalloc-run", "--layout", no_file, "--", "echo", "ran"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("what to do: ") == 1
    assert str(no_file) in done.stderr or str(no_file.resolve()) in done.stderr


def test_python_reads_regular_files_only(no_file):
    code = f"from tessera.core.layouts.layout import read_layout; read_layout({str(no_file)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20)
    assert "TesseraError" in done.stderr and str(no_file) in done.stderr
    with pytest.raises(TesseraError):
        read_layout(no_file)


@pytest.mark.parametrize(
    "arguments",
    [("suggest", "--out", "."), ("analyze", "--out", "."), ("analyze", "--out", "a.json", "--plot", "d.svg")],
    ids=["suggest", "analyze", "plot"],
)
def test_outputs_are_tested_before_the_program_runs(tmp_path, monkeypatch, arguments):
    (tmp_path / "d.svg").mkdir()
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(mosalloc, [*arguments, "--", "touch", "ran"])
    assert isinstance(done.exception, TesseraError) and done.exception.exit_code == 2
    assert os.listdir(tmp_path) == ["d.svg"]


@pytest.mark.parametrize("command", ["bench", "overhead", "programs"])
def test_tables_are_tested_before_the_measurements(tmp_path, monkeypatch, command):
    """Without a build, a command that measured first would name the missing program instead."""
    monkeypatch.setenv("TESSERA_ENGINE", "none")
    monkeypatch.setattr("tessera.core.files.repo_root", lambda: tmp_path)
    (tmp_path / "file").touch()
    out = tmp_path / "file" / "x.csv"
    done = CliRunner().invoke(allocator, [command, "--out", str(out)])
    assert isinstance(done.exception, TesseraError) and done.exception.exit_code == 2
    assert str(out) in str(done.exception) and os.listdir(tmp_path) == ["file"]


@toolchain
def test_map_files_of_killed_launchers_go(build, layout, tmp_path):
    """The next launcher deletes them, but none of a launcher that lives."""
    maps = tmp_path / "maps"
    maps.mkdir()
    environment = os.environ | {"TMPDIR": str(maps)}
    argv = [build / "mosalloc-run", "--layout", layout(), "--"]
    program = [sys.executable, "-c", "import time; print('runs', flush=True); time.sleep(60)"]
    running = [subprocess.Popen([*argv, *program], env=environment, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        # Between fork and exec the program holds its launcher's lock, too, so wait until both run.
        for process in running:
            assert process.stdout.readline() == b"runs\n"
        assert len(os.listdir(maps)) == 2
        running[0].kill()
        running[0].wait()
        assert len(os.listdir(maps)) == 2
        (maps / "mosalloc-map-x").write_text("not a launcher's")
        assert subprocess.run([*argv, "true"], env=environment, timeout=20).returncode == 0
        left = sorted(os.listdir(maps))
        assert len(left) == 2 and left[1] == "mosalloc-map-x" and f"-{running[1].pid}-" in left[0]
    finally:
        for process in running:
            process.kill()
            process.wait()
            process.stdout.close()
