"""CPython's own tests of the things that an allocator can break."""

from __future__ import annotations

import re

from tessera.core.units import MB
from tessera.lab.allocator_proof.programs.driver import Box, Need, ProvedProgram, WrongAnswer

#: Debian's python3, whose tests are packaged.
PYTHON = "/usr/bin/python3"
#: module -> what is left out. NoPoll repeats the tests of subprocess with select instead of poll; both mostly
#: sleep.
TESTS: dict[str, tuple[str, ...]] = {
    "test_mmap": (),
    "test_threading": (),
    "test_ctypes": (),
    "test_subprocess": ("--ignore", "*NoPoll*"),
}


def driver(test: str):
    """Runs one test module; the answer is how many of its tests ran, and how many were skipped."""

    def drive(box: Box) -> str:
        # With -v the module's own summary is printed: "Ran 207 tests in 5.3s", "OK (skipped=11)".
        done = box.run([PYTHON, "-m", "test", "-v", *TESTS[test], test])
        printed = done.out + done.err
        ran = re.findall(r"^Ran (\d+) tests? in", printed, re.M)
        ended = re.findall(r"^(OK(?: \(.*\))?)$", printed, re.M)
        if not ran or len(ran) != len(ended):
            raise WrongAnswer(f"{test} printed no summary")
        return "\n".join(f"Ran {count}: {end}" for count, end in zip(ran, ended, strict=True))

    return drive


def row(test: str) -> ProvedProgram:
    return ProvedProgram(
        name=f"cpython-{test}",
        what=f"python3 -m test {test}: all pass, as many as in the plain run",
        drive=driver(test),
        needs=(Need("/usr/lib/python3*/test/test_mmap.py", "libpython3.11-testsuite"),),
        heap_bytes=16 * MB,
        anon_bytes=32 * MB,
        processes=4,  # tests start python3 as their child, which gets the layout too
        timeout_seconds=120,
    )


PROGRAMS = tuple(map(row, TESTS))
