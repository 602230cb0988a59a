"""Random calls: events give each page of the pools the rights that the kernel lists when the program ends.

The program prints its own /proc/self/maps. A hole of a pool is reserved memory without access there, so holes
and mapped memory without access look alike: rights are compared, for every page of the pools.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tessera.record import traces
from tessera.record.traces.options import Options
from tessera.record.traces.trace_tool import describe
from tests.traces.test_events import KB4, rows_of

pytestmark = pytest.mark.toolchain

SOURCE = """
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
static unsigned long state;
static unsigned long draw(unsigned long below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % below;
}
int main(int argc, char** argv) {
  enum { SLOTS = 24, PAGE = 4096 };
  static char* at[SLOTS];
  static long pages[SLOTS];
  const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
  state = atol(argv[1]);
  for (int i = 0; i < CALLS; ++i) {
    int slot = draw(SLOTS);
    char*& p = at[slot];
    long& n = pages[slot];
    if (!p) {
      long wanted = 1 + draw(12);
      p = (char*)mmap(0, wanted * PAGE, draw(4), draw(5) ? anonymous : MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      if (p == MAP_FAILED) return 1;
      n = wanted;
      continue;
    }
    long first = draw(n), count = 1 + draw(n - first), bytes = count * PAGE;
    switch (draw(8)) {
      case 0: munmap(p, n * PAGE); p = 0; break;
      case 1: munmap(p + first * PAGE, bytes); break;
      case 2: mprotect(p + first * PAGE, bytes, draw(4)); break;
      case 3: madvise(p + first * PAGE, bytes, draw(2) ? MADV_DONTNEED : MADV_HUGEPAGE); break;
      case 4: mmap(p + first * PAGE, bytes, draw(4), anonymous | MAP_FIXED, -1, 0); break;
      case 5: {
        long wanted = 1 + draw(20);
        char* moved = (char*)mremap(p, n * PAGE, wanted * PAGE, MREMAP_MAYMOVE);
        if (moved != MAP_FAILED) p = moved, n = wanted;
        break;
      }
      case 6: sbrk(((long)draw(9) - 3) * 2048); break;
      default: mprotect(p, n * PAGE, draw(4)); break;
    }
  }
  FILE* maps = fopen("/proc/self/maps", "r");
  static char line[512];
  while (fgets(line, sizeof line, maps)) fputs(line, stdout);
  return 0;
}
"""


def by_events(trace: Path) -> dict[int, int]:
    """Rights of each page of the pools after all events, by address; pages without a right are left out."""
    rows = rows_of(trace)
    pools = {pool["kind"]: pool["base"] for pool in traces.trace_info(trace)["pools"]}
    pools["file"] = pools["mmap"] + (pools["mmap"] - pools["brk"])  # the three lie behind each other
    rights: dict[int, int] = {}
    heap = 0
    for row in rows:
        if row["pool"] == "outside":
            continue
        first = (pools[row["pool"]] + int(row["offset_bytes"])) // KB4
        pages = range(first, first - int(row["length_bytes"]) // -KB4)
        if row["kind"] == "map":
            rights.update(dict.fromkeys(pages, int(row["protection"])))
        elif row["kind"] == "protect":
            assert all(page in rights for page in pages), "only mapped memory can be protected"
            rights.update(dict.fromkeys(pages, int(row["protection"])))
        elif row["kind"] == "unmap":
            for page in pages:
                rights.pop(page, None)
        elif row["kind"] == "brk":
            for page in range(first + len(pages), first + heap):
                del rights[page]
            rights.update(dict.fromkeys(range(first + heap, first + len(pages)), 3))
            heap = len(pages)
        elif row["kind"] == "remap":
            moved = [rights.pop(page) for page in pages]
            new = (pools[row["new_pool"]] + int(row["new_offset_bytes"])) // KB4
            count = int(row["new_length_bytes"]) // KB4
            moved += [moved[-1]] * (count - len(moved))
            rights.update(zip(range(new, new + count), moved, strict=False))
    return {page * KB4: right for page, right in rights.items() if right & 3}


def by_kernel(said: str, begin: int, end: int) -> dict[int, int]:
    rights = {}
    for low, high, read, write in re.findall(r"^([0-9a-f]+)-([0-9a-f]+) (.)(.)", said, re.MULTILINE):
        right = (read == "r") + 2 * (write == "w")
        for address in range(max(int(low, 16), begin), min(int(high, 16), end), KB4) if right else ():
            rights[address] = right
    return rights


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_events_and_kernel_agree_on_the_rights_of_each_page(compiled, tmp_path: Path, seed: int):
    program = compiled("random", SOURCE, "-O1", "-DCALLS=3000")
    options = {"events": True, "roi": "whole", "kernel_accesses": True}
    done = traces.record_program(
        [program, str(seed)], tmp_path / "t.tst", heap_pool="1GB", anon_pool="1GB", **options
    )
    base = traces.trace_info(done.trace)["pools"][0]["base"]
    found, expected = by_events(done.trace), by_kernel(done.stdout, base, base + (3 << 30))
    assert len(expected) > 100
    assert found == expected


def test_the_stream_is_the_same_whether_the_plugin_listens(compiled, tmp_path: Path, monkeypatch):
    """The library tells in both recordings; the frames have the same bytes, and only one has the section."""
    program = compiled("random", SOURCE, "-O1", "-DCALLS=3000")
    settings = Options.settings
    frames, listed = [], []
    for number in (0, 1):
        monkeypatch.setattr(Options, "settings", lambda self, n=number: settings(self) | {"events": n})
        out = tmp_path / "t.tst"
        traces.record_program(
            [program, "4"], out, roi="whole", events=True, fixed_names=True, kernel_accesses=True
        )
        found = traces.trace_info(out)
        data = out.read_bytes()
        tail = int.from_bytes(data[8:16], "little")
        frames.append(data[112:tail])
        listed.append(found.get("events", 0))
    assert frames[0] == frames[1]
    assert listed[0] == 0 and listed[1] > 2000


def test_at_the_limit_events_end_with_the_stream(compiled, tmp_path: Path):
    program = compiled("random", SOURCE, "-O1", "-DCALLS=3000")
    options = {"roi": "whole", "events": True, "kernel_accesses": True, "fixed_names": True}
    rows, executions = [], []
    for name, limit in (("whole", None), ("cut", 200_000)):
        out = tmp_path / f"{name}.tst"
        traces.record_program([program, "4"], out, max_accesses=limit, **options)
        rows.append([list(row.values()) for row in rows_of(out)])
        executions.append(traces.trace_info(out)["block_executions"])
    assert executions[1] < executions[0]
    assert rows[1] == [row for row in rows[0] if int(row[0]) < executions[1]]


def test_info_counts_the_kinds(compiled, tmp_path: Path):
    program = compiled("one", "#include <sys/mman.h>\nint main() { return mlock(stdout, 1); }")
    done = traces.record_program([program], tmp_path / "t.tst", roi="whole", events=True)
    (line,) = [line for line in describe(done.trace).splitlines() if line.startswith("events")]
    assert re.search(r" for the areas at the start, 1 lock$", line), line
