"""A recorded program that something else ends, as the load of a server does."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.record import traces

pytestmark = pytest.mark.toolchain

#: Works until SIGTERM, then ends in an orderly way.
WAITER = """
#include <signal.h>
#include <unistd.h>
static volatile sig_atomic_t stop = 0;
static void on_term(int n) { (void)n; stop = 1; }
int main(int argc, char** argv) {
  (void)argc; (void)argv;
  signal(SIGTERM, on_term);
  volatile char* a = (volatile char*)malloc(1 << 20);
  printf("up\\n"); fflush(stdout);
  while (!stop) { a[0]++; usleep(1000); }
  return 0;
}
"""


def ends_it(program) -> None:
    time.sleep(1.5)
    program.terminate()


def test_what_a_companion_ends_is_recorded(compiled, tmp_path: Path):
    done = traces.record_program([compiled("waiter", WAITER)], tmp_path / "t.tst", companion=ends_it)
    assert (done.returncode, done.stdout) == (0, "up\n")
    assert traces.trace_info(done.trace)["accesses"] > 100


def test_a_companions_failure_ends_the_program_and_leaves_no_trace(compiled, tmp_path: Path):
    def fails(program) -> None:
        raise TesseraError("load", "broken", "mend it")

    start = time.monotonic()
    with pytest.raises(TesseraError, match="load: broken"):
        traces.record_program([compiled("waiter", WAITER)], tmp_path / "t.tst", companion=fails)
    assert time.monotonic() - start < 20
    assert not (tmp_path / "t.tst").exists()
