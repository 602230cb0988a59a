"""Regions that begin at an event of the program: it closes its input, or first writes its output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.record import traces

#: Stores an array while it reads its input, then loads it, and loads it backwards behind its first output.
PHASES = """
#include <fcntl.h>
#include <unistd.h>
static uint64_t a[4096];
int main(int argc, char** argv) {
  char byte;
  int in = open(argv[1], O_RDONLY), out = open(argv[2], O_WRONLY | O_CREAT, 0600);
  read(in, &byte, 1);
  for (int i = 0; i < 4096; i++) *(volatile uint64_t*)&a[i] = i;
  close(in);
  for (int i = 0; i < 4096; i++) *(volatile uint64_t*)&a[i];
  write(out, &byte, 1);
  for (int i = 4095; i >= 0; i--) *(volatile uint64_t*)&a[i];
  write(out, &byte, 1);
  printf("{\\"base\\":%lu,\\"verified\\":true}\\n", (unsigned long)a);
  return 0;
}
"""
FORWARDS = [("load", i) for i in range(4096)]


def in_array(tmp_path: Path, compiled, dumped, roi: str) -> list[tuple[str, int]]:
    """Accesses to the array, by element."""
    (tmp_path / "input.txt").write_text("x")
    words = [compiled("phases", PHASES), tmp_path / "input.txt", tmp_path / "output.txt"]
    done = traces.record_program(words, tmp_path / "t.tst", roi=roi, writes=[tmp_path])
    base = json.loads(done.stdout)["base"]
    _, accesses = dumped(done.trace)
    return [(kind, (address - base) // 8) for kind, address in accesses if 0 <= address - base < 8 * 4096]


@pytest.mark.toolchain
@pytest.mark.parametrize(
    ("roi", "expected"),
    [("closed:input.txt", FORWARDS + FORWARDS[::-1]), ("written:output.txt", FORWARDS[::-1])],
)
def test_the_region_begins_behind_the_event(compiled, dumped, tmp_path: Path, roi: str, expected: list):
    assert in_array(tmp_path, compiled, dumped, roi) == expected


@pytest.mark.toolchain
@pytest.mark.parametrize(
    ("roi", "name"), [("closed:inputs.txt", "inputs.txt"), ("written:input.txt", "input.txt")]
)
def test_an_event_that_never_happens_is_an_error_with_the_name(
    compiled, dumped, tmp_path: Path, roi: str, name: str
):
    with pytest.raises(TesseraError, match="never began") as caught:
        in_array(tmp_path, compiled, dumped, roi)
    assert caught.value.remedy.endswith(name)
