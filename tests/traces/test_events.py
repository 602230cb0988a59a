"""The program's calls to memory management, in a trace: kinds, pool offsets, and places in the stream."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.core.files import build_dir
from tessera.record import traces

pytestmark = pytest.mark.toolchain

KB4 = 4096

#: Each call that succeeds is one row of EXPECTED. `tries` fail or change nothing, and are none, except
#: the one that reaches a hole.
SOURCE = """
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char** argv) {
  const int rw = PROT_READ | PROT_WRITE, anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
  sbrk(0);
  char* a = (char*)mmap(0, 5 * 4096 + 1, rw, anonymous, -1, 0);
  a[0] = 1;
  mprotect(a + 4096, 8192, PROT_READ);
  madvise(a, 3 * 4096, MADV_RANDOM);
  munmap(a + 4 * 4096, 4096);
  int tries = munmap(a + 1, 4096) == -1 && mprotect(a + 4 * 4096, 4096, rw) == -1;
  tries = tries && mprotect(a + 2 * 4096, 3 * 4096, rw) == -1;
  tries = tries && madvise(a, 0, MADV_RANDOM) == 0;
  char* heap = (char*)sbrk(8192);
  heap[0] = 2;
  sbrk(-4096);
  char* g = (char*)mmap(0, 2 * 4096, rw, anonymous | MAP_POPULATE, -1, 0);
  char* grown = (char*)mremap(g, 2 * 4096, 10 * 4096, MREMAP_MAYMOVE);
  grown[9 * 4096] = 3;
  mlock(grown + 100, 4096);
  munlock(grown, 8192);
  int fd = open(argv[1], O_RDONLY);
  char* file = (char*)mmap(0, 8192, PROT_READ, MAP_PRIVATE, fd, 4096);
  int right = tries && file[0] == 'B';
  close(fd);
  posix_madvise(file, 4096, POSIX_MADV_WILLNEED);
  posix_madvise(file, 4096, POSIX_MADV_DONTNEED);
  mmap(a, 4096, PROT_NONE, anonymous | MAP_FIXED, -1, 0);
  munmap(file, 8192);
  return !right;
}
"""

PRIVATE, ANONYMOUS, FIXED, POPULATE = 0x02, 0x20, 0x10, 0x8000
RANDOM, WILLNEED = 1, 3
READ, WRITE = 1, 2

#: kind, pool, first page, pages, protection, flags; a remap also has its new range. The pools hand out the
#: lowest range that fits: the hole at page 4 is too small for the second mapping, which grows where it is.
EXPECTED = [
    ("map", "mmap", 0, 6, READ | WRITE, PRIVATE | ANONYMOUS),
    ("protect", "mmap", 1, 2, READ, 0),
    ("advise", "mmap", 0, 3, 0, RANDOM),
    ("unmap", "mmap", 4, 1, 0, 0),
    ("protect", "mmap", 2, 2, READ | WRITE, 0),
    ("brk", "brk", 0, 2, 0, 0),
    ("brk", "brk", 0, 1, 0, 0),
    ("map", "mmap", 6, 2, READ | WRITE, PRIVATE | ANONYMOUS | POPULATE),
    ("remap", "mmap", 6, 2, 0, 1, "mmap", 6, 10),
    ("lock", "mmap", 6, 2, 0, 0),
    ("unlock", "mmap", 6, 2, 0, 0),
    ("map", "file", 0, 2, READ, PRIVATE),
    ("advise", "file", 0, 1, 0, WILLNEED),
    ("map", "mmap", 0, 1, 0, PRIVATE | ANONYMOUS | FIXED),
    ("unmap", "file", 0, 2, 0, 0),
]


def rows_of(trace: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(traces.trace_events(trace, csv=True))))


def short(row: dict[str, str]) -> tuple:
    pages = [int(row[f"{name}_bytes"]) // KB4 for name in ("offset", "length")]
    head = (row["kind"], row["pool"], *pages, int(row["protection"]), int(row["flags"]))
    if row["kind"] != "remap":
        return head
    new = [int(row[f"new_{name}_bytes"]) // KB4 for name in ("offset", "length")]
    return (*head, row["new_pool"], *new)


@pytest.fixture
def recorded(compiled, tmp_path: Path):
    """SOURCE, recorded whole with its file; the trace."""
    data = tmp_path / "data.bin"
    data.write_bytes(b"A" * KB4 + b"B" * 9000)
    program = compiled("calls", SOURCE, "-O1")
    out = tmp_path / "calls.tst"
    return traces.record_program(
        [program, data], out, roi="whole", kernel_accesses=True, events=True, paths=[data]
    ).trace


def test_each_call_is_an_event_at_its_pool_offset(recorded: Path):
    rows = rows_of(recorded)
    later = [row for row in rows if row["at_start"] == "0"]
    assert [short(row) for row in later] == EXPECTED
    mapped = next(row for row in later if row["pool"] == "file")
    assert (mapped["file_name"], mapped["file_size_bytes"]) == ("data.bin", str(KB4 + 9000))
    assert mapped["file_offset_bytes"] == str(KB4)
    assert traces.trace_info(recorded)["events"] == len(rows)


def test_the_areas_at_the_start_are_those_of_program_libraries_and_stack(recorded: Path):
    first = [row for row in rows_of(recorded) if row["at_start"] == "1"]
    assert {(row["kind"], row["pool"], row["block"]) for row in first} == {("map", "outside", "0")}
    assert {"calls", "ld-linux-x86-64.so.2", "libc.so.6"} <= {row["file_name"] for row in first}
    grows_down = [row for row in first if int(row["flags"]) & 0x100]
    assert [row["length_bytes"] for row in grows_down] == [str(8 << 20)], "QEMU's stack"
    assert all(int(row["offset_bytes"]) < 1 << 47 for row in first)


def test_an_event_is_where_the_program_made_the_call(recorded: Path, dumped):
    """The only stores to the two pages come behind the calls that make them and before the next call."""
    lines, _ = dumped(recorded)
    pools = {pool["kind"]: pool["base"] for pool in traces.trace_info(recorded)["pools"]}
    execution, stores = -1, {}
    for line in lines:
        execution += line.startswith("run ")
        if line.startswith("  store"):
            stores.setdefault(int(line.split()[-1], 16), []).append(execution)
    blocks = [int(row["block"]) for row in rows_of(recorded) if row["at_start"] == "0"]
    assert blocks == sorted(blocks)
    for address, event in ((pools["mmap"], 0), (pools["brk"], 5), (pools["mmap"] + 15 * KB4, 8)):
        (store,) = stores[address]
        assert blocks[event] <= store < blocks[event + 1]


def test_a_region_begins_with_the_areas_that_exist(compiled, tmp_path: Path):
    """What was mapped, protected and unmapped before the region is one row an area; the rest is left out."""
    source = """
    #include <sys/mman.h>
    #include <unistd.h>
    int main() {
      char* a = (char*)mmap(0, 8 * 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      for (int i = 0; i < 2000; ++i) munmap(mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
      mprotect(a + 4096, 4096, PROT_READ);
      munmap(a + 3 * 4096, 4096);
      madvise(a + 4 * 4096, 4 * 4096, MADV_HUGEPAGE);
      sbrk(12288);
      TESSERA_ROI_BEGIN();
      a[0] = 1;
      munmap(a, 4096);
      a[2 * 4096] = 1;
      TESSERA_ROI_END();
      munmap(a, 8 * 4096);
      return 0;
    }
    """
    done = traces.record_program([compiled("areas", source)], tmp_path / "t.tst", events=True)
    rows = [row for row in rows_of(done.trace) if row["pool"] != "outside"]
    plain = PRIVATE | ANONYMOUS
    assert [(row["at_start"], *short(row)) for row in rows] == [
        ("1", "brk", "brk", 0, 3, 0, 0),
        ("1", "map", "mmap", 0, 1, READ | WRITE, plain),
        ("1", "map", "mmap", 1, 1, READ, plain),
        ("1", "map", "mmap", 2, 1, READ | WRITE, plain),
        ("1", "map", "mmap", 4, 4, READ | WRITE, plain),
        ("1", "advise", "mmap", 4, 4, 0, 14),
        ("0", "unmap", "mmap", 0, 1, 0, 0),
    ]
    assert 0 < int(rows[-1]["block"]) < traces.trace_info(done.trace)["block_executions"]


def test_another_thread_maps_what_the_recorded_one_uses(compiled, dumped, tmp_path: Path):
    source = """
    #include <pthread.h>
    #include <sys/mman.h>
    static char* volatile given;
    static void* maps(void*) {
      given = (char*)mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      return 0;
    }
    int main() {
      TESSERA_ROI_BEGIN();
      pthread_t thread;
      pthread_create(&thread, 0, maps, 0);
      pthread_join(thread, 0);
      given[123] = 1;
      TESSERA_ROI_END();
      return 0;
    }
    """
    program = compiled("threads", source, "-pthread")
    done = traces.record_program([program], tmp_path / "t.tst", events=True, threads=True)
    mapped = [row for row in rows_of(done.trace) if short(row)[:4] == ("map", "mmap", 0, 1)]
    assert [row["at_start"] for row in mapped] == ["0"]
    base = traces.trace_info(done.trace)["pools"][1]["base"]
    lines, _ = dumped(done.trace)
    at = lines.index(f"  store 0x{base + 123:x}")
    assert int(mapped[0]["block"]) < sum(line.startswith("run ") for line in lines[:at])


def test_without_the_option_there_is_no_section_and_no_code_for_it(compiled, tmp_path: Path):
    done = traces.record_program(
        [compiled("plain", "int main() { return 0; }")], tmp_path / "t.tst", roi="whole"
    )
    assert "events" not in traces.trace_info(done.trace)
    with pytest.raises(TesseraError, match="without") as caught:
        traces.trace_events(done.trace)
    assert "--events --roi whole" in caught.value.remedy
    number = (0x0E7E9700).to_bytes(4, "little")  # MOSALLOC_EVENT_CALL
    codes = [(build_dir("mosalloc") / f"libmosalloc{end}.so").read_bytes() for end in ("", "-events")]
    assert [number in code for code in codes] == [False, True]


def test_recordings_with_events_repeat(compiled, tmp_path: Path):
    program = compiled("again", "int main() { free(malloc(1 << 20)); return 0; }")
    options = {"roi": "whole", "kernel_accesses": True, "events": True, "fixed_names": True}
    first, second = (
        traces.record_program([program], tmp_path / f"{name}.tst", **options).trace.read_bytes()
        for name in "ab"
    )
    assert first == second
