"""The machine's state around a trap, programs that walk into it, and free huge pages counted to the page."""

from __future__ import annotations

import mmap
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from tessera.core.units import PAGE_2MB
from tessera.machine.reserve import huge_pages_free

from .remote import Remote

PROGRAMS = Path(__file__).parent / "programs"
THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")
VM = Path("/proc/sys/vm")
STATE = (
    THP,
    VM / "nr_hugepages",
    VM / "nr_overcommit_hugepages",
    VM / "overcommit_memory",
    VM / "overcommit_ratio",
    VM / "overcommit_kbytes",
    Path("/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"),
)
MAP_HUGETLB_2MB = 0x40000 | 21 << 26


@pytest.fixture(autouse=True)
def machine_state():
    """Whatever a test or its program changes on the machine is as before afterwards."""
    before = {path: path.read_text() for path in STATE if path.exists()}
    yield
    assert {path: path.read_text() for path in before} == before


@pytest.fixture
def setting():
    """``setting(path, text)`` until the end of the test; SKIP where it can't be written."""
    written: list[tuple[Path, str]] = []

    def write(path: Path, text: str) -> None:
        if not path.exists():
            pytest.skip(f"{path} does not exist on this kernel")
        shown = path.read_text().strip()
        before = shown[shown.index("[") + 1 : shown.index("]")] if "[" in shown else shown
        try:
            path.write_text(text)
        except OSError as error:
            pytest.skip(f"{path} cannot be written ({error.strerror}); needs root of the machine")
        written.append((path, before))

    yield write
    for path, before in reversed(written):
        path.write_text(before)


@pytest.fixture
def program(tmp_path_factory):
    """``program("name", flags)``: path of ``programs/name.c``, compiled."""
    folder = tmp_path_factory.mktemp("programs")

    def build(name: str, *flags: str) -> Path:
        compiler = shutil.which("cc")
        if compiler is None:
            pytest.skip("no C compiler (cc); apt install gcc libc6-dev")
        out = folder / name
        argv = [compiler, "-O1", "-fno-builtin", "-pthread", "-o", out, PROGRAMS / f"{name.split('.')[0]}.c"]
        subprocess.run([*argv, *flags], check=True)
        return out

    return build


@pytest.fixture
def remote(build, program):
    """``remote(*options)``: the program ``remote`` under mosalloc-run; ``plain=True`` without it."""
    running: list[Remote] = []

    def start(*options: object, plain: bool = False, **environment: str) -> Remote:
        launcher = [] if plain else [build / "mosalloc-run", *options, "--"]
        running.append(Remote([*launcher, program("remote")], os.environ | environment))
        return running[-1]

    yield start
    for one in running:
        one.stop()


@pytest.fixture
def exactly(huge_pages):
    """``exactly(n)``: n free 2MB pages, no more; ``take(n)`` of its answer takes n of them away."""
    held: list[mmap.mmap] = []

    def take(count: int) -> None:
        if count > 0:
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGETLB_2MB
            held.append(mmap.mmap(-1, count * PAGE_2MB, flags=flags))

    def reserve(count: int):
        huge_pages(count)
        take(huge_pages_free(PAGE_2MB) - count)
        assert huge_pages_free(PAGE_2MB) == count
        return take

    reserve.give_back = lambda: [block.close() for block in held]
    yield reserve
    reserve.give_back()


@pytest.fixture
def public_folder(tmp_path_factory):
    """A folder that other users can read, unlike pytest's own."""
    folder = tmp_path_factory.mktemp("public")
    parents = [folder, *folder.parents]
    closed = [p for p in parents if p.stat().st_uid == os.geteuid() and not p.stat().st_mode & stat.S_IXOTH]
    modes = {p: stat.S_IMODE(p.stat().st_mode) for p in closed}
    for path in closed:
        path.chmod(modes[path] | 0o055)
    yield folder
    for path, mode in modes.items():
        path.chmod(mode)
