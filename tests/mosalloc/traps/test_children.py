"""What forked children count reaches the report, whatever way they end."""

from __future__ import annotations

import pytest

from tessera.measure.mosalloc import read_report

pytestmark = pytest.mark.toolchain

# Each child makes mappings, one call that fails and one advice that is ignored. The columns are NAMES.
ENDINGS = {
    "exit": (1, 22, 1, 1, 0),
    "kill": (1, 22, 1, 1, 0),
    "raw": (1, 22, 1, 1, 0),
    "grandchild": (2, 42, 3, 3, 1),
    "vfork": (0, 0, 0, 0, 0),
}
NAMES = ("processes", "calls", "failed_calls", "ignored_advice", "forks")


@pytest.mark.parametrize("ending", ENDINGS)
def test_counters_of_forked_children(program, launch, layout, tmp_path, ending):
    """_exit and SIGKILL run no destructor; a child of clone runs no fork handler."""
    report = tmp_path / "r.json"
    done = launch("--layout", layout(), "--report", report, "--", program("children"), ending)
    assert done.returncode == 0, done.stderr
    found = read_report(report)
    assert tuple(found.children[name] for name in NAMES) == ENDINGS[ending]
    assert found.counters["ignored_advice"] == 0  # the program's own
    assert found.calls["mmap"]["pool"] == 1


@pytest.mark.hugepages
def test_children_of_a_program_with_windows(launch, layout, build, huge_pages, tmp_path):
    huge_pages(8)
    report = tmp_path / "r.json"
    done = launch("--layout", layout("mmap,2MB,0,6MB"), "--report", report, "--", build / "cases", "fork")
    assert done.returncode == 0, done.stderr
    assert read_report(report).children["processes"] >= 1
