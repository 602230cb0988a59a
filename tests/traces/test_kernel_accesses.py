"""What system calls do to the program's memory, line by line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tessera.record import traces

pytestmark = pytest.mark.toolchain

#: 1000 bytes from offset 10 of a buffer aligned to 64: lines 0 to 15; 130 bytes written from line 20: three.
SOURCE = """
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>
static char buffer[8192] __attribute__((aligned(64)));
int main() {
  int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
  struct iovec parts[2] = {{buffer + 4096, 64}, {buffer + 4480, 1}};
  TESSERA_ROI_BEGIN();
  long got = read(zero, buffer + 10, 1000), put = write(null, buffer + 1280, 130);
  long both = readv(zero, parts, 2);
  TESSERA_ROI_END();
  printf("{\\"verified\\":true,\\"base\\":%llu,\\"bytes\\":%ld}\\n",
         (unsigned long long)(uintptr_t)buffer, got + put + both);
  return 0;
}
"""


def in_buffer(done: traces.Recorded, accesses: list[tuple[str, int]]) -> list[tuple[str, int]]:
    said = json.loads(done.stdout)
    assert said["bytes"] == 1000 + 130 + 65
    return [
        (kind, address - said["base"]) for kind, address in accesses if 0 <= address - said["base"] < 8192
    ]


def test_each_line_of_a_buffer_is_an_access(compiled, dumped, tmp_path: Path):
    done = traces.record_program([compiled("calls", SOURCE)], tmp_path / "t.tst", kernel_accesses=True)
    lines, accesses = dumped(done.trace)
    expected = [("store", 64 * i) for i in range(16)] + [("load", 1280 + 64 * i) for i in range(3)]
    assert in_buffer(done, accesses) == [*expected, ("store", 4096), ("store", 4480)]
    found = traces.trace_info(done.trace)
    assert (found["kernel_modelled"], found["kernel_accesses"]) == (True, 16 + 3 + 2)
    # Their blocks lie in the last page below 2^47; read is call 0, write 1, readv 19, stores are odd.
    blocks = {line.split()[-1] for line in lines if line.startswith("block ") and "0x7ffffffff" in line}
    assert blocks == {"0x7ffffffff001", "0x7ffffffff002", "0x7ffffffff027"}


def test_they_are_left_out_unless_asked_for(compiled, dumped, tmp_path: Path):
    done = traces.record_program([compiled("calls", SOURCE)], tmp_path / "t.tst")
    _, accesses = dumped(done.trace)
    assert in_buffer(done, accesses) == []
    found = traces.trace_info(done.trace)
    assert (found["kernel_modelled"], found["kernel_accesses"]) == (False, 0)
