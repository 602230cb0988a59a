"""A full pool: NULL or ENOMEM for the program, and a message with the row that would do."""

from __future__ import annotations

import re

import pytest

from tessera.measure.mosalloc import read_report

pytestmark = pytest.mark.toolchain

HEADER = "type,pageSize,startOffset,endOffset\n"
SIZES = {"brk": "16MB", "mmap": "16MB"}
NAMES = {"brk": "heap", "mmap": "anonymous"}


def pools(sizes: dict[str, str]) -> str:
    return HEADER + "".join(f"{pool},-1,0,{size}\n" for pool, size in sizes.items())


@pytest.mark.parametrize(
    ("pool", "before", "call"),
    [
        ("mmap", 5 << 20, "map 67108864"),
        ("mmap", 5 << 20, "malloc 67108864"),
        ("brk", 0, "sbrk 67108864"),
    ],
)
def test_the_message_names_pool_mark_and_a_row_that_does(remote, layout, tmp_path, pool, before, call):
    def run(sizes: dict[str, str], name: str) -> tuple[str, str]:
        report = tmp_path / f"{name}.json"
        running = remote("--layout", layout(pools=pools(sizes), name=name), "--report", report)
        if before:
            running.slot(f"map {before}")
        answer = running(call)
        assert running("map 4096").startswith("ok")  # it lives
        assert running.end() == 0, running.stderr
        assert read_report(report).confirmed
        return answer, running.stderr

    answer, said = run(SIZES, "small.csv")
    assert answer == "errno 12"
    mark = "6MB" if before else "0MB"  # rounded up: 5MB and the page of the call that shows life
    found = re.search(
        rf"{NAMES[pool]} pool .*ENOMEM.*? (\d+)MB.*? (\d+MB) of 16MB\n.* {pool},-1,0,(\d+MB)",
        said,
    )
    assert found, said
    assert found[2] == mark and 64 <= int(found[1]) <= 66
    answer, said = run(SIZES | {pool: found[3]}, "enough.csv")
    assert answer.startswith("ok") and said == ""
    smaller = f"{int(found[3].removesuffix('MB')) - 6}MB"  # and not because any row would
    assert run(SIZES | {pool: smaller}, "smaller.csv")[0] == "errno 12"


def test_malloc_goes_on_until_both_pools_are_full(launch, layout, build):
    done = launch("--layout", layout(pools=pools(SIZES)), "--", build / "exhaust", 16 << 20)
    assert done.returncode == 0, done.stderr
    for pool, row in (("heap", "brk"), ("anonymous", "mmap")):
        assert re.search(rf"note: .*\b{pool} pool\b.*ENOMEM.*\n.*: {row},-1,0,\d+MB\n", done.stderr)


def test_nothing_is_said_when_nothing_was_refused(launch, layout, build):
    done = launch("--layout", layout(), "--", build / "cases", "malloc_sizes")
    assert (done.returncode, done.stderr) == (0, "")
