"""Forks beside busy threads, and children that are somebody else."""

from __future__ import annotations

import os
import shutil

import pytest

from tessera.measure.mosalloc import read_report

pytestmark = pytest.mark.toolchain


@pytest.mark.parametrize("seed", [20, 21, 22, 23])
def test_fork_while_other_threads_are_inside_malloc(launch, layout, build, seed):
    """malloc's locks and ours are taken in one order, or this stands still (it did, every third time)."""
    done = launch("--layout", layout(), "--", build / "eight_threads", seed)
    assert done.returncode == 0, done.stderr[-500:]


def test_a_child_of_another_user_has_a_map_of_its_own(launch, build, program, public_folder, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root, to become another user")
    library, daemon = public_folder / "libmosalloc.so", public_folder / "drops_user"
    shutil.copy(build / "libmosalloc.so", library)
    shutil.copy(program("drops_user"), daemon)
    layout = public_folder / "layout.csv"
    layout.write_text("type,pageSize,startOffset,endOffset\nbrk,-1,0,512MB\nmmap,-1,0,1000MB\n")
    report = tmp_path / "r.json"
    done = launch("--layout", layout, "--library", library, "--report", report, "--", daemon)
    assert (done.returncode, done.stdout) == (0, "child of user 65534\n"), done.stderr
    found = read_report(report)
    assert found.confirmed
    assert found.used_bytes["mmap"] < 5 << 20  # the child's 5MB are not the parent's


def test_addresses_are_reused(launch, layout, program, tmp_path):
    """20000 calls with at most 8MB mapped at a time: the original's pools only grew."""
    report = tmp_path / "r.json"
    done = launch("--layout", layout(), "--report", report, "--", program("reuse"), 8 << 20, 20000)
    assert done.returncode == 0, done.stderr
    found = read_report(report)
    assert 0 < found.used_bytes["mmap"] < 16 << 20
    assert found.calls["mmap"]["pool"] > 5000
