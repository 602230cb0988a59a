"""Threads and coroutines that change the protections of the huge page that holds their own stack."""

from __future__ import annotations

import shutil

import pytest

from tessera.core.checks import FAIL, PASS
from tessera.core.files import built
from tessera.lab.allocator_proof.suite import stacks as stacks_section
from tessera.lab.allocator_proof.suite.section import ProofSettings

from .conftest import execute

pytestmark = [pytest.mark.toolchain, pytest.mark.hugepages]

ROWS = ("brk,2MB,0,4MB", "mmap,2MB,0,56MB")
PAGES = 30
CASES = ("coroutines", "coroutines_threads", "setstack", "fork", "fork_threads", "pool_threads", "altstack")


def test_all_cases_are_tested(build):
    assert tuple(stacks_section.cases()) == CASES


@pytest.mark.parametrize("stacks", ["kernel", "pool"])
@pytest.mark.parametrize("case", CASES)
def test_own_stacks(hostile, exactly, userfaultfd, case, stacks):
    """All free huge pages are in the windows, so that forks copy."""
    exactly(PAGES)
    done = hostile([built("mosalloc", "own_stacks"), case], *ROWS, seconds=30, MOSALLOC_STACKS=stacks)
    assert done.right, done.err
    assert done.map["unsplit_pages"] == 0
    if case != "pool_threads" or stacks == "pool":
        assert done.map["split_pages"] > 0
    if case.startswith("fork"):
        assert done.map["copied_forks"] == done.map["forks"] > 0
        assert done.map["fork_risks"] == 0


@pytest.mark.parametrize("free", [0, 3 * PAGES], ids=["no_page_free", "pages_free"])
def test_java_with_stacks_in_windows(hostile, exactly, userfaultfd, tmp_path, free):
    java = shutil.which("java")
    if java is None:
        pytest.skip("no java on this machine; apt install default-jre-headless")
    execute([java, "-version"], tmp_path, 60)
    exactly(PAGES + free)
    done = hostile([java, "-Xmx64m", "-version"], *ROWS, plain=False, MOSALLOC_STACKS="pool")
    assert done.status == 0, done.err
    assert "version" in done.err


def test_fifty_runs_of_each_case(tmp_path, build, exactly, userfaultfd):
    """What the proof does a thousand times."""
    exactly(PAGES)
    said = []
    found = stacks_section.run(ProofSettings(tmp_path, said.append, quick=True))
    skipped = [check.found for check in found.checks if check.name == "huge pages"]
    if skipped:
        pytest.skip(skipped[0])
    assert {check.name: (check.status, check.found) for check in found.checks} == {
        case: (PASS, "") for case in CASES
    }
    assert {row["runs"] for row in found.rows} == {stacks_section.QUICK_RUNS}
    assert all(row["split_pages"] >= stacks_section.QUICK_RUNS / 2 for row in found.rows)
    copied = {row["case"]: row["copied_mb"] for row in found.rows}
    assert min(copied["fork"], copied["fork_threads"]) >= stacks_section.QUICK_RUNS
    assert found.notes == []


def test_forks_that_share_pages_are_said():
    lines = [
        stacks_section.StackRuns("fork", runs=1),
        stacks_section.StackRuns("setstack", runs=1, split_pages=2),
    ]
    assert [stacks_section._check(line).status for line in lines] == [PASS, PASS]
    assert len(stacks_section._notes(lines)) == 1 and " 30 " in stacks_section._notes(lines)[0]
    assert stacks_section._check(stacks_section.StackRuns("setstack", runs=1)).status == FAIL


def test_a_hang_is_found_and_said(monkeypatch, tmp_path, build):
    """The watchdog of the section: a case that never ends."""
    monkeypatch.setattr(stacks_section, "TIMEOUT_SECONDS", 0.5)
    monkeypatch.setattr(stacks_section, "mosalloc_command", lambda *_, **__: ["sleep", "60"])
    line = stacks_section.StackRuns("x")
    stacks_section._once(line, 0, tmp_path)
    assert (line.runs, line.hangs, line.failures) == (1, 1, 0)
    assert "0.5 s" in line.reason and "kernel" in line.reason
    monkeypatch.setattr(
        stacks_section, "mosalloc_command", lambda *_, **__: ["sh", "-c", "echo wrong; exit 3"]
    )
    line = stacks_section.StackRuns("y")
    stacks_section._once(line, 1, tmp_path)
    assert (line.hangs, line.failures) == (0, 1)
    assert "status 3" in line.reason and "pool" in line.reason
