"""Seccomp filters that kill for calls of the library: refused at start, or named afterwards."""

from __future__ import annotations

import ctypes
import os
import re
import resource
import signal
import struct
import sys

import pytest

pytestmark = pytest.mark.toolchain

KILL, ERROR, ALLOW = 0x80000000, 0x00050001, 0x7FFF0000  # process killed; EPERM
NUMBERS = {
    "mremap": 25,
    "userfaultfd": 323,
    "madvise": 28,
    "tkill": 200,
    "clone": 56,
    "mincore": 27,
    "mbind": 237,
}
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2

#: Installs the filter in the running program, then has the library make the call.
LATER = """
import ctypes, mmap, sys
libc = ctypes.CDLL(None)
libc.mremap.restype = libc.mmap.restype = ctypes.c_void_p
at = libc.mmap(None, 1 << 20, 3, 0x22, -1, 0)
code = ctypes.create_string_buffer(bytes.fromhex(sys.argv[1]))
program = (ctypes.c_ulong * 2)(len(code.raw) // 8, ctypes.addressof(code))
libc.prctl(38, 1, 0, 0, 0), libc.prctl(22, 2, program)
libc.madvise(ctypes.c_void_p(at), 1 << 20, 4)
"""

#: Leaves a mark on one whole huge page, and ends it.
ADVICE = """
import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
size = 2 << 20
at = libc.mmap(None, 2 * size, 3, 0x22, -1, 0)
page = (at + size - 1) // size * size
assert libc.madvise(ctypes.c_void_p(page), size, 16) == 0
assert libc.munmap(ctypes.c_void_p(at), 2 * size) == 0
print("ran")
"""


def code(name: str, action: int) -> bytes:
    """BPF: load the number; if it is the call's, the action, else allow."""
    rows = [(0x20, 0, 0, 0), (0x15, 0, 1, NUMBERS[name]), (0x06, 0, 0, action), (0x06, 0, 0, ALLOW)]
    return b"".join(struct.pack("HBBI", *row) for row in rows)


def installer(name: str, action: int):
    libc, text = ctypes.CDLL(None), ctypes.create_string_buffer(code(name, action), 32)

    def install() -> None:
        program = (ctypes.c_ulong * 2)(4, ctypes.addressof(text))
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        libc.prctl(PR_SET_SECCOMP, FILTER, program)

    return install


@pytest.mark.parametrize("name", ["mremap", "userfaultfd", "tkill"])
def test_a_filter_that_kills_is_refused_at_start(launch, layout, name):
    done = launch("--layout", layout(), "--", "echo", "ran", preexec_fn=installer(name, KILL))
    assert (done.returncode, done.stdout) == (2, "")
    assert f" {name}," in done.stderr and done.stderr.count("what to do: ") == 1


@pytest.mark.parametrize("name", ["mremap", "userfaultfd", "tkill"])
def test_a_filter_that_answers_is_no_reason(launch, layout, name):
    done = launch("--layout", layout(), "--", "echo", "ran", preexec_fn=installer(name, ERROR))
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr


def test_a_killed_test_leaves_no_core_file(launch, layout, tmp_path):
    """The filter kills a child of the library, in the program's working directory."""
    folder = tmp_path / "here"
    folder.mkdir()
    install = installer("mremap", KILL)

    def limits() -> None:
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
        install()

    done = launch("--layout", layout(), "--", "echo", "ran", preexec_fn=limits, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "") and os.listdir(folder) == []


def test_calls_of_the_program_alone_are_its_own_matter(launch, layout):
    done = launch("--layout", layout(), "--", "echo", "ran", preexec_fn=installer("mincore", KILL))
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr


@pytest.mark.hugepages
def test_marks_of_huge_pages_end_by_a_call_that_may_kill(launch, layout, huge_pages):
    """The program only gives advice, but its mark ends by mbind. 4KB parts get a new mapping instead."""
    huge_pages(8)
    argv = ["--", sys.executable, "-c", ADVICE]
    install = installer("mbind", KILL)
    refused = launch("--layout", layout("mmap,2MB,0,16MB", name="w.csv"), *argv, preexec_fn=install)
    assert (refused.returncode, refused.stdout) == (2, "") and " mbind," in refused.stderr
    allowed = launch("--layout", layout(), *argv, preexec_fn=install)
    assert (allowed.returncode, allowed.stdout) == (0, "ran\n"), allowed.stderr


def test_a_kill_by_a_later_filter_names_the_list(launch, layout):
    argv = [sys.executable, "-c", LATER, code("madvise", KILL).hex()]
    done = launch("--layout", layout(), "--", *argv)
    assert done.returncode == 128 + signal.SIGSYS
    assert "SIGSYS" in done.stderr and "artifacts/mosalloc/README.md" in done.stderr


def test_the_list_of_calls_is_complete(root):
    folder = root / "artifacts/mosalloc"
    section = (folder / "README.md").read_text().split("## System calls")[1].split("\n## ")[0]
    own, passed = (set(part.split()) for part in re.findall(r"`([^`]+)`[;.]", section))
    used = set()
    for path in (*(folder / "core").iterdir(), *(folder / "preload").iterdir()):
        used |= set(re.findall(r"\bSYS_(\w+)", path.read_text()))
    assert used == own | passed and not own & passed
    probed = set(re.findall(r'^    \{"(\w+)", SYS_', (folder / "preload/seccomp.cpp").read_text(), re.M))
    assert own - probed == {"exit_group", "wait4"}  # needed to ask at all
