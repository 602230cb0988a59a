"""Marks that calls leave on mappings (policies, names, locks, advice, ...) end with munmap.

Each program also runs without the library: the bare kernel is the oracle. The table of all marks is in
artifacts/mosalloc/README.md.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tessera.core.units import PAGE_2MB
from tessera.measure.mosalloc import read_report

pytestmark = pytest.mark.toolchain

BLOCK = 64 << 10
WINDOWS = ("mmap,2MB,0,8MB",)
PAGES = 4
NOT_HERE = 77
MARKS = "policy home_node name lock lock_on_fault undumped unforked wiped sequential mergeable key".split()


def plain(*argv) -> subprocess.CompletedProcess:
    """The program on the bare kernel; SKIP if the kernel or the processor lacks the mark."""
    done = subprocess.run([*map(str, argv)], capture_output=True, text=True, timeout=60)
    if done.returncode == NOT_HERE:
        pytest.skip(f"this machine has no such mark ({done.stdout.strip()})")
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture
def under(launch, tmp_path):
    """``under(layout, options, argv)``: the finished process and its report."""

    def run(layout, options, *argv):
        report = tmp_path / "r.json"
        done = launch("--layout", layout, "--report", report, *options, "--", *argv)
        return done, read_report(report)

    return run


@pytest.mark.parametrize("grow", [(), ("grow",)], ids=["", "mremap"])
@pytest.mark.parametrize("mark", MARKS)
def test_marks_end_with_munmap(under, layout, program, mark, grow):
    argv = (program("marks"), mark, BLOCK, *grow)
    plain(*argv)
    done, found = under(layout(), (), *argv)
    assert (done.returncode, done.stdout) == (0, "clean\n"), done.stderr
    assert found.confirmed
    assert found.counters["ended_marks"] >= 1 and found.counters["refused_marks"] == 0


def test_a_fault_handler_does_not_fill_new_memory(under, layout, program):
    argv = (program("fault_handler"), BLOCK)
    plain(*argv)
    done, found = under(layout(), (), *argv)
    assert (done.returncode, done.stdout) == (0, "clean\n"), done.stderr
    assert found.confirmed and found.counters["ended_marks"] >= 1


def test_a_fault_handler_may_map_memory_before_it_reads_an_event(under, layout, program):
    """The kernel lets munmap wait for the handler, and the handler waits for nothing in the library."""
    argv = (program("fault_events"), BLOCK)
    oracle = plain(*argv)
    done, found = under(layout(), (), *argv)
    assert (done.returncode, done.stdout) == (0, oracle.stdout), done.stderr
    assert found.confirmed


def may_lock_everything() -> bool:
    """CAP_IPC_LOCK. Without it the reserved pools count against the limit (artifacts/mosalloc/README.md)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("CapEff:")[1].split()[0], 16) >> 14 & 1 == 1


def test_new_memory_is_locked_only_if_the_program_wants_it(under, layout, program):
    if not may_lock_everything():
        pytest.skip("needs CAP_IPC_LOCK (docker: --cap-add IPC_LOCK)")
    argv = (program("all_locked"),)
    plain(*argv)
    done, found = under(layout(), (), *argv)
    assert (done.returncode, done.stdout) == (0, "clean\n"), done.stderr
    assert found.confirmed


def test_marks_leave_holes_and_neighbours_alone(under, layout, program):
    argv = (program("partial_marks"),)
    oracle = plain(*argv)
    done, _ = under(layout(), (), *argv)
    assert (done.returncode, done.stdout) == (0, oracle.stdout), done.stderr


@pytest.mark.parametrize("bytes_", [BLOCK, 3 << 20], ids=["64KB", "3MB"])
def test_shared_segments_at_chosen_addresses(under, layout, program, bytes_):
    argv = (program("shared_segment"), bytes_)
    plain(*argv)
    done, found = under(layout(), (), *argv)
    assert (done.returncode, done.stdout) == (0, "clean\n"), done.stderr
    assert found.confirmed


@pytest.mark.parametrize("move", [(), ("move",)], ids=["", "mremap"])
def test_a_child_may_fill_what_it_did_not_get(under, layout, program, move):
    argv = (program("not_forked"), BLOCK, *move)
    plain(*argv)
    done, found = under(layout(), (), *argv)
    assert (done.returncode, done.stdout) == (0, "clean\n"), done.stderr
    assert found.confirmed


def test_replaced_functions_do_what_libcs_do(under, layout, program):
    argv = (program("raw_like_libc"),)
    plain(*argv)
    done, found = under(layout(), ("--verbose",), *argv)
    assert (done.returncode, done.stdout) == (0, "same\n"), done.stderr
    assert "not intercepted" not in done.stderr
    assert found.confirmed


def test_functions_of_the_program_may_call_syscall(under, layout, program):
    """Wrappers of munmap and the like: they reach the pools, and not themselves."""
    argv = (program("wrappers"),)
    plain(*argv)
    done, found = under(layout(), (), *argv)
    assert (done.returncode, done.stdout) == (0, "same\n"), done.stderr
    assert found.confirmed


@pytest.mark.hugepages
@pytest.mark.parametrize("mark", ["policy", "undumped", "unforked", "sequential"])
@pytest.mark.parametrize("protections", ["guards", "soft", "exact"])
def test_marks_of_whole_huge_pages_end_with_munmap(under, layout, huge_pages, program, mark, protections):
    huge_pages(PAGES)
    argv = (program("marks"), mark, 2 * PAGE_2MB)
    plain(*argv)
    done, found = under(layout(*WINDOWS), ("--protections", protections), *argv)
    assert (done.returncode, done.stdout) == (0, "clean\n"), done.stderr
    assert found.confirmed, found.reason
    assert found.counters["ended_marks"] >= 1 and found.counters["refused_marks"] == 0


@pytest.mark.hugepages
@pytest.mark.parametrize(
    "mark, protections, call",
    [
        ("policy", "guards", "mbind"),
        ("policy", "soft", "mbind"),
        ("wiped", "soft", "madvise"),
        ("unforked", "soft", "madvise"),
    ],
)
def test_parts_of_huge_pages_refuse_marks(under, layout, huge_pages, program, mark, protections, call):
    """The program gets EINVAL, the run counts it, and a note names the call, the place and the remedy."""
    huge_pages(PAGES)
    argv = (program("marks"), mark, BLOCK)
    done, found = under(layout(*WINDOWS), ("--protections", protections), *argv)
    assert (done.returncode, done.stdout) == (NOT_HERE, "EINVAL\n"), done.stderr
    assert found.counters["refused_marks"] == 1
    assert found.counters["split_pages"] == 0
    note = next(line for line in done.stderr.splitlines() if call in line)
    assert "64KB" in note and "mmap" in note and "EINVAL" in note
    assert "2MB" in done.stderr.split(note)[1]


@pytest.mark.hugepages
@pytest.mark.parametrize("mark", ["wiped", "unforked"])
def test_parts_of_huge_pages_split_for_advice(under, layout, huge_pages, program, mark):
    huge_pages(PAGES)
    done, found = under(layout(*WINDOWS), ("--allow-fallback",), program("marks"), mark, BLOCK)
    assert (done.returncode, done.stdout) == (0, "clean\n"), done.stderr
    assert found.verdict == "fallback"
    assert (found.counters["split_pages"], found.counters["refused_marks"]) == (1, 0)


@pytest.mark.hugepages
@pytest.mark.parametrize("protections", ["guards", "exact"])
def test_a_fault_handler_over_windows_splits_them(under, layout, huge_pages, program, protections):
    huge_pages(PAGES)
    argv = (program("fault_handler"), 3 << 20)
    plain(*argv)
    options = ("--protections", protections, "--allow-fallback")
    done, found = under(layout(*WINDOWS), options, *argv)
    assert (done.returncode, done.stdout) == (0, "clean\n"), done.stderr
    assert found.verdict == "fallback"
    assert found.counters["split_pages"] == 2 and found.counters["refused_marks"] == 0


@pytest.mark.hugepages
def test_a_fault_handler_over_windows_is_refused_under_soft(under, layout, huge_pages, program):
    huge_pages(PAGES)
    argv = (program("fault_handler"), 3 << 20)
    plain(*argv)
    done, found = under(layout(*WINDOWS), ("--protections", "soft"), *argv)
    assert (done.returncode, done.stdout) == (3, "EINVAL\n"), done.stderr
    assert found.counters["split_pages"] == 0 and found.counters["refused_marks"] == 1
    assert "UFFDIO_REGISTER" in done.stderr and "EINVAL" in done.stderr


@pytest.mark.hugepages
@pytest.mark.parametrize("free", [3 * PAGES, PAGES], ids=["shared", "copied"])
@pytest.mark.parametrize("bytes_", [PAGE_2MB, 3 << 20], ids=["2MB", "3MB"])
def test_a_child_has_holes_in_windows(under, layout, exactly, program, bytes_, free):
    """The child shares the huge pages or gets copies. Whole pages stay huge, others are split."""
    exactly(free)
    done, found = under(layout(*WINDOWS), ("--allow-fallback",), program("not_forked"), bytes_)
    assert (done.returncode, done.stdout) == (0, "clean\n"), done.stderr
    assert found.counters["split_pages"] == (0 if bytes_ == PAGE_2MB else 1)
    assert (found.counters["fork_copied_bytes"] > 0) == (free == PAGES)


@pytest.mark.hugepages
def test_a_shared_segment_over_windows_splits_them(under, layout, huge_pages, program):
    huge_pages(PAGES)
    argv = (program("shared_segment"), 1 << 20)
    done, found = under(layout(*WINDOWS), ("--allow-fallback",), *argv)
    assert (done.returncode, done.stdout) == (0, "clean\n"), done.stderr
    assert found.counters["split_pages"] == 1
