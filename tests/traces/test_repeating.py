"""Two recordings of one program, from folders with paths of different lengths, have the same bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tessera.machine.container import toolchain
from tessera.machine.container.toolchain import HostToolchain
from tessera.machine.program_paths import FixedNames
from tessera.record import traces

SHORT, LONG = "a", "a-folder-with-a-much-longer-name/and-another-one"

#: Its accesses depend on the lengths of its argument and of its environment: the stack, and copies of both.
KERNEL = """
#include <string.h>
int main(int argc, char** argv) {
  volatile char on_stack[256];
  char* copy = strdup(argv[argc - 1]);
  TESSERA_ROI_BEGIN();
  for (int i = 0; i < 256; i++) on_stack[i] = copy[i % (strlen(copy) + 1)];
  TESSERA_ROI_END();
  printf("{\\"verified\\":true}\\n");
  return 0;
}
"""


def test_whole_paths_get_the_innermost_name():
    names = FixedNames.of(Path("/c"), Path("/c/results/s"), Path("/run"), [Path("/run"), Path("/data")])
    words = [
        "/c/build/gups",
        "--graph=/data/x.bin",
        "/c/results/s/layout",
        "/run",
        "/running",
        "/x/run",
        "/cc",
    ]
    assert names.words(words) == [
        "/.tessera/checkout/build/gups",
        "--graph=/.tessera/input-1/x.bin",
        "/.tessera/recording/layout",
        "/.tessera/folder",
        "/running",
        "/x/run",
        "/cc",
    ]


def test_without_names_nothing_changes():
    assert FixedNames({}).text("/c/build/gups") == "/c/build/gups"


def hashes(tmp_path: Path, record) -> tuple[str, str]:
    """SHA-256 of the files that ``record(folder)`` writes in two folders."""
    if isinstance(toolchain(), HostToolchain):
        pytest.skip("without containers the program sees the real paths")
    found = []
    for name in (SHORT, LONG):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        (folder / "input.txt").write_text("".join(f"{i * 7919 % 1000}\n" for i in range(1000)))
        found.append(hashlib.sha256(record(folder).trace.read_bytes()).hexdigest())
    return tuple(found)


@pytest.mark.toolchain
def test_a_kernel_repeats(compiled, tmp_path: Path, monkeypatch):
    program = compiled("repeats", KERNEL)

    def record(folder: Path, fixed: bool = True) -> traces.Recorded:
        monkeypatch.setenv("A_VARIABLE_OF_THE_USER", str(folder))
        return traces.record_program(
            [program, folder / "input.txt"], folder / "t.tst", paths=[folder], fixed_names=fixed
        )

    first, second = hashes(tmp_path / "fixed", record)
    assert first == second
    first, second = hashes(tmp_path / "free", lambda folder: record(folder, fixed=False))
    assert first != second  # so the test can fail


#: Grows its heap all the time, so that how far it is used tells when the recording saw its limit.
GROWING = """
#include <unistd.h>
int main(int argc, char** argv) {
  TESSERA_ROI_BEGIN();
  for (int page = 0; page < 4096; page++) {
    volatile char* at = (char*)sbrk(4096);
    for (int i = 0; i < 4096; i++) at[i] = 1;
  }
  TESSERA_ROI_END();
  printf("{\\"verified\\":true}\\n");
  return 0;
}
"""


@pytest.mark.toolchain
def test_used_bytes_are_those_at_the_limit(compiled, tmp_path: Path):
    program = compiled("growing", GROWING)

    def used(number: int, max_accesses: int | None) -> int:
        found = traces.record_program(
            [program], tmp_path / f"{number}.tst", heap_pool=64 << 20, max_accesses=max_accesses
        )
        return next(
            pool["used_bytes"] for pool in traces.trace_info(found.trace)["pools"] if pool["kind"] == "brk"
        )

    limited = [used(number, 1_000_000) for number in range(3)]
    # The limit lies in the second or third buffer of 2^19 events, each access one; the whole heap has 16 MB.
    assert len(set(limited)) == 1
    assert 1_000_000 <= limited[0] <= 3 << 19
    assert used(3, None) >= 16 << 20


@pytest.mark.toolchain
def test_a_program_of_debian_repeats(components, tmp_path: Path):
    def record(folder: Path) -> traces.Recorded:
        # sort sizes its buffer by the machine's free memory unless it is told a size.
        argv = ["sort", "-n", "--parallel=1", "-S", "1M", folder / "input.txt", "-o", folder / "output.txt"]
        return traces.record_program(
            argv, folder / "t.tst", paths=[folder], folder=folder, where=toolchain(), fixed_names=True
        )

    first, second = hashes(tmp_path, record)
    assert first == second
