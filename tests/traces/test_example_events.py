"""The committed example of a trace with events: the calls of phases.c, and each access in an area."""

from __future__ import annotations

from pathlib import Path

import pytest

from tessera.record import traces
from tests.traces.examples.remake import FILE_BYTES, TRACE, record
from tests.traces.test_events import KB4, rows_of, short

pytestmark = pytest.mark.toolchain

MB = 1 << 20
READ, WRITE, PLAIN = 1, 2, 0x22
SEQUENTIAL, DONTNEED, HUGEPAGE, NOHUGEPAGE = 2, 4, 14, 15
MB_PAGES = MB // KB4


def in_pools(trace: Path) -> list[tuple]:
    return [short(row) for row in rows_of(trace) if row["pool"] != "outside"]


def expected() -> list[tuple]:
    """phases.c by hand, without the heap: the array is page 0 to 4095, the grown array begins behind it."""
    array, grown = 16 * MB_PAGES, 4096
    rows = [
        ("map", "mmap", 0, array, READ | WRITE, PLAIN),
        ("advise", "mmap", 0, array // 2, 0, HUGEPAGE),
        ("advise", "mmap", array // 2, array // 2, 0, NOHUGEPAGE),
        ("protect", "mmap", array // 4 * 3, array // 4, READ, 0),
        ("map", "mmap", grown, 1, READ | WRITE, PLAIN),
    ]
    rows += [("remap", "mmap", grown, 1 << n, 0, 1, "mmap", grown, 2 << n) for n in range(9)]
    behind = grown + 512
    rows += [
        ("map", "mmap", behind, 1, READ, PLAIN),
        ("remap", "mmap", grown, 512, 0, 1, "mmap", behind + 1, 1024),
        ("map", "file", 0, FILE_BYTES // KB4, READ, 2),
        ("advise", "file", 0, FILE_BYTES // KB4, 0, SEQUENTIAL),
        ("advise", "mmap", behind + 1, 512, 0, DONTNEED),
        ("unmap", "mmap", array // 4, array // 4, 0, 0),
        ("unmap", "mmap", behind + 1, 1024, 0, 0),
        ("unmap", "file", 0, FILE_BYTES // KB4, 0, 0),
        ("unmap", "mmap", 0, array, 0, 0),
    ]
    return rows


def test_the_example_has_the_calls_of_its_source(components):
    rows = in_pools(TRACE)
    assert [row for row in rows if row[0] != "brk"] == expected()
    breaks = [row[3] for row in rows if row[0] == "brk"]
    assert breaks == [33 * n for n in range(1, 11)], "glibc grows the heap by 132 KB at a time"


def test_each_access_to_the_pools_is_allowed_when_it_happens(dumped):
    """Events apply before the execution with their number; accesses need a page with the right."""
    pools = {pool["kind"]: pool["base"] for pool in traces.trace_info(TRACE)["pools"]}
    end = max(pools.values()) + (1 << 30)
    rows = [row for row in rows_of(TRACE) if row["pool"] in pools]
    rights: dict[int, int] = {}  # page number of the address space -> protection
    lines, _ = dumped(TRACE)
    execution, next_row, seen = -1, 0, 0

    def apply(row: dict[str, str]) -> None:
        first = (pools[row["pool"]] + int(row["offset_bytes"])) // KB4
        count = -(-int(row["length_bytes"]) // KB4)
        pages = range(first, first + count)
        if row["kind"] in ("map", "protect"):
            rights.update(dict.fromkeys(pages, int(row["protection"])))
        elif row["kind"] == "brk":
            rights.update(dict.fromkeys(pages, READ | WRITE))
        elif row["kind"] == "unmap":
            for page in pages:
                rights.pop(page, None)
        elif row["kind"] == "remap":
            right = [rights.pop(page) for page in pages][-1]
            new = (pools[row["new_pool"]] + int(row["new_offset_bytes"])) // KB4
            rights.update(dict.fromkeys(range(new, new + int(row["new_length_bytes"]) // KB4), right))

    for line in lines:
        if line.startswith("run "):
            execution += 1
            while next_row < len(rows) and int(rows[next_row]["block"]) <= execution:
                apply(rows[next_row])
                next_row += 1
        elif line.startswith(("  load 0x", "  store 0x")):
            kind, address = line.split()
            at = int(address, 16)
            if min(pools.values()) <= at < end:
                seen += 1
                needed = WRITE if kind == "store" else READ
                assert rights.get(at // KB4, 0) & needed, f"execution {execution}: {line}"
    assert seen > 20_000 and next_row == len(rows)


def test_recorded_again_it_has_the_same_calls(components, tmp_path: Path):
    done = record(tmp_path, tmp_path / "again.tst")
    assert '"verified":true' in done.stdout
    assert in_pools(done.trace) == in_pools(TRACE)
