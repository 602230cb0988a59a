"""Limits of hugetlb cgroups: a fork and a start under them end as on a machine with as few free pages."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tessera.core.units import PAGE_2MB
from tessera.measure.mosalloc import read_report

from .test_forks import need_userfaultfd

pytestmark = [pytest.mark.toolchain, pytest.mark.hugepages]

PAGES = 8


def hierarchy() -> tuple[Path, bool]:
    """Root of a mounted hierarchy with the hugetlb controller, and whether it is of version 2; else SKIP."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields, _, tail = line.partition(" - ")
        kind, _, options = tail.split(" ", 2)
        root = Path(fields.split()[4])
        if kind == "cgroup" and "hugetlb" in options.split(","):
            return root, False
        controllers = root / "cgroup.controllers"
        if kind == "cgroup2" and controllers.exists() and "hugetlb" in controllers.read_text().split():
            return root, True
    pytest.skip("no mounted cgroup hierarchy has the hugetlb controller")


@pytest.fixture
def cgroup():
    """``cgroup(pages, reserved)``: a cgroup whose parent has this limit, on pages or on reservations."""
    root, second = hierarchy()
    outer = root / f"tessera-test-{os.getpid()}"
    switch, switched = root / "cgroup.subtree_control", False
    try:
        if second:
            switched = "hugetlb" not in switch.read_text().split()
            switch.write_text("+hugetlb")
        outer.mkdir()
        if second:
            (outer / "cgroup.subtree_control").write_text("+hugetlb")
        (outer / "inner").mkdir()
    except OSError as error:
        if outer.exists():
            outer.rmdir()
        pytest.skip(f"no cgroup can be made below {root} ({error.strerror}); needs root of the machine")

    def limit(pages: int, reserved: bool) -> Path:
        name = f"hugetlb.2MB.{'rsvd.' if reserved else ''}{'max' if second else 'limit_in_bytes'}"
        if not (outer / name).exists():
            pytest.skip(f"{outer / name} does not exist on this kernel")
        (outer / name).write_text(str(pages * PAGE_2MB))
        return outer / "inner"

    yield limit
    (outer / "inner").rmdir()
    outer.rmdir()
    if switched:
        switch.write_text("-hugetlb")


def inside(folder: Path) -> dict:
    return {"preexec_fn": lambda: (folder / "cgroup.procs").write_text(str(os.getpid()))}


@pytest.mark.parametrize("reserved", [False, True], ids=["used", "reserved"])
@pytest.mark.parametrize(("more", "copies"), [(PAGES, False), (6, True), (0, True)])
@pytest.mark.parametrize("threads", [0, 3], ids=["single_threaded", "multi_threaded"])
def test_fork_under_a_limit(
    launch, layout, huge_pages, program, cgroup, tmp_path, reserved, more, copies, threads
):
    """7 pages are in use, ``more`` than the windows' are allowed, and the machine has enough: no SIGBUS."""
    if threads:
        need_userfaultfd()
    huge_pages(3 * PAGES)
    folder, report = cgroup(PAGES + more, reserved), tmp_path / "r.json"
    path = layout(f"mmap,2MB,0,{PAGES * PAGE_2MB}")
    argv = ["--layout", path, "--report", report, "--", program("fork_copies"), 13 << 20, threads, 3]
    done = launch(*argv, **inside(folder))
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr
    found = read_report(report)
    assert found.confirmed and found.counters["fork_risks"] == 0
    copied = found.counters["fork_copied_bytes"] > 0
    # A page that the parent's threads copy during a fork stays charged as a second reservation.
    assert copied or not copies
    assert copies or threads or not copied


@pytest.mark.parametrize("reserved", [False, True], ids=["used", "reserved"])
@pytest.mark.parametrize("options", [(), ("--no-prefault",)], ids=["prefault", "demand"])
def test_windows_above_a_limit_are_refused_by_its_name(launch, layout, huge_pages, cgroup, reserved, options):
    huge_pages(2 * PAGES)
    folder = cgroup(PAGES - 1, reserved)
    path = layout(f"mmap,2MB,0,{PAGES * PAGE_2MB}")
    done = launch("--layout", path, *options, "--", sys.executable, "-c", "pass", **inside(folder))
    assert done.returncode == 2, done.stderr
    name = re.search(
        rf"asked for {PAGES} pages .*: found \d+ free .* {PAGES - 1} of them allowed by (\S+)", done.stderr
    )
    assert name and Path(name[1]).parent == folder.parent, done.stderr
    assert re.search(r"limit of the cgroup by 1 pages of 2MB", done.stderr)


def test_on_demand_a_lowered_limit_is_ENOMEM(launch, layout, huge_pages, program, cgroup, tmp_path):
    """Never SIGBUS: the limit shrinks after the start, to what is in use."""
    huge_pages(pages := 4 * PAGES)  # Python itself uses some
    folder = cgroup(pages, False)
    second = (folder.parent / "hugetlb.2MB.max").exists()
    limit, usage = ("max", "current") if second else ("limit_in_bytes", "usage_in_bytes")
    script = (
        "import mmap, pathlib\n"
        "new = lambda mb: mmap.mmap(-1, mb << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
        "first = new(8); first.write(b'x' * (8 << 20))\n"
        f"name = {str(folder.parent / 'hugetlb.2MB.')!r}\n"
        f"used = pathlib.Path(name + {usage!r}).read_text()\n"
        f"assert 0 < int(used) < {(pages - PAGES) * PAGE_2MB}, used\n"
        f"pathlib.Path(name + {limit!r}).write_text(used)\n"
        "try:\n    second = new(14); second.write(b'x' * (14 << 20)); print('got it')\n"
        "except (OSError, MemoryError) as error:\n    print('refused')\n"
    )
    path = layout(f"mmap,2MB,0,{pages * PAGE_2MB}")
    argv = ["--layout", path, "--no-prefault", "--allow-fallback", "--", sys.executable, "-c", script]
    done = launch(*argv, **inside(folder))
    assert (done.returncode, done.stdout) == (0, "refused\n"), done.stderr
