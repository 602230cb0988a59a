"""Programs with threads: the number of the recorded one by creation, its share, and who says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.record import traces

ROW_BYTES = 8 * 4096
#: Threads 1 and 2 end before the next one starts, so QEMU gives the index of 1 to 2 and 3. Threads 3 and 4
#: run together. Thread n reads row n of the array, n times. The main thread reads row 0 before the region,
#: row 5 in it, row 6 behind it.
IN_TURN = """
#include <pthread.h>
static volatile uint64_t a[7][4096];
static pthread_barrier_t both;
static void walk(long row, long times) {
  for (long t = 0; t < times; t++) for (int i = 0; i < 4096; i++) (void)a[row][i];
}
static void* work(void* which) {
  const long n = (long)which;
  if (n == 3 || n == 4) pthread_barrier_wait(&both);
  walk(n, n);
  return 0;
}
static pthread_t start(long n) { pthread_t t; pthread_create(&t, 0, work, (void*)n); return t; }
int main() {
  pthread_barrier_init(&both, 0, 2);
  walk(0, 1);
  TESSERA_ROI_BEGIN();
  for (long n = 1; n <= 2; n++) pthread_join(start(n), 0);
  pthread_t three = start(3), four = start(4);
  pthread_join(three, 0); pthread_join(four, 0);
  walk(5, 5);
  TESSERA_ROI_END();
  walk(6, 6);
  pthread_join(start(6), 0);
  printf("{\\"verified\\":true,\\"base\\":%llu}\\n", (unsigned long long)(uintptr_t)a);
  return 0;
}
"""


def rows_read(done, dumped) -> dict[int, int]:
    """Row of the array -> how often each of its elements was read."""
    base = json.loads(done.stdout)["base"]
    counts: dict[int, int] = {}
    for kind, address in dumped(done.trace)[1]:
        if kind == "load" and 0 <= address - base < 7 * ROW_BYTES:
            row = (address - base) // ROW_BYTES
            counts[row] = counts.get(row, 0) + 1
    return {row: count / 4096 for row, count in counts.items()}


@pytest.mark.toolchain
def test_threads_are_numbered_by_creation_also_when_earlier_ones_have_ended(
    compiled, dumped, tmp_path: Path, capsys
):
    program, shares = compiled("in-turn", IN_TURN, "-pthread"), []
    for number in range(5):
        done = traces.record_program([program], tmp_path / f"{number}.tst", threads=True, thread=str(number))
        found = traces.trace_info(done.trace)
        assert rows_read(done, dumped) == {number or 5: number or 5}
        assert (found["threads"], found["thread"]["number"]) == (5, number)
        shares.append(found["thread"]["blocks"] / found["thread"]["all_blocks"])
        said = capsys.readouterr().err
        assert f"one of 5 threads (thread {number}" in said
    # Together they have all blocks of the region; a thread's share follows from the elements that it reads.
    assert sum(shares) == pytest.approx(1, abs=0.05)
    assert shares == pytest.approx([n / 15 for n in (5, 1, 2, 3, 4)], abs=0.05)


@pytest.mark.toolchain
def test_a_thread_that_was_never_created_is_an_error_with_those_there_were(compiled, tmp_path: Path):
    with pytest.raises(TesseraError, match="threads 0 to 5") as caught:
        traces.record_program(
            [compiled("in-turn", IN_TURN, "-pthread")], tmp_path / "t.tst", threads=True, thread="6"
        )
    assert "--thread" in caught.value.remedy
