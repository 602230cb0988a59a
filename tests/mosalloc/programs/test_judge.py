"""When the pages of a run are good: confirmed, or split where the row says so, and nothing else."""

from __future__ import annotations

import dataclasses

import pytest

from tessera.lab.allocator_proof.programs.driver import ProvedProgram
from tessera.lab.allocator_proof.programs.worker import answer_fault, page_fault, report_numbers

PLAIN = ProvedProgram("p", "", lambda box: "", ())
SPLITS = dataclasses.replace(PLAIN, splits=True)
MAPS = dataclasses.replace(PLAIN, maps_huge_pages=True)


def report(verdict: str, **counters: int) -> dict:
    return {"verdict": verdict, "reason": "", "counters": {"fallback_windows": 0} | counters}


SMALL = {"anon_huge_bytes": 0, "wrong_page_bytes": 0, "outside_huge_bytes": 0}


def maps(**counters: int) -> dict:
    return report("fallback", **counters) | {"small_pages": SMALL, "windows": [{"confirmed": True}]}


@pytest.mark.parametrize(
    ("program", "found", "good"),
    [
        (PLAIN, report("confirmed"), True),
        (SPLITS, report("confirmed"), True),
        (SPLITS, report("fallback", split_pages=1), True),
        (PLAIN, report("fallback", split_pages=1), False),  # its row promises that it splits nothing
        (SPLITS, report("fallback", split_pages=0), False),  # then something else took the pages
        (SPLITS, report("fallback"), False),
        (SPLITS, report("fallback", split_pages=1, fallback_windows=1), False),  # pages were missing
        (SPLITS, report("mismatch", split_pages=1), False),
        (SPLITS, report("unchecked"), False),
        (MAPS, report("confirmed"), True),  # the machine had no free huge page
        (MAPS, maps(own_huge_bytes=1), True),
        (MAPS, maps() | {"children": {"own_huge_bytes": 1}}, True),
        (MAPS, maps() | {"children": None}, False),  # then something else took the pages
        (PLAIN, maps(own_huge_bytes=1), False),  # its row promises that it maps none
        (SPLITS, maps(own_huge_bytes=1), False),
        (MAPS, maps(own_huge_bytes=1) | {"verdict": "mismatch"}, False),
        (MAPS, maps(own_huge_bytes=1, split_pages=1), False),
        (MAPS, maps(own_huge_bytes=1, fallback_windows=1), False),
        (MAPS, maps(own_huge_bytes=1) | {"windows": [{"confirmed": False}]}, False),
        (MAPS, maps(own_huge_bytes=1) | {"small_pages": SMALL | {"wrong_page_bytes": 4096}}, False),
    ],
)
def test_verdicts(program, found, good):
    assert (page_fault(program, [found], 1) == "") == good


def test_one_bad_process_is_not_made_good_by_the_next():
    assert page_fault(PLAIN, [report("mismatch"), report("confirmed")], 2) != ""


def test_a_missing_report_is_a_fault():
    assert page_fault(PLAIN, [report("confirmed")], 2) == "2 runs wrote 1 reports"


def test_the_first_different_line_is_named():
    assert "'b', plain 'c'" in answer_fault("a\nb\n", "a\nc\n")
    assert "'', plain 'c'" in answer_fault("a\n", "a\nc\n")
    assert answer_fault("a\n", "a\n") == ""


def test_numbers_add_up_over_processes_and_stay_unknown_where_not_reported():
    def process(heap: int, anon: int, **more) -> dict:
        pools = [{"type": "brk", "used_bytes": heap}, {"type": "mmap", "used_bytes": anon}]
        return report("confirmed", split_pages=2) | {"pools": pools} | more

    calls = {"mmap": {"pool": 3, "kernel": 1, "failed": 9}, "brk": {"pool": 4}}
    outside = {"kernel_heap_bytes": 10, "stack_bytes": 20, "anonymous_bytes": 30, "unseen_bytes": 40}
    found = report_numbers(
        [process(5, 1, calls=calls, outside=outside | {"second_libc": False}), process(2, 8)]
    )
    assert found == {
        "heap_used_bytes": 5,
        "anon_used_bytes": 8,
        "split_pages": 4,
        "outside_bytes": 100,
        "pool_calls": 7,
        "kernel_calls": 1,
    }
    assert report_numbers([]) == {}
