"""Calls that block: other threads go on making mappings meanwhile."""

from __future__ import annotations

import subprocess

import pytest

pytestmark = pytest.mark.toolchain

NO_USERFAULTFD = 77


@pytest.mark.parametrize("call", ["populate", "lock", "lock2"])
def test_a_call_that_waits_for_a_handler_of_the_program(program, launch, layout, call):
    """The handler makes 1,000 mappings before it resolves the fault; a hang ends with SIGALRM."""
    program = program("blocking_calls")
    plain = subprocess.run([program, call], timeout=60, check=False).returncode
    if plain == NO_USERFAULTFD:
        pytest.skip("userfaultfd is denied here")
    assert plain == 0
    done = launch("--layout", layout(), "--", program, call)
    assert done.returncode == 0, done.stderr


def test_mappings_during_msync(program, launch, layout, tmp_path):
    """No mapping of another thread takes as long as the msync; other programs delay it too, so three runs."""
    program, shares = program("blocking_calls"), []
    for _ in range(3):
        done = launch("--layout", layout(), "--", program, "msync", tmp_path / "dirty")
        assert done.returncode == 0, done.stderr
        found = dict(line.split() for line in done.stdout.splitlines())
        if int(found["microseconds"]) < 5_000:
            pytest.skip("this disk takes 64MB in less than 5 ms")
        shares.append(int(found["longest"]) / int(found["microseconds"]))
        if shares[-1] < 0.4:
            return
    pytest.fail(f"the longest mapping and the msync, as ratios: {shares}")
