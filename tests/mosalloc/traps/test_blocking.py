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
    """As many per second as without the library, or at least a tenth."""
    program, file = program("blocking_calls"), tmp_path / "dirty"

    def rate(text: str) -> float:
        found = dict(line.split() for line in text.splitlines())
        if int(found["microseconds"]) < 5_000:
            pytest.skip("this disk takes 64MB in less than 5 ms")
        return int(found["mappings"]) / int(found["microseconds"])

    plain = subprocess.run([program, "msync", file], capture_output=True, text=True, timeout=60, check=True)
    done = launch("--layout", layout(), "--", program, "msync", file)
    assert done.returncode == 0, done.stderr
    assert rate(done.stdout) > rate(plain.stdout) / 10
