"""The machine's state around a trap, and programs that are told what to do."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from .remote import Remote

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
