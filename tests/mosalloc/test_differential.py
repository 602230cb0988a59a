"""Random calls with and without the library: no difference; and the judge does find one where one is."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tessera.core.files import repo_root
from tessera.machine.program_paths import preloadable

pytestmark = [pytest.mark.toolchain]

COMPARE = repo_root() / "artifacts/mosalloc/tests/differential/compare.py"
SKIPPED = 77


@pytest.fixture
def compare(build):
    """Runs the judge on the built component; returns the finished process."""

    def run(*arguments, **options) -> subprocess.CompletedProcess:
        argv = [sys.executable, str(COMPARE), str(build), *map(str, arguments)]
        return subprocess.run(argv, capture_output=True, text=True, timeout=280, **options)

    return run


def test_no_difference_with_small_pages(compare):
    done = compare("--layout", "4kb", "--operations", 200_000)
    assert done.returncode == 0, done.stdout
    assert re.findall(r"^(\w+) 4kb: (\d+) operations, (\d) threads, 0 differences", done.stdout, re.M) == [
        ("PASS", "200000", "1"),
        ("PASS", "200000", "4"),
    ]


@pytest.mark.hugepages
@pytest.mark.parametrize("name", ["2mb", "2mb-exact", "2mb-soft"])
def test_no_difference_under_windows(compare, huge_pages, name):
    huge_pages(8)
    done = compare("--layout", name, "--operations", 100_000)
    assert done.returncode == 0, done.stdout


def test_missing_huge_pages_are_a_skip_that_names_them(compare):
    from tessera.core.units import PAGE_2MB
    from tessera.machine.reserve import huge_pages_free

    if huge_pages_free(PAGE_2MB) >= 6:
        pytest.skip("huge pages are free here, so nothing is missing")
    done = compare("--layout", "2mb")
    assert done.returncode == SKIPPED
    assert "SKIP 2mb: 6 pages of 2MB needed" in done.stdout


@pytest.mark.parametrize(
    ("fault", "result"),
    [("dirty", "read|zero"), ("errno", "munmap|unmap"), ("fault", "read|faults"), ("lost", "read")],
)
def test_a_faulty_library_is_found(compare, build, fault, result):
    import os

    done = compare(
        "--library", build / "libbroken.so", "--operations", 50_000, env=dict(os.environ, BROKEN=fault)
    )
    assert done.returncode == 1
    assert "DIFFERENT 4kb: seed 1" in done.stdout
    assert re.search(rf"  without: (?:{result})=", done.stdout), done.stdout
    # The command that repeats it is complete and gives the operation that was printed.
    repeat = re.search(r"repeat:  (.*)", done.stdout).group(1)
    assert "LD_PRELOAD=" in repeat and "--trace" in repeat
    again = subprocess.run(["env", f"BROKEN={fault}", *shlex.split(repeat)], capture_output=True, text=True)
    with_library = re.search(r"  with:    (\S+)", done.stdout).group(1)
    assert with_library in again.stdout


def test_the_library_is_really_there(build, layout):
    """The same output on both sides means nothing if the library was not loaded."""
    import os

    env = dict(
        os.environ, LD_PRELOAD=str(preloadable(build / "libmosalloc.so")), MOSALLOC_LAYOUT=str(layout())
    )
    done = subprocess.run(
        [build / "differential", "1", "1000", "1"],
        env=env | {"MOSALLOC_VERBOSE": "1"},
        capture_output=True,
        text=True,
    )
    assert "mosalloc: layout" in done.stderr
    assert done.stdout.startswith("digest ")


@pytest.mark.parametrize("words", [(), ("1", "x", "1"), ("1", "10", "0"), ("1", "10", "1", "--what")])
def test_wrong_arguments(build: Path, words):
    done = subprocess.run([build / "differential", *words], capture_output=True, text=True)
    assert done.returncode == 2
    assert "usage: differential SEED OPERATIONS THREADS" in done.stderr
